/*
 * tables.c -- tables: waiting tasks, the wake ledger, all steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "reports/base/table.h"
#include "reports/page/model.h"
#include "sim/base/heap.h"

#define WAITS_MAX 400u
#define CHUNK 250u    /* Steps that are opened together. */
#define OTHERS_MAX 4u /* Runnable tasks that a row names. */

/* ---- Cells. ---------------------------------------------------------------------------------- */

void
report_put_place(struct report_html *html, const struct report_place *place)
{
    if (place == NULL) {
        report_html_raw(html, "<td></td>");
    } else {
        report_html_raw(html, "<td>");
        report_html_line(html, place->file, place->line, false);
        report_html_put(html, " %s</td>", place->function);
    }
}

static void
put_step_cell(struct report_html *html, const struct report_model *model, uint64_t step)
{
    report_html_raw(html, "<td class=\"number\">");
    report_put_step(html, model, step);
    report_html_raw(html, "</td>");
}

static void
put_wanted(struct report_html *html, const struct report_run *run, const struct sim_wait *wait)
{
    struct sim_page words;
    sim_page_init(&words, false);
    if (wait->kind == SIM_WAIT_CLONE) {
        sim_page_put(&words, "a wake by the holder of a clone of its waker");
    } else {
        sim_actor_table_put_wanted(
                &run->actor_table, &words, wait->object, wait->reason, wait->part);
    }
    report_html_put(html, "<td>%s</td>", sim_page_text(&words));
    sim_page_fini(&words);
}

static const char *
name_of(const struct report_run *run, uint32_t actor)
{
    return actor < run->actors_count ? run->actors[actor].name : "no actor";
}

/* ---- Waiting tasks. -------------------------------------------------------------------------- */

static bool
is_lost(const struct report_run *run, uint32_t actor)
{
    bool lost = run->outcome.verdict == SIM_VERDICT_LOST_WAKEUP ||
                run->outcome.verdict == SIM_VERDICT_LATE_WAKEUP;
    return lost && sim_actor_table_actor(&run->actor_table, run->outcome.actor) == actor;
}

static void
put_could(struct report_html *html, const struct report_model *model, uint32_t actor)
{
    const struct report_run *run = report_model_shown(model);
    const struct report_wake *woken = report_run_unanswered(run, actor);
    report_html_raw(html, "<td>");
    if (is_lost(run, actor)) {
        report_html_raw(html, "could make progress");
        if (run->outcome.missing_wake_step != 0) {
            report_html_raw(html, " since step ");
            report_put_step(html, model, run->outcome.missing_wake_step);
        }
        report_html_raw(html, woken != NULL ? ", " : ", and was not woken");
    }
    if (woken != NULL) {
        report_html_raw(html, "was woken in step ");
        report_put_step(html, model, woken->step);
        report_html_raw(html, ", and not polled since");
    }
    report_html_raw(html, "</td>");
}

/* Where a loop is blocked in the host, which stores no waker; SIM_EVENT_NONE: it is not. */
static uint64_t
blocked_in(const struct report_run *run, uint32_t actor)
{
    bool loop = run->actor_table.parts[actor].kind == SIM_ACTOR_LOOP;
    return loop ? sim_actor_table_blocked(&run->actor_table, actor, run->actor_table.end)
                : SIM_EVENT_NONE;
}

/* `wait` NULL: no slot holds its waker. */
static void
put_wait_row(struct report_html *html, const struct report_model *model, uint32_t actor,
        const struct sim_wait *wait)
{
    const struct report_run *run = report_model_shown(model);
    uint64_t block = blocked_in(run, actor);
    report_html_raw(html, is_lost(run, actor) ? "<tr class=\"lost\">" : "<tr>");
    report_html_put(html, "<td>%s</td>", run->actors[actor].name);
    if (wait != NULL) {
        put_wanted(html, run, wait);
        put_step_cell(html, model, wait->store_step);
        report_put_place(html, report_run_wait_place(run, wait));
    } else if (block != SIM_EVENT_NONE) {
        report_html_raw(html, "<td>the host, in its poll</td>");
        put_step_cell(html, model, sim_actor_table_event(&run->actor_table, block)->step);
        report_put_place(html, report_run_place(run, block));
    } else {
        report_html_raw(html, "<td>unknown: no slot holds its waker</td><td></td><td></td>");
    }
    put_could(html, model, actor);
    report_html_raw(html, "</tr>\n");
}

static uint32_t
put_waits_of(struct report_html *html, const struct report_model *model, uint32_t actor)
{
    const struct report_run *run = report_model_shown(model);
    const struct sim_wait *wait = sim_ledger_open_of(&run->ledger, actor, NULL);
    uint32_t rows = 0;
    for (; wait != NULL && rows < WAITS_MAX; wait = sim_ledger_open_of(&run->ledger, actor, wait)) {
        if (wait->kind != SIM_WAIT_HOST) {
            put_wait_row(html, model, actor, wait);
            rows++;
        }
    }
    return rows;
}

void
report_put_waiting(struct report_html *html, const struct report_model *model)
{
    const struct report_run *run = report_model_shown(model);
    uint32_t rows = 0;
    size_t begun = html->page.length;
    report_html_raw(html, "<h2 id=\"waiting\">Waiting at the end</h2>\n");
    report_table_begin(html, "Waiting at the end", "Actor|Waits for|Since step|At|");
    for (uint32_t i = 1; i < run->actors_count && rows < WAITS_MAX; i++) {
        bool task = run->actor_table.parts[i].kind == SIM_ACTOR_TASK;
        bool loop = run->actor_table.parts[i].kind == SIM_ACTOR_LOOP;
        if ((!task && !loop) || run->actors[i].finished || !run->actors[i].seen) {
            continue;
        }
        uint32_t waits = put_waits_of(html, model, i);
        if (waits == 0 && (blocked_in(run, i) != SIM_EVENT_NONE || is_lost(run, i) ||
                                  (task && report_run_unanswered(run, i) != NULL))) {
            put_wait_row(html, model, i, NULL);
            waits = 1;
        }
        rows += waits;
    }
    report_table_end(html);
    if (rows == 0) {
        html->page.length = begun; /* No task waits: drop the heading. */
        html->page.bytes[begun] = '\0';
    }
}

/* ---- The wake ledger. ------------------------------------------------------------------------ */

static void
put_ledger_row(
        struct report_html *html, const struct report_model *model, const struct sim_wait *wait)
{
    const struct report_run *run = report_model_shown(model);
    bool lost = wait == run->wake_outcome.wait && run->outcome.verdict != SIM_VERDICT_PASS;
    report_html_raw(html, lost ? "<tr class=\"lost\">" : "<tr>");
    report_html_put(html, "<td>%s</td>", name_of(run, wait->part));
    put_wanted(html, run, wait);
    if (wait->unknown != 0) {
        report_html_raw(html, "<td>before recording began</td><td></td>");
    } else {
        put_step_cell(html, model, wait->store_step);
        report_put_place(html, report_run_wait_place(run, wait));
    }
    report_html_put(html, "<td>%s", sim_wait_end_name(wait->end));
    if (wait->end == SIM_WAIT_FIRED && wait->wake != SIM_WAKE_NONE &&
            wait->wake != SIM_WAKE_QUEUED) {
        report_html_put(html, ", %s", sim_wake_meaning(wait->wake));
    }
    report_html_raw(html, "</td>");
    if (wait->end_event == SIM_EVENT_NONE) {
        report_html_raw(html, "<td></td><td></td>");
    } else {
        put_step_cell(html, model, wait->end_step);
        report_html_put(html, "<td>%s</td>", name_of(run, wait->ender));
    }
    report_html_raw(html, "</tr>\n");
}

void
report_put_ledger(struct report_html *html, const struct report_model *model)
{
    const struct report_run *run = report_model_shown(model);
    const struct sim_ledger *ledger = &run->ledger;
    if (ledger->count == 0) {
        return;
    }
    report_html_raw(html, "<h2 id=\"ledger\">Wake ledger</h2>\n"
                          "<p>Every stored waker and its outcome.</p>\n");
    report_table_begin(html, "Wake ledger", "Task|Waits for|Stored in step|At|Outcome|In step|By");
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < ledger->count; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        bool old = ledger->count - i > WAITS_MAX && wait->end_event != SIM_EVENT_NONE;
        if (old && wait != run->wake_outcome.wait) {
            left_out++;
        } else {
            put_ledger_row(html, model, wait);
        }
    }
    report_table_end(html);
    if (left_out > 0) {
        report_html_put(html,
                "<p class=\"dim\">%u earlier waits that have ended are left out.</p>\n", left_out);
    }
}

/* ---- Every step. ----------------------------------------------------------------------------- */

/* What is known before the step whose row is next. */
struct rows {
    struct sim_page words;
    uint8_t *ready; /* report_run_ready */
    uint64_t event; /* The next that it does not know. */
};

/* The tasks that could have been polled instead. */
static void
put_others(struct report_html *html, const struct report_run *run, const struct report_step *step,
        struct rows *rows)
{
    uint32_t count = 0;
    for (; rows->event < step->first; rows->event++) {
        report_run_ready(run, rows->event, rows->ready);
    }
    report_html_raw(html, "<td>");
    for (uint32_t i = 0; i < run->actors_count; i++) {
        if (rows->ready[i] != 0 && i != step->actor && count++ < OTHERS_MAX) {
            report_html_put(html, "%s%s", count > 1 ? ", " : "", run->actors[i].name);
        }
    }
    if (count > OTHERS_MAX) {
        report_html_put(html, " and %u more", count - OTHERS_MAX);
    }
    report_html_raw(html, "</td>");
}

/* A step in the picture has its anchor #step-N there; its row is #row-N. */
static void
put_step_row(struct report_html *html, const struct report_model *model,
        const struct report_step *step, struct rows *rows)
{
    const struct report_run *run = report_model_shown(model);
    struct sim_page *words = &rows->words;
    bool drawn = report_lanes_anchor(&model->lanes, step->step) == step->step;
    sim_page_clear(words);
    if (!report_run_step_words(run, step, words)) {
        sim_page_put(words, "runs");
    }
    report_html_put(html, "<tr id=\"%s-%u\">", drawn ? "row" : "step", step->step);
    put_step_cell(html, model, step->step);
    report_html_raw(html, "<td class=\"number\">");
    sim_page_time(&html->page, step->time_ns);
    report_html_put(html, "</td><td>%s</td><td>%s</td>", run->actors[step->actor].name,
            sim_page_text(words));
    report_put_place(html, report_run_step_place(run, step));
    put_others(html, run, step, rows);
    report_html_raw(html, "</tr>\n");
}

static void
put_chunk(struct report_html *html, const struct report_model *model, uint32_t from, uint32_t to,
        struct rows *rows)
{
    const struct report_run *run = report_model_shown(model);
    report_html_put(html, "<details><summary>Steps %u to %u</summary>\n", run->steps[from].step,
            run->steps[to - 1].step);
    report_table_begin(html, "Steps", "Step|Time|Actor|Events|At|Also runnable");
    for (uint32_t i = from; i < to; i++) {
        put_step_row(html, model, &run->steps[i], rows);
    }
    report_table_end(html);
    report_html_raw(html, "</details>\n");
}

void
report_put_steps(struct report_html *html, const struct report_model *model)
{
    const struct report_run *run = report_model_shown(model);
    uint32_t first = run->steps_count > 0 && run->steps[0].step == 0 ? 1 : 0;
    if (run->steps_count <= first) {
        return;
    }
    report_html_raw(html, "<h2 id=\"steps\">Every step</h2>\n");
    struct rows rows = {
            .ready = sim_heap_new(run->actors_count, sizeof(*rows.ready)),
            .event = run->actor_table.first,
    };
    sim_page_init(&rows.words, false);
    for (uint32_t from = first, to = first; from < run->steps_count; from = to) {
        while (to < run->steps_count && to - from < CHUNK && report_has_row(run, to)) {
            to++;
        }
        if (to > from) {
            put_chunk(html, model, from, to, &rows);
            continue;
        }
        while (to < run->steps_count && !report_has_row(run, to)) {
            to++;
        }
        report_html_put(html,
                "<p class=\"dim\">Steps %u to %u (%u steps) are left out: <code>rewake show</code> "
                "and the view <code>trace</code> list them.</p>\n",
                run->steps[from].step, run->steps[to - 1].step, to - from);
    }
    sim_page_fini(&rows.words);
    free(rows.ready);
}

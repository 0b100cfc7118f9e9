/*
 * tables.c -- tables: waiting tasks, the wake ledger, all steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "reports/page/model.h"

#define WAITS_MAX 400u
#define CHUNK 250u /* Steps that are opened together. */

/* ---- Cells. ---------------------------------------------------------------------------------- */

static void
put_place(struct report_html *html, const struct report_place *place)
{
    if (place == NULL) {
        report_html_raw(html, "<td></td>");
        return;
    }
    report_html_raw(html, "<td><code>");
    report_html_text(html, report_file_name(place->file));
    report_html_format(html, ":%u</code> ", place->line);
    report_html_text(html, place->function);
    report_html_raw(html, "</td>");
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
    report_html_element(html, "td", NULL, sim_page_text(&words));
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

/* The step of the last wake of `actor` without a later poll; 0: none. */
static uint32_t
dropped(const struct report_run *run, uint32_t actor)
{
    uint32_t step = 0;
    for (uint32_t i = 0; i < run->wakes_count; i++) {
        const struct report_wake *wake = &run->wakes[i];
        bool lost = wake->woken == actor && wake->poll_step == 0 && wake->how != SIM_WAKE_DEAD;
        step = lost ? wake->step : step;
    }
    return step;
}

static void
put_could(struct report_html *html, const struct report_model *model, uint32_t actor)
{
    const struct report_run *run = report_model_shown(model);
    uint32_t woken = dropped(run, actor);
    report_html_raw(html, "<td>");
    if (is_lost(run, actor)) {
        report_html_raw(html, "could make progress");
        if (run->outcome.missing_wake_step != 0) {
            report_html_raw(html, " since step ");
            report_put_step(html, model, run->outcome.missing_wake_step);
        }
        report_html_raw(html, woken != 0 ? ", " : ", and was not woken");
    }
    if (woken != 0) {
        report_html_raw(html, "was woken in step ");
        report_put_step(html, model, woken);
        report_html_raw(html, ", and not polled since");
    }
    report_html_raw(html, "</td>");
}

static void
put_wait_row(struct report_html *html, const struct report_model *model, uint32_t actor,
        const struct sim_wait *wait)
{
    const struct report_run *run = report_model_shown(model);
    report_html_raw(html, is_lost(run, actor) ? "<tr class=\"lost\">" : "<tr>");
    report_html_element(html, "td", NULL, run->actors[actor].name);
    if (wait != NULL) {
        put_wanted(html, run, wait);
        put_step_cell(html, model, wait->store_step);
        put_place(html, report_run_wait_place(run, wait));
    } else {
        report_html_raw(html, "<td>unknown: no slot holds its waker</td><td></td><td></td>");
    }
    put_could(html, model, actor);
    report_html_raw(html, "</tr>\n");
}

/* A loop waits in the host, which stores no waker. */
static bool
put_blocked_row(struct report_html *html, const struct report_model *model, uint32_t actor)
{
    const struct report_run *run = report_model_shown(model);
    uint64_t block = sim_actor_table_blocked(&run->actor_table, actor, run->actor_table.end);
    if (block == SIM_EVENT_NONE) {
        return false;
    }
    report_html_raw(html, is_lost(run, actor) ? "<tr class=\"lost\">" : "<tr>");
    report_html_element(html, "td", NULL, run->actors[actor].name);
    report_html_raw(html, "<td>the host, in its poll</td>");
    put_step_cell(html, model, sim_actor_table_event(&run->actor_table, block)->step);
    put_place(html, report_run_place(run, block));
    put_could(html, model, actor);
    report_html_raw(html, "</tr>\n");
    return true;
}

static uint32_t
put_waits_of(struct report_html *html, const struct report_model *model, uint32_t actor)
{
    const struct report_run *run = report_model_shown(model);
    uint32_t rows = 0;
    for (const struct sim_wait *wait = NULL; rows < WAITS_MAX;) {
        wait = sim_ledger_open_of(&run->ledger, actor, wait);
        if (wait == NULL) {
            break;
        }
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
    report_html_raw(html,
            "<h2 id=\"waiting\">Waiting at the end</h2>\n<div class=\"scroll\" tabindex=\"0\">"
            "<table>\n<thead><tr><th>Actor</th><th>Waits for</th><th>Since step</th><th>At</th>"
            "<th></th></tr></thead>\n<tbody>\n");
    for (uint32_t i = 1; i < run->actors_count && rows < WAITS_MAX; i++) {
        bool task = strcmp(run->actors[i].kind, "task") == 0;
        bool loop = strcmp(run->actors[i].kind, "loop") == 0;
        if ((!task && !loop) || run->actors[i].finished || !run->actors[i].seen) {
            continue;
        }
        uint32_t waits = put_waits_of(html, model, i);
        if (waits == 0 && loop) {
            waits = put_blocked_row(html, model, i);
        }
        if (waits == 0 && (is_lost(run, i) || (task && dropped(run, i) != 0))) {
            put_wait_row(html, model, i, NULL);
            waits = 1;
        }
        rows += waits;
    }
    report_html_raw(html, "</tbody></table></div>\n");
    if (rows == 0 && html->page.bytes != NULL) {
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
    report_html_element(html, "td", NULL, name_of(run, wait->part));
    put_wanted(html, run, wait);
    if (wait->unknown != 0) {
        report_html_raw(html, "<td>before recording began</td><td></td>");
    } else {
        put_step_cell(html, model, wait->store_step);
        put_place(html, report_run_wait_place(run, wait));
    }
    report_html_raw(html, "<td>");
    report_html_text(html, sim_wait_end_name(wait->end));
    if (wait->end == SIM_WAIT_FIRED && wait->wake != SIM_WAKE_NONE &&
            wait->wake != SIM_WAKE_QUEUED) {
        report_html_raw(html, ", ");
        report_html_text(html, sim_wake_meaning(wait->wake));
    }
    report_html_raw(html, "</td>");
    if (wait->end_event == SIM_EVENT_NONE) {
        report_html_raw(html, "<td></td><td></td>");
    } else {
        put_step_cell(html, model, wait->end_step);
        report_html_element(html, "td", NULL, name_of(run, wait->ender));
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
                          "<p>Every stored waker and its outcome.</p>\n"
                          "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th>Task</th>"
                          "<th>Waits for</th><th>Stored in step</th><th>At</th><th>Outcome</th>"
                          "<th>In step</th><th>By</th></tr></thead>\n<tbody>\n");
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
    report_html_raw(html, "</tbody></table></div>\n");
    if (left_out > 0) {
        report_html_format(html,
                "<p class=\"dim\">%u earlier waits that have ended are left out.</p>\n", left_out);
    }
}

/* ---- Every step. ----------------------------------------------------------------------------- */

static const struct report_place *
place_of(const struct report_run *run, const struct report_step *step)
{
    const struct report_place *place = NULL;
    for (uint64_t i = step->first; i < step->first + step->count && place == NULL; i++) {
        uint32_t await = sim_actor_table_event(&run->actor_table, i)->await;
        place = report_places_find(run->places, await);
    }
    return place;
}

/* A step in the picture has its anchor #step-N there; its row is #row-N. */
static void
put_step_row(struct report_html *html, const struct report_model *model,
        const struct report_step *step, struct sim_page *words)
{
    const struct report_run *run = report_model_shown(model);
    bool drawn = report_lanes_anchor(&model->lanes, step->step) == step->step;
    sim_page_clear(words);
    if (!report_run_step_words(run, step, words)) {
        sim_page_put(words, "runs");
    }
    report_html_format(
            html, "<tr id=\"%s-%u\"><td class=\"number\">", drawn ? "row" : "step", step->step);
    report_put_step(html, model, step->step);
    report_html_raw(html, "</td><td class=\"number\">");
    report_html_time(html, step->time_ns);
    report_html_raw(html, "</td>");
    report_html_element(html, "td", NULL, run->actors[step->actor].name);
    report_html_element(html, "td", NULL, sim_page_text(words));
    put_place(html, place_of(run, step));
    report_html_raw(html, "</tr>\n");
}

static void
put_chunk(struct report_html *html, const struct report_model *model, uint32_t from, uint32_t to)
{
    const struct report_run *run = report_model_shown(model);
    struct sim_page words;
    sim_page_init(&words, false);
    report_html_format(html,
            "<details><summary>Steps %u to %u</summary>\n<div class=\"scroll\" tabindex=\"0\">"
            "<table>\n<thead><tr><th>Step</th><th>Time</th><th>Actor</th><th>Events</th><th>At</th>"
            "</tr></thead>\n<tbody>\n",
            run->steps[from].step, run->steps[to - 1].step);
    for (uint32_t i = from; i < to; i++) {
        put_step_row(html, model, &run->steps[i], &words);
    }
    report_html_raw(html, "</tbody></table></div></details>\n");
    sim_page_fini(&words);
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
    for (uint32_t from = first; from < run->steps_count;) {
        uint32_t to = from;
        while (to < run->steps_count && to - from < CHUNK && report_has_row(run, to)) {
            to++;
        }
        if (to > from) {
            put_chunk(html, model, from, to);
            from = to;
            continue;
        }
        while (to < run->steps_count && !report_has_row(run, to)) {
            to++;
        }
        report_html_format(html,
                "<p class=\"dim\">Steps %u to %u (%u steps) are left out: <code>rewake show</code> "
                "and the view <code>trace</code> list them.</p>\n",
                run->steps[from].step, run->steps[to - 1].step, to - from);
        from = to;
    }
}

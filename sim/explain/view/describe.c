/*
 * describe.c -- the sections of a report.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/view/describe.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/explain/view/columns.h"
#include "sim/explain/view/describe_priv.h"
#include "sim/explain/view/stacks.h"

/* ---- Findings. ------------------------------------------------------------------------------- */

const struct sim_event *
sim__event(const struct sim__reading *reading, uint64_t index)
{
    rt_assert(index >= reading->actor_table.first && index < reading->actor_table.end);
    return sim_actor_table_event(&reading->actor_table, index);
}

uint64_t
sim__step_of(const struct sim__reading *reading, uint64_t index)
{
    return sim__event(reading, index)->step;
}

void
sim__add_event(struct sim__reading *reading, enum sim_finding_kind kind, uint64_t event)
{
    const struct sim_event *at = sim__event(reading, event);
    struct sim_finding finding = {.kind = kind};
    finding.other = sim_actor_table_part_of(&reading->actor_table, event);
    finding.step = at->step;
    finding.object = at->object;
    finding.await = at->await;
    finding.site = at->site;
    finding.event = event;
    sim_findings_add(reading->findings, finding);
}

void
sim__add_wait(struct sim__reading *reading, enum sim_finding_kind kind, const struct sim_wait *wait)
{
    struct sim_finding finding = {.kind = kind};
    rt_assert(wait != NULL);
    finding.other = wait->part;
    finding.step = wait->store_step;
    finding.await = wait->await;
    finding.site = wait->site;
    finding.wait = wait;
    finding.text = sim_wait_end_name(wait->end);
    sim_findings_add(reading->findings, finding);
}

void
sim__end(struct sim__reading *reading, uint32_t indent)
{
    SIM_FIND(reading->findings, SIM_FINDING_END, .number = indent);
}

void
sim__add_last_waker(struct sim__reading *reading, const struct sim_wait *last)
{
    sim__add_wait(reading, SIM_FINDING_LAST_WAKER, last);
    SIM_FIND(reading->findings, SIM_FINDING_TIME, .step = last->end_step);
}

/* ---- Questions. ------------------------------------------------------------------------------ */

bool
sim__is_left(const struct sim__reading *reading, uint32_t actor)
{
    rt_assert(actor < reading->actor_table.count);
    const struct sim_part *part = &reading->actor_table.parts[actor];
    return !part->finished && (part->kind == SIM_ACTOR_TASK || part->kind == SIM_ACTOR_LOOP);
}

bool
sim__found_by_rounds(const struct sim_outcome *outcome)
{
    return outcome->verdict == SIM_VERDICT_LOST_WAKEUP && outcome->missing_wake_step == 0 &&
           outcome->reason == SIM_REASON_ROUNDS;
}

bool
sim__is_of_poll(const struct sim__reading *reading)
{
    const struct sim_outcome *outcome = reading->outcome;
    return outcome->verdict == SIM_VERDICT_CONTRACT && outcome->stack.count > 0 &&
           outcome->stack.function;
}

/* ---- How it was found. ----------------------------------------------------------------------- */

/* Lost wake-ups are found in four ways. */
static void
find_how_lost(struct sim__reading *reading)
{
    const struct sim_outcome *outcome = reading->outcome;
    uint32_t limit = sim_actor_table_limit(&reading->actor_table);
    bool limited = limit != SIM_VERDICT_PASS;
    SIM_FIND(reading->findings, limited ? SIM_FINDING_LIMIT_REACHED : SIM_FINDING_STALLED,
            .text = sim_verdict_name(limit));
    if (sim__found_by_rounds(outcome)) {
        SIM_FIND(reading->findings, SIM_FINDING_LOST_ROUNDS);
    } else if (outcome->oracle == SIM_ORACLE_REWAKE_SOURCES) {
        SIM_FIND(reading->findings, SIM_FINDING_LOST_REPORT);
    } else if (outcome->oracle == SIM_ORACLE_REWAKE_LOOP) {
        SIM_FIND(reading->findings, SIM_FINDING_LOST_LOOP);
    } else {
        SIM_FIND(reading->findings, SIM_FINDING_LOST_POLL);
        if (limited && outcome->missing_wake_step != 0 &&
                outcome->missing_wake_step < outcome->fail_step) {
            SIM_FIND(reading->findings, SIM_FINDING_LOST_FOR,
                    .number = outcome->fail_step - outcome->missing_wake_step);
        }
        SIM_FIND(reading->findings, SIM_FINDING_LOST_WAKE);
    }
}

/* A loop cannot be polled: its host is asked (judge/progress.h). */
static bool
is_late_loop(const struct sim__reading *reading)
{
    uint32_t actor = reading->wake_outcome.part;
    return reading->outcome->verdict == SIM_VERDICT_LATE_WAKEUP &&
           reading->outcome->oracle == SIM_ORACLE_QUIET_AUDIT && actor != SIM_PART_NONE &&
           reading->actor_table.parts[actor].kind == SIM_ACTOR_LOOP;
}

/* How it was found that a wake is missing; of other verdicts all is said. */
static void
find_how(struct sim__reading *reading)
{
    uint32_t verdict = reading->outcome->verdict;
    if (verdict == SIM_VERDICT_LOST_WAKEUP) {
        find_how_lost(reading);
    } else if (verdict == SIM_VERDICT_LATE_WAKEUP) {
        SIM_FIND(reading->findings,
                is_late_loop(reading) ? SIM_FINDING_IS_LATE_LOOP : SIM_FINDING_IS_LATE);
    } else {
        return;
    }
    SIM_FIND(reading->findings, SIM_FINDING_STOP);
}

/* ---- Sections. ------------------------------------------------------------------------------- */

/* Prints what was found so far. */
static void
put_findings(struct sim__reading *reading, struct sim_page *page)
{
    sim_findings_put(page, &reading->names, reading->findings);
    reading->findings->count = 0;
}

static void
put_headline(struct sim__reading *reading, struct sim_page *page)
{
    sim_page_tone(page, SIM_TONE_BAD);
    sim__find_headline(reading);
    put_findings(reading, page);
    sim_page_tone(page, SIM_TONE_PLAIN);
}

uint32_t
sim_describe_cited(const struct sim_page *page, uint64_t *steps, uint32_t count)
{
    for (uint32_t i = 0; i < page->refs_count && count < SIM_CITED_MAX; i++) {
        if (page->refs[i].kind == SIM_REF_STEP) {
            steps[count++] = page->refs[i].number;
        }
    }
    return count;
}

/* The steps of the first sentence. */
static uint32_t
cited_in_headline(struct sim__reading *reading, uint64_t *steps, uint32_t count)
{
    struct sim_page headline;
    sim_page_init(&headline, false);
    headline.flat = true;
    sim__find_headline(reading);
    put_findings(reading, &headline);
    count = sim_describe_cited(&headline, steps, count);
    sim_page_fini(&headline);
    return count;
}

/* The steps from the store of the waker to its loss, and those that the text names, are never left
 * out. */
static void
put_columns(struct sim__reading *reading, struct sim_page *page, const struct sim_run_view *view)
{
    const struct sim_wake_outcome *wake_outcome = &reading->wake_outcome;
    uint64_t steps[SIM_CITED_MAX + 3];
    uint32_t count = view->cited_count;
    rt_assert(count <= SIM_CITED_MAX);
    for (uint32_t i = 0; i < count; i++) {
        steps[i] = view->cited[i];
    }
    count = cited_in_headline(reading, steps, count);
    if (wake_outcome->wait != NULL) {
        steps[count++] = wake_outcome->wait->store_step;
    }
    if (wake_outcome->poll != SIM_EVENT_NONE) {
        steps[count++] = sim__step_of(reading, wake_outcome->poll);
    }
    if (wake_outcome->root_cause != SIM_EVENT_NONE) {
        steps[count++] = sim__step_of(reading, wake_outcome->root_cause);
    }
    sim_columns_put(page, &reading->actor_table, reading->outcome, steps, count, view->rows_max);
}

static void
put_why(struct sim__reading *reading, struct sim_page *page)
{
    if (!page->flat) {
        SIM_FIND(reading->findings, SIM_FINDING_WHY);
    }
    sim__find_why(reading);
    sim__end(reading, 0);
    find_how(reading);
    sim__end(reading, 0);
    put_findings(reading, page);
}

static void
read_texts(struct sim__reading *reading, const struct sim_outcome *outcome)
{
    const char *none = "it gave no reason";
    bool said = outcome->message[0] != '\0';
    memcpy(reading->message, said ? outcome->message : none, said ? SIM_MESSAGE_MAX : strlen(none));
    sim_frames_find(&outcome->stack, &reading->frames);
    sim_frames_where(&reading->frames, reading->where, sizeof(reading->where));
    rt_assert(reading->frames.count <= SIM_FRAMES_MAX);
    for (uint32_t i = 0; i < reading->frames.count; i++) {
        sim_frame_text(
                &reading->frames.all[i], reading->frame_texts[i], sizeof(reading->frame_texts[i]));
    }
}

static void
read_run(struct sim__reading *reading, const struct sim_run_view *view,
        struct sim_findings *findings)
{
    rt_assert(view->recorder != NULL && view->outcome != NULL);
    *reading = (struct sim__reading){
            .findings = findings,
            .outcome = view->outcome,
            .progressed = view->progressed,
            .first = view->first,
    };
    sim_actor_table_make(&reading->actor_table, view->recorder);
    sim_ledger_make(&reading->ledger, &reading->actor_table);
    sim_wake_outcome_find(&reading->ledger, view->outcome, &reading->wake_outcome);
    reading->names = (struct sim_finding_context){
            .actor_table = &reading->actor_table,
            .ledger = &reading->ledger,
            .outcome = view->outcome,
            .horizon = reading->wake_outcome.horizon,
    };
    findings->actor = reading->wake_outcome.part;
    read_texts(reading, view->outcome);
}

static void
put_section(struct sim__reading *reading, struct sim_page *page, const struct sim_run_view *view,
        unsigned section)
{
    switch (section) {
    case SIM_DESCRIBE_HEADLINE:
        put_headline(reading, page);
        return;
    case SIM_DESCRIBE_COLUMNS:
        put_columns(reading, page, view);
        return;
    case SIM_DESCRIBE_LEDGER:
        sim_ledger_put(&reading->ledger, page, SIM_PART_NONE, view->rows_max);
        return;
    case SIM_DESCRIBE_WHY:
        put_why(reading, page);
        return;
    case SIM_DESCRIBE_STACKS:
        sim_stacks_put(page, &reading->actor_table);
        return;
    default:
        rt_unreached("no such section");
    }
}

void
sim_describe_run(struct sim_page *page, const struct sim_run_view *view, unsigned sections)
{
    struct sim__reading reading;
    struct sim_findings findings = {0};
    unsigned left = sections;
    rt_assert(page != NULL);
    rt_assert(sections != 0 && sections < 2 * SIM_DESCRIBE_STACKS);
    read_run(&reading, view, &findings);
    for (bool first = true; left != 0; left &= left - 1) {
        struct sim_page text;
        sim_page_init(&text, page->colour);
        text.width = page->width;
        text.flat = page->flat;
        put_section(&reading, &text, view, left & -left);
        sim_page_put(page, !first && text.length > 0 ? "\n" : "");
        first = first && text.length == 0;
        sim_page_join(page, &text);
        sim_page_fini(&text);
    }
    sim_findings_fini(&findings);
    sim_ledger_free(&reading.ledger);
    sim_actor_table_free(&reading.actor_table);
}

/*
 * turns.c -- iterates over the steps of a run and their wakes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/export/turns.h"

#include <stdlib.h>

#include "sim/base/heap.h"

#define NO_WAKE UINT32_MAX

static uint32_t
index_of(const struct report_run *run, uint32_t number)
{
    const struct report_step *step = report_run_step(run, number);
    return step != NULL ? (uint32_t)(step - run->steps) : UINT32_MAX;
}

/* The shortest duration of a step; 0: not known. */
static uint64_t
least_cost(const struct report_run *run)
{
    uint64_t least = 0;
    for (uint32_t i = 0; i + 1 < run->steps_count; i++) {
        const struct report_step *next = &run->steps[i + 1];
        uint64_t cost = next->time_ns - run->steps[i].time_ns;
        if (run->steps[i].step > 0 && next->jump_ns == 0 && next->time_ns > run->steps[i].time_ns &&
                (least == 0 || cost < least)) {
            least = cost;
        }
    }
    return least;
}

void
report_turns_init(struct report_turns *turns, const struct report_run *run)
{
    *turns = (struct report_turns){.run = run, .cost_ns = least_cost(run)};
    sim_page_init(&turns->words, false);
    turns->woken_by = sim_heap_new(run->steps_count, sizeof(*turns->woken_by));
    for (uint32_t i = 0; i < run->steps_count; i++) {
        turns->woken_by[i] = NO_WAKE;
    }
    for (uint32_t i = 0; i < run->wakes_count; i++) {
        uint32_t poll = run->wakes[i].poll_step;
        uint32_t at = poll != 0 ? index_of(run, poll) : UINT32_MAX;
        /* The first wake queued the task; later ones are coalesced. */
        if (at < run->steps_count && turns->woken_by[at] == NO_WAKE) {
            turns->woken_by[at] = i;
        }
    }
}

void
report_turns_fini(struct report_turns *turns)
{
    free(turns->woken_by);
    sim_page_fini(&turns->words);
}

static uint64_t
end_of(const struct report_turns *turns, uint32_t index)
{
    const struct report_run *run = turns->run;
    const struct report_step *step = &run->steps[index];
    uint64_t end_ns = run->outcome.sim_ns;
    if (index + 1 < run->steps_count) {
        const struct report_step *next = &run->steps[index + 1];
        /* The trace does not record when the idle time began. */
        bool quiet = next->jump_ns > 0 && next->time_ns - step->time_ns > turns->cost_ns;
        end_ns = quiet ? step->time_ns + turns->cost_ns : next->time_ns;
    }
    return end_ns > step->time_ns ? end_ns : step->time_ns;
}

/* The words of the step, and the last user line in it. */
static void
describe(struct report_turns *turns, struct report_turn *turn)
{
    const struct report_step *step = turn->step;
    turn->kind = NULL;
    for (uint64_t i = step->first; i < step->first + step->count; i++) {
        const struct sim_event *event = sim_actor_table_event(&turns->run->actor_table, i);
        bool poll = event->kind == RT_PROBE_POLL;
        turn->poll = turn->poll || poll;
        sim_page_clear(&turns->words);
        if (poll || (turn->kind == NULL && report_run_words(turns->run, i, &turns->words))) {
            turn->kind = sim_event_name(event->kind);
        }
        if (event->await != 0) {
            const struct report_place *place = report_run_place(turns->run, i);
            turn->place = place != NULL ? place : turn->place;
        }
    }
    turn->kind = turn->kind != NULL ? turn->kind : "step";
    sim_page_clear(&turns->words);
    if (!report_run_step_words(turns->run, step, &turns->words)) {
        sim_page_put(&turns->words, "step");
    }
    turn->words = sim_page_text(&turns->words);
}

bool
report_turns_next(struct report_turns *turns, struct report_turn *ret_turn)
{
    const struct report_run *run = turns->run;
    /* Step 0 is the setup. */
    while (turns->next < run->steps_count && run->steps[turns->next].step == 0) {
        turns->next++;
    }
    if (turns->next >= run->steps_count) {
        return false;
    }
    uint32_t index = turns->next++;
    const struct report_step *step = &run->steps[index];
    *ret_turn = (struct report_turn){
            .step = step,
            .end_ns = end_of(turns, index),
            .woken_by = turns->woken_by[index],
    };
    describe(turns, ret_turn);
    while (turns->wake < run->wakes_count && run->wakes[turns->wake].step < step->step) {
        turns->wake++;
    }
    ret_turn->wakes_first = turns->wake;
    while (turns->wake < run->wakes_count && run->wakes[turns->wake].step == step->step) {
        turns->wake++;
    }
    ret_turn->wakes_count = turns->wake - ret_turn->wakes_first;
    return true;
}

/* ---- What went wrong. ------------------------------------------------------------------------ */

/* The actor that the verdict names. */
static uint32_t
waiter_of(const struct report_run *run)
{
    if (run->wake_outcome.part < run->actors_count) {
        return run->wake_outcome.part;
    }
    for (uint32_t i = 1; i < run->actors_count; i++) {
        if (run->actor_table.parts[i].actor == run->outcome.actor) {
            return i;
        }
    }
    return 0;
}

bool
report_turns_failure(const struct report_run *run, uint32_t *ret_lane, uint64_t *ret_time_ns)
{
    *ret_lane = run->actors_count > 0 ? waiter_of(run) : 0;
    *ret_time_ns = run->outcome.fail_ns;
    return run->outcome.verdict != SIM_VERDICT_PASS && run->actors_count > 0;
}

bool
report_turns_missing(const struct report_run *run, struct report_missing *ret_missing)
{
    struct sim_missing missing;
    sim_missing_find(&run->actor_table, &run->outcome, &missing);
    const struct report_step *step =
            missing.kind != SIM_MISSING_NONE ? report_run_step(run, missing.step) : NULL;
    if (step == NULL) {
        return false;
    }
    *ret_missing = (struct report_missing){
            .sender = step->actor,
            .waiter = waiter_of(run),
            .step = missing.step,
            .time_ns = step->time_ns,
            .dropped = missing.kind == SIM_MISSING_DROPPED,
            .words = "here it should have been woken",
    };
    if (ret_missing->dropped) {
        ret_missing->words = missing.late ? "here it was woken; its poll was too late"
                                          : "here it was woken, and no poll followed";
    }
    return true;
}

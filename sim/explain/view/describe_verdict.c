/*
 * describe_verdict.c -- for each verdict a first sentence, and a reason.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/record/site.h"
#include "sim/explain/view/describe_priv.h"
#include "sim/explain/view/phrase.h"
#include "sim/explain/view/where.h"

#define BUSY_NAMED 4u
#define BUSY_STEPS 1000u
#define CLONES_LISTED 4u
#define STACK_INDENT 2u

/* A wake was sent, and no poll has followed. */
static bool
is_dropped(const struct sim__reading *reading)
{
    return reading->wake_outcome.kind == SIM_WAKE_OUTCOME_NOT_POLLED &&
           reading->wake_outcome.root_cause != SIM_EVENT_NONE;
}

/* ---- First sentences. ------------------------------------------------------------------------ */

/* Its last poll, or, of a thread, whose poll takes many steps, the store at its end. */
static uint64_t
blocked_at(const struct sim_wait *wait, uint64_t poll)
{
    bool later = wait != NULL && wait->unknown == 0 && wait->store_event > poll;
    return later ? wait->store_event : poll;
}

/* "it waits for the reply (response) since step 17 (1.2ms)"; a task with nothing on record that it
 * waits for, which woke itself, waits for that. */
static void
find_waiting(struct sim__reading *reading)
{
    const struct sim_wait *wait = reading->wake_outcome.wait;
    if (wait == NULL && reading->outcome->object == 0 && is_dropped(reading)) {
        SIM_FIND(reading->findings, SIM_FINDING_WAITS_POLL);
        return;
    }
    if (wait != NULL && wait->kind != SIM_WAIT_CLONE) {
        sim__add_wait(reading, SIM_FINDING_WAITS, wait);
    } else {
        SIM_FIND(reading->findings, SIM_FINDING_WAITS_OBJECT, .object = reading->outcome->object);
    }
    if (reading->wake_outcome.poll != SIM_EVENT_NONE) {
        sim__add_event(reading, SIM_FINDING_SINCE, blocked_at(wait, reading->wake_outcome.poll));
    }
}

/* After which step it could have made progress, and that it was woken. The step that sent the wake
 * says it all, where it is that one. */
static void
find_could_progress(struct sim__reading *reading)
{
    uint64_t step = reading->outcome->missing_wake_step;
    uint64_t wake = reading->wake_outcome.root_cause;
    uint32_t actor = reading->wake_outcome.part;
    bool dropped = is_dropped(reading);
    bool same = dropped && sim__step_of(reading, wake) == step;
    if (step != 0 && !same) {
        bool own = sim_phrase_whose_step(&reading->actor_table, step) == actor;
        SIM_FIND(reading->findings, own ? SIM_FINDING_WAS_THERE : SIM_FINDING_COULD_AFTER,
                .step = step);
    }
    if (dropped) {
        bool itself = sim_actor_table_part_of(&reading->actor_table, wake) == actor;
        sim__add_event(reading, itself ? SIM_FINDING_WOKE_ITSELF : SIM_FINDING_WAS_WOKEN, wake);
    }
    if (step != 0 || dropped) {
        SIM_FIND(reading->findings, SIM_FINDING_COMMA);
    }
}

static void
head_lost(struct sim__reading *reading)
{
    SIM_FIND(reading->findings, sim__found_by_rounds(reading->outcome)
                                        ? SIM_FINDING_HEAD_LOST_ROUNDS
                                        : SIM_FINDING_HEAD_LOST);
    find_waiting(reading);
    find_could_progress(reading);
    SIM_FIND(reading->findings,
            is_dropped(reading) ? SIM_FINDING_NEVER_POLLED : SIM_FINDING_NEVER_WOKEN);
}

static void
head_late(struct sim__reading *reading)
{
    if (reading->outcome->oracle == SIM_ORACLE_TIMER) {
        SIM_FIND(reading->findings, SIM_FINDING_TEXT, .text = reading->message);
        SIM_FIND(reading->findings, SIM_FINDING_STOP);
        return;
    }
    SIM_FIND(reading->findings,
            is_dropped(reading) ? SIM_FINDING_HEAD_LATE_POLL : SIM_FINDING_HEAD_LATE_WAKE);
    find_waiting(reading);
    find_could_progress(reading);
    SIM_FIND(reading->findings, SIM_FINDING_STILL_BLOCKED, .step = reading->outcome->fail_step);
}

static void
head_livelock(struct sim__reading *reading)
{
    bool liveness = reading->outcome->oracle == SIM_ORACLE_LIVENESS;
    SIM_FIND(reading->findings, liveness ? SIM_FINDING_NO_RECOVERY : SIM_FINDING_NO_PROGRESS,
            .text = reading->message);
}

/* "in `actor`, what is wrong": unless the message names the actor. */
static void
head_message(struct sim__reading *reading)
{
    const struct sim_outcome *outcome = reading->outcome;
    bool known = reading->wake_outcome.part != SIM_PART_NONE || outcome->actor_name[0] != '\0';
    if (known && outcome->reason != SIM_REASON_NAMED) {
        SIM_FIND(reading->findings, SIM_FINDING_IN_ACTOR);
    }
    SIM_FIND(reading->findings, SIM_FINDING_TEXT, .text = reading->message);
    if (outcome->fail_step != 0) {
        SIM_FIND(reading->findings, SIM_FINDING_AT_TIME, .step = outcome->fail_step);
    }
    SIM_FIND(reading->findings, SIM_FINDING_STOP);
}

/* "`server` returned PENDING without storing a waker in server_poll (async-std-272.c:94)": a broken
 * rule. */
static void
head_contract(struct sim__reading *reading)
{
    if (!sim__is_of_poll(reading)) {
        head_message(reading);
        return;
    }
    SIM_FIND(reading->findings, SIM_FINDING_HEAD_PENDING, .step = reading->outcome->fail_step,
            .text = reading->where);
}

/* "SIGSEGV, NULL written in f (a.c:3), step 1 (0ns) of `a`": a crash names its place. */
static void
head_crash(struct sim__reading *reading)
{
    uint64_t step = reading->outcome->fail_step;
    SIM_FIND(reading->findings, SIM_FINDING_TEXT, .text = reading->message);
    if (step != 0) {
        SIM_FIND(reading->findings, SIM_FINDING_IN_STEP, .step = step);
    }
    if (step != 0 && reading->wake_outcome.part != SIM_PART_NONE) {
        SIM_FIND(reading->findings, SIM_FINDING_OF_ACTOR);
    }
    SIM_FIND(reading->findings, SIM_FINDING_STOP);
}

static void
head_pass(struct sim__reading *reading)
{
    if (reading->outcome->oracle == SIM_ORACLE_IDLE) {
        SIM_FIND(reading->findings, SIM_FINDING_TEXT, .text = reading->message);
        SIM_FIND(reading->findings, SIM_FINDING_STOP);
        return;
    }
    SIM_FIND(reading->findings, SIM_FINDING_HEAD_PASS, .limit = reading->outcome->steps,
            .number = reading->outcome->sim_ns);
}

/* ---- Which actors took the steps. ------------------------------------------------------------ */

struct busy {
    uint32_t actor;
    uint32_t steps;
};

/* The turns of `actor` from the event `from` on: polls, or steps where it takes its own. */
static uint32_t
turns_of(const struct sim__reading *reading, uint32_t actor, uint64_t from)
{
    const struct sim_actor_table *actor_table = &reading->actor_table;
    bool task = actor_table->parts[actor].kind == SIM_ACTOR_TASK;
    uint32_t turns = 0;
    uint64_t last = 0;
    for (uint64_t i = from; i < reading->wake_outcome.horizon; i++) {
        const struct sim_event *event = sim__event(reading, i);
        bool turn = event->kind == RT_PROBE_POLL || event->kind == SIM_EVENT_CALL ||
                    (event->kind == SIM_EVENT_STEP && !task);
        if (turn && event->step != last && sim_actor_table_part_of(actor_table, i) == actor) {
            last = event->step;
            turns++;
        }
    }
    return turns;
}

/* The BUSY_NAMED busiest, the first of them first; returns how many there are of these. */
static uint32_t
sort_busiest(const struct sim__reading *reading, uint64_t from, struct busy *ret_busy)
{
    uint32_t count = 0;
    for (uint32_t actor = 1; actor < reading->actor_table.count; actor++) {
        struct busy busy = {actor, turns_of(reading, actor, from)};
        uint32_t place = count;
        while (place > 0 && ret_busy[place - 1].steps < busy.steps) {
            place--;
        }
        if (busy.steps == 0 || place >= BUSY_NAMED) {
            continue;
        }
        count += count < BUSY_NAMED ? 1 : 0;
        memmove(&ret_busy[place + 1], &ret_busy[place], (count - 1 - place) * sizeof(*ret_busy));
        ret_busy[place] = busy;
    }
    return count;
}

/* "`a` (5000), `b` (5000)" */
static void
find_busiest(struct sim__reading *reading, uint64_t from)
{
    struct busy busy[BUSY_NAMED + 1];
    uint32_t count = sort_busiest(reading, from, busy);
    rt_assert(count <= BUSY_NAMED);
    for (uint32_t i = 0; i < count; i++) {
        SIM_FIND(reading->findings, i == 0 ? SIM_FINDING_BUSY : SIM_FINDING_ALSO_BUSY,
                .other = busy[i].actor, .number = busy[i].steps);
    }
    if (count == 0) {
        SIM_FIND(reading->findings, SIM_FINDING_BUSY_NONE);
    }
}

/* The first event of the last BUSY_STEPS steps. */
static uint64_t
last_steps(const struct sim__reading *reading)
{
    uint64_t i = reading->wake_outcome.horizon;
    uint32_t seen = 0;
    while (i > reading->actor_table.first && seen < BUSY_STEPS) {
        i--;
        seen += sim__event(reading, i)->kind == SIM_EVENT_STEP;
    }
    return i;
}

/* A sentence about the last steps: how it begins, and how it ends. */
static void
find_last_steps(
        struct sim__reading *reading, enum sim_finding_kind begins, enum sim_finding_kind ends)
{
    SIM_FIND(reading->findings, begins);
    find_busiest(reading, last_steps(reading));
    SIM_FIND(reading->findings, ends);
}

/* ---- The last event, and lost clones. -------------------------------------------------------- */

/* A line of rewake itself says nothing to a reader. */
static bool
has_users_line(const struct sim_event *event)
{
    const struct rt_site *site = sim_site_find(event->await != 0 ? event->await : event->site);
    return site != NULL && !sim_site_is_own(site);
}

static bool
has_words(const struct sim__reading *reading, uint64_t event)
{
    struct sim_page words;
    sim_page_init(&words, false);
    bool has = sim_phrase_put(&reading->actor_table, &words, event) && words.length > 0;
    sim_page_fini(&words);
    return has;
}

/* The last thing on record before the end, with its line. */
static void
find_last_event(struct sim__reading *reading)
{
    for (uint64_t i = reading->wake_outcome.horizon; i-- > reading->actor_table.first;) {
        if (has_words(reading, i)) {
            sim__add_event(reading, SIM_FINDING_LAST_EVENT, i);
            if (!has_users_line(sim__event(reading, i))) {
                struct sim_finding *added = sim_findings_last(reading->findings);
                added->await = 0;
                added->site = 0;
            }
            return;
        }
    }
}

/* The last event of `step` with a line of the user's, among those that clone a waker, or all. */
static uint64_t
last_of_step(const struct sim__reading *reading, uint64_t step, bool clones)
{
    for (uint64_t i = reading->actor_table.end; i-- > reading->actor_table.first;) {
        const struct sim_event *event = sim__event(reading, i);
        if (event->step == step && has_users_line(event) &&
                (!clones || event->kind == RT_PROBE_CLONE)) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* The step in which a clone was lost. What overwrites a clone is mostly the next one. */
static void
find_lost_step(struct sim__reading *reading, uint64_t step)
{
    uint64_t again = last_of_step(reading, step, true);
    uint64_t last = again != SIM_EVENT_NONE ? again : last_of_step(reading, step, false);
    SIM_FIND(reading->findings, SIM_FINDING_OVERWRITTEN_IN, .step = step);
    if (last != SIM_EVENT_NONE) {
        sim__add_event(reading,
                again != SIM_EVENT_NONE ? SIM_FINDING_CLONES_AGAIN : SIM_FINDING_LAST_LINE, last);
    }
    SIM_FIND(reading->findings, SIM_FINDING_STOP);
}

/* A line for each clone that is still open, and the step in which it was lost. */
static void
find_clones(struct sim__reading *reading)
{
    uint64_t clones[CLONES_LISTED];
    uint64_t step = reading->outcome->lost_step;
    uint32_t count = sim_where_clones(&reading->actor_table, step, clones, CLONES_LISTED);
    rt_assert(count <= CLONES_LISTED);
    if (count == 0) {
        return;
    }
    SIM_FIND(reading->findings, count == 1 ? SIM_FINDING_CLONE_LOST : SIM_FINDING_CLONES_LOST);
    sim__end(reading, 0);
    for (uint32_t i = 0; i < count; i++) {
        sim__add_event(reading, SIM_FINDING_CLONE, clones[i]);
        sim_findings_last(reading->findings)->other =
                sim_where_whose(&reading->actor_table, clones[i]);
        sim__end(reading, 0);
    }
    if (step != 0) {
        find_lost_step(reading, step);
    }
}

/* ---- Reasons. -------------------------------------------------------------------------------- */

static void
why_wake(struct sim__reading *reading)
{
    if (sim__found_by_rounds(reading->outcome)) { /* No single wake was missing, but many. */
        SIM_FIND(reading->findings, SIM_FINDING_WHY_ROUNDS);
        sim__end(reading, 0);
        sim__find_waits(reading);
    } else if (reading->outcome->oracle == SIM_ORACLE_TIMER) {
        SIM_FIND(reading->findings, SIM_FINDING_WHY_CLOCK);
    } else {
        sim__find_wake(reading);
    }
}

static void
why_livelock(struct sim__reading *reading)
{
    if (reading->outcome->oracle == SIM_ORACLE_LIVENESS) {
        find_last_steps(reading, SIM_FINDING_WHY_LIVENESS, SIM_FINDING_WHY_LIVENESS_END);
    } else {
        find_last_steps(reading, SIM_FINDING_WHY_LIVELOCK, SIM_FINDING_WHY_LIVELOCK_END);
    }
}

/* Since when, and who ran instead. */
static void
why_starvation(struct sim__reading *reading)
{
    if (is_dropped(reading)) {
        sim__add_event(reading, SIM_FINDING_WHY_STARVED, reading->wake_outcome.root_cause);
        find_busiest(reading, reading->wake_outcome.root_cause);
        SIM_FIND(reading->findings, SIM_FINDING_WHY_STARVED_END);
    } else { /* What is passed over is no task, but a deadline or a source. */
        find_last_steps(reading, SIM_FINDING_WHY_LAST_STEPS, SIM_FINDING_WHY_STARVED_END);
    }
}

static void
why_step(struct sim__reading *reading)
{
    SIM_FIND(reading->findings,
            reading->outcome->asked ? SIM_FINDING_HAPPENED_ASKED : SIM_FINDING_HAPPENED,
            .step = reading->outcome->fail_step);
    if (reading->outcome->site != 0) {
        SIM_FIND(reading->findings, SIM_FINDING_LINE_IS, .await = reading->outcome->site);
    } else if (sim__is_of_poll(reading)) {
        SIM_FIND(reading->findings, SIM_FINDING_STORE_THE_WAKER);
    } else if (reading->frames.count > 0) {
        SIM_FIND(reading->findings, SIM_FINDING_HAPPENED_WHERE, .text = reading->where);
    }
}

/* Memory was freed with a waker in it: that is not counted at the end, it ends the run. */
static bool
ends_with_free(const struct sim__reading *reading)
{
    const struct sim_actor_table *actor_table = &reading->actor_table;
    return actor_table->end > actor_table->first + 1 &&
           sim__event(reading, actor_table->end - 2)->kind == SIM_EVENT_FREE;
}

static void
why_leak(struct sim__reading *reading)
{
    if (ends_with_free(reading)) {
        why_step(reading);
        return;
    }
    SIM_FIND(reading->findings, SIM_FINDING_WHY_LEAK);
    if (reading->outcome->site != 0) {
        SIM_FIND(reading->findings, SIM_FINDING_WAS_TAKEN, .await = reading->outcome->site);
    }
    find_last_event(reading);
    if (reading->outcome->lost_wakers > 0) {
        sim__end(reading, 0);
        find_clones(reading);
    }
}

/* The process died or hung: in the last step on record. */
static void
why_process(struct sim__reading *reading)
{
    uint64_t last = reading->wake_outcome.horizon;
    uint64_t step = last > reading->actor_table.first ? sim__step_of(reading, last - 1) : 0;
    bool hang = reading->outcome->verdict == SIM_VERDICT_HANG;
    if (reading->outcome->asked) {
        SIM_FIND(reading->findings, hang ? SIM_FINDING_HANG_IN_POLL : SIM_FINDING_DIED_IN_POLL);
        SIM_FIND(reading->findings, SIM_FINDING_ASKED_AT_END, .step = step);
    } else {
        SIM_FIND(reading->findings, hang ? SIM_FINDING_HANG_STEP : SIM_FINDING_DIED_STEP,
                .step = step);
    }
    find_last_event(reading);
}

static void
why_diverged(struct sim__reading *reading)
{
    SIM_FIND(reading->findings, SIM_FINDING_WHY_DIVERGED);
}

static void
why_limit(struct sim__reading *reading)
{
    if (sim_outcome_spins(reading->outcome)) {
        SIM_FIND(reading->findings, SIM_FINDING_WHY_SPINS,
                .step = (uint32_t)reading->outcome->fail_step);
    } else {
        find_last_steps(reading, SIM_FINDING_WHY_LIMIT, SIM_FINDING_STOP);
    }
}

static void
why_pass(struct sim__reading *reading)
{
    SIM_FIND(reading->findings, SIM_FINDING_WHY_PASS);
}

/* ---- The table. ------------------------------------------------------------------------------ */

struct description {
    void (*head)(struct sim__reading *reading);
    void (*why)(struct sim__reading *reading);
};

static const struct description *
description_of(const struct sim__reading *reading)
{
    static const struct description all[SIM_VERDICTS] = {
            [SIM_VERDICT_PASS] = {head_pass, why_pass},
            [SIM_VERDICT_LOST_WAKEUP] = {head_lost, why_wake},
            [SIM_VERDICT_LATE_WAKEUP] = {head_late, why_wake},
            [SIM_VERDICT_DEADLOCK] = {sim__find_deadlock_head, sim__find_deadlock},
            [SIM_VERDICT_LIVELOCK] = {head_livelock, why_livelock},
            [SIM_VERDICT_STARVATION] = {head_message, why_starvation},
            [SIM_VERDICT_OVER_BUDGET] = {head_message, why_step},
            [SIM_VERDICT_CONTRACT] = {head_contract, why_step},
            [SIM_VERDICT_LEAK] = {head_message, why_leak},
            [SIM_VERDICT_INVARIANT] = {head_message, why_step},
            [SIM_VERDICT_CRASH] = {head_crash, why_process},
            [SIM_VERDICT_HANG] = {head_message, why_process},
            [SIM_VERDICT_DIVERGED] = {head_message, why_diverged},
            [SIM_VERDICT_STEP_LIMIT] = {head_message, why_limit},
            [SIM_VERDICT_TIME_LIMIT] = {head_message, why_limit},
            [SIM_VERDICT_USE_AFTER_FREE] = {head_message, why_step},
            [SIM_VERDICT_EXIT] = {head_message, why_step},
            [SIM_VERDICT_REFUSED] = {head_message, why_step},
    };
    /* Beside timers that go on. */
    static const struct description still = {head_message, why_step};
    uint32_t verdict = reading->outcome->verdict;
    if (verdict == SIM_VERDICT_DEADLOCK && reading->outcome->oracle == SIM_ORACLE_LIMIT) {
        return &still;
    }
    return &all[verdict < SIM_VERDICTS ? verdict : (uint32_t)SIM_VERDICT_CONTRACT];
}

/* "#0 crash_main executor.c:218  #1 ...", a paragraph; nothing for less than a stack. */
static void
find_stack(struct sim__reading *reading)
{
    bool called = reading->outcome->stack.count > 1;
    for (uint32_t i = 0; called && i < reading->frames.count; i++) {
        SIM_FIND(reading->findings, i == 0 ? SIM_FINDING_FIRST_FRAME : SIM_FINDING_FRAME,
                .number = i, .text = reading->frame_texts[i]);
    }
    sim__end(reading, STACK_INDENT);
}

void
sim__find_headline(struct sim__reading *reading)
{
    SIM_FIND(reading->findings, SIM_FINDING_VERDICT,
            .text = sim_verdict_name(reading->outcome->verdict));
    description_of(reading)->head(reading);
    sim__end(reading, 0);
    find_stack(reading);
}

void
sim__find_why(struct sim__reading *reading)
{
    description_of(reading)->why(reading);
}

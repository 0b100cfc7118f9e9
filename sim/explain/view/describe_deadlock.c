/*
 * describe_deadlock.c -- all are blocked: which task waits for what, and what was tried.
 *
 * Only what was done is claimed. A task can be polled once more; a loop, code on a
 * fiber, cannot: a wake that was lost inside one looks like a deadlock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/explain/view/describe_priv.h"

#define NAMED_IN_HEADLINE 3u
#define LISTED 12u
#define WAITS_LISTED 4u
#define EMPTY_NAMED 3u

/* ---- Loops. ---------------------------------------------------------------------------------- */

static bool
is_loop(const struct sim__reading *reading, uint32_t actor)
{
    rt_assert(actor < reading->actor_table.count);
    return reading->actor_table.parts[actor].kind == SIM_ACTOR_LOOP;
}

/* The last event of `kind` by `actor` before the failure; SIM_EVENT_NONE. */
static uint64_t
last_of(const struct sim__reading *reading, uint32_t kind, uint32_t actor)
{
    for (uint64_t i = reading->wake_outcome.horizon; i-- > reading->actor_table.first;) {
        if (sim__event(reading, i)->kind == kind &&
                sim_actor_table_part_of(&reading->actor_table, i) == actor) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* The loop has blocked in the host, or is waited for: one that the world drives never is. */
static bool
is_own_loop(const struct sim__reading *reading, uint32_t actor)
{
    return is_loop(reading, actor) &&
           (actor == reading->wake_outcome.part ||
                   sim_actor_table_waits_for(&reading->actor_table, actor) != NULL ||
                   last_of(reading, SIM_EVENT_BLOCK, actor) != SIM_EVENT_NONE);
}

/* A loop that the world drives has no wait: it is there for others. */
static bool
is_idle_loop(const struct sim__reading *reading, uint32_t actor)
{
    return is_loop(reading, actor) && !is_own_loop(reading, actor) &&
           sim_ledger_open_of(&reading->ledger, actor, NULL) == NULL;
}

/* ---- What a task waits for. ------------------------------------------------------------------ */

/* "mail since step 14 (875us)" */
static void
find_said(struct sim__reading *reading, uint32_t actor)
{
    const char *said = sim_actor_table_waits_for(&reading->actor_table, actor);
    uint64_t block =
            sim_actor_table_blocked(&reading->actor_table, actor, reading->wake_outcome.horizon);
    uint64_t step = last_of(reading, SIM_EVENT_STEP, actor);
    struct sim_finding finding = {.kind = SIM_FINDING_FOR_NOTHING, .actor = actor, .text = said};
    if (said != NULL) {
        finding.kind = SIM_FINDING_TEXT;
    } else if (block != SIM_EVENT_NONE) {
        finding.kind = SIM_FINDING_FOR_OBJECT;
        finding.object = sim__event(reading, block)->object;
    }
    sim_findings_add(reading->findings, finding);
    if (step != SIM_EVENT_NONE && sim__step_of(reading, step) != 0) {
        sim__add_event(reading, SIM_FINDING_SINCE, step);
    }
}

/* "the reply (response) since step 17 (1.2ms)" */
static void
find_wait(struct sim__reading *reading, const struct sim_wait *wait)
{
    sim__add_wait(reading,
            wait->kind == SIM_WAIT_CLONE ? SIM_FINDING_FOR_CLONE : SIM_FINDING_FOR_WAIT, wait);
    if (wait->unknown == 0) {
        sim__add_wait(reading, SIM_FINDING_SINCE, wait);
    }
}

/* "the reply since step 3 (2us) at …, and for a timer since …, and for more" */
static void
find_waits_of(struct sim__reading *reading, uint32_t actor)
{
    const struct sim_wait *wait = sim_finding_next_wait(&reading->names, actor, NULL);
    if (wait == NULL) {
        find_said(reading, actor);
    }
    for (uint32_t count = 0; wait != NULL; count++) {
        if (count > 0) {
            SIM_FIND(reading->findings,
                    count == WAITS_LISTED ? SIM_FINDING_AND_FOR_MORE : SIM_FINDING_AND_FOR);
        }
        if (count == WAITS_LISTED) {
            return;
        }
        find_wait(reading, wait);
        sim__add_wait(reading, SIM_FINDING_AT_SITE, wait);
        wait = sim_finding_next_wait(&reading->names, actor, wait);
    }
}

static void
add_actor(struct sim__reading *reading, enum sim_finding_kind kind, uint32_t actor)
{
    SIM_FIND(reading->findings, kind, .actor = actor);
}

/* ---- The first sentence. --------------------------------------------------------------------- */

/* "`client` waits for the reply since step 3 (2us)", after NAMED_IN_HEADLINE only counted. */
static void
name(struct sim__reading *reading, uint32_t actor, uint32_t *named)
{
    if ((*named)++ >= NAMED_IN_HEADLINE) {
        return;
    }
    if (*named > 1) {
        SIM_FIND(reading->findings, SIM_FINDING_NEXT);
    }
    add_actor(reading, SIM_FINDING_HEAD_WAITS, actor);
    const struct sim_wait *wait = sim_finding_next_wait(&reading->names, actor, NULL);
    if (wait != NULL) {
        find_wait(reading, wait);
    } else {
        find_said(reading, actor);
    }
}

/* It waits in a line of the program: not in a library, or in the loop that polls others. */
static bool
waits_in_program(const struct sim__reading *reading, uint32_t actor)
{
    const struct sim_wait *wait = sim_finding_next_wait(&reading->names, actor, NULL);
    struct sim_stack stack;
    struct sim_frames frames;
    if (sim_recorder_stack(
                reading->actor_table.recorder, reading->actor_table.parts[actor].actor, &stack)) {
        sim_frames_find(&stack, &frames);
        return frames.count > 0;
    }
    return wait != NULL && sim_actor_table_place(wait->await, wait->site) != NULL;
}

/* The order in which they are named: who is explained, who waits in the program, who does not. */
static uint32_t
rank_of(const struct sim__reading *reading, uint32_t actor)
{
    uint32_t blocked = reading->wake_outcome.part;
    return actor == reading->first ? 0
           : actor == blocked      ? 1
                                   : 3 - waits_in_program(reading, actor);
}

void
sim__find_deadlock_head(struct sim__reading *reading)
{
    uint32_t named = 0;
    SIM_FIND(reading->findings,
            reading->progressed ? SIM_FINDING_HEAD_NO_PROGRESS : SIM_FINDING_HEAD_DEADLOCK);
    for (uint32_t rank = 0; rank <= 3; rank++) {
        for (uint32_t actor = 1; actor < reading->actor_table.count; actor++) {
            bool open = sim_ledger_open_of(&reading->ledger, actor, NULL) != NULL;
            if (sim__is_left(reading, actor) && (open || is_own_loop(reading, actor)) &&
                    rank_of(reading, actor) == rank) {
                name(reading, actor, &named);
            }
        }
    }
    if (named == 0) {
        SIM_FIND(reading->findings, SIM_FINDING_HEAD_NO_RECORD);
    } else if (named > NAMED_IN_HEADLINE) {
        SIM_FIND(reading->findings, SIM_FINDING_HEAD_MORE, .number = named - NAMED_IN_HEADLINE);
    }
    SIM_FIND(reading->findings, SIM_FINDING_STOP);
}

/* ---- Which task waits for what. -------------------------------------------------------------- */

void
sim__find_waits(struct sim__reading *reading)
{
    uint32_t count = 0;
    for (uint32_t actor = 1; actor < reading->actor_table.count; actor++) {
        if (!sim__is_left(reading, actor) || is_idle_loop(reading, actor) || ++count > LISTED) {
            continue;
        }
        add_actor(reading, SIM_FINDING_LISTED, actor);
        find_waits_of(reading, actor);
        sim__end(reading, 2);
    }
    if (count > LISTED) {
        SIM_FIND(reading->findings, SIM_FINDING_MORE_LISTED, .number = count - LISTED);
        sim__end(reading, 2);
    }
}

/* The last wake of an empty slot by `actor` since it began to wait, where a task had waited before;
 * SIM_EVENT_NONE. */
static uint64_t
woke_empty(const struct sim__reading *reading, uint32_t actor)
{
    const struct sim_actor_table *actor_table = &reading->actor_table;
    const struct sim_wait *wait = sim_finding_next_wait(&reading->names, actor, NULL);
    uint64_t from = wait != NULL && wait->unknown == 0
                            ? sim_actor_table_step_first(actor_table, wait->store_step)
                            : SIM_EVENT_NONE;
    for (uint64_t i = reading->wake_outcome.horizon; i-- > from;) {
        const struct sim_event *event = sim__event(reading, i);
        if (event->kind == RT_PROBE_FIRE_EMPTY &&
                sim_actor_table_part_of(actor_table, i) == actor &&
                sim_wake_outcome_last_in(&reading->ledger, event->object, i) != NULL) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* "At step 21 (3ms) `client` woke the empty slot "a job"; the last waker in there …" */
static void
find_empty(struct sim__reading *reading)
{
    uint32_t named = 0;
    for (uint32_t actor = 1; actor < reading->actor_table.count && named < EMPTY_NAMED; actor++) {
        uint64_t at = sim__is_left(reading, actor) ? woke_empty(reading, actor) : SIM_EVENT_NONE;
        if (at == SIM_EVENT_NONE) {
            continue;
        }
        const struct sim_event *event = sim__event(reading, at);
        const struct sim_wait *last = sim_wake_outcome_last_in(&reading->ledger, event->object, at);
        sim__add_event(reading,
                event->step != 0 ? SIM_FINDING_WOKE_EMPTY : SIM_FINDING_WOKE_EMPTY_AT_START, at);
        sim__add_last_waker(reading, last);
        if (last->part != 0 && reading->actor_table.parts[last->part].finished) {
            SIM_FIND(reading->findings, SIM_FINDING_HAS_FINISHED, .other = last->part);
        }
        sim__end(reading, 0);
        named++;
    }
}

/* The actor whose end `actor` waits for; SIM_PART_NONE. */
static uint32_t
joins(const struct sim__reading *reading, uint32_t actor)
{
    const struct sim_wait *wait = NULL;
    do {
        wait = sim_ledger_open_of(&reading->ledger, actor, wait);
        uint32_t joined = wait != NULL ? sim_actor_table_object(&reading->actor_table, wait->object)
                                       : SIM_PART_NONE;
        if (joined != SIM_PART_NONE && sim__is_left(reading, joined)) {
            return joined;
        }
    } while (wait != NULL);
    return SIM_PART_NONE;
}

/* How many tasks wait for each other's end in a cycle through `start`; 0: there is none. */
static uint32_t
cycle_length(const struct sim__reading *reading, uint32_t start)
{
    uint32_t actor = start;
    for (uint32_t length = 1; length <= LISTED; length++) {
        actor = sim__is_left(reading, actor) ? joins(reading, actor) : SIM_PART_NONE;
        if (actor == start) {
            return length;
        }
        if (actor == SIM_PART_NONE) {
            return 0;
        }
    }
    return 0;
}

/* "`a` waits for `b`, which waits for `a`": the first cycle. */
static void
find_cycle(struct sim__reading *reading)
{
    for (uint32_t start = 1; start < reading->actor_table.count; start++) {
        uint32_t length = cycle_length(reading, start);
        uint32_t actor = start;
        if (length == 0) {
            continue;
        }
        SIM_FIND(reading->findings, SIM_FINDING_CYCLE, .other = start);
        for (uint32_t i = 0; i < length; i++) {
            actor = joins(reading, actor);
            SIM_FIND(reading->findings, i == 0 ? SIM_FINDING_CYCLE_FIRST : SIM_FINDING_CYCLE_NEXT,
                    .other = actor);
        }
        SIM_FIND(reading->findings, SIM_FINDING_STOP);
        sim__end(reading, 0);
        return;
    }
}

/* ---- What was tried. ------------------------------------------------------------------------- */

static void
find_loops(struct sim__reading *reading)
{
    uint32_t count = 0;
    for (uint32_t actor = 1; actor < reading->actor_table.count; actor++) {
        if (sim__is_left(reading, actor) && is_own_loop(reading, actor) && ++count <= LISTED) {
            SIM_FIND(reading->findings, count == 1 ? SIM_FINDING_NAME : SIM_FINDING_ALSO,
                    .other = actor);
        }
    }
    if (count > 0) {
        SIM_FIND(reading->findings, count == 1 ? SIM_FINDING_IS_LOOP : SIM_FINDING_ARE_LOOPS);
    }
}

static bool
is_any_left(const struct sim__reading *reading, bool loops)
{
    for (uint32_t actor = 1; actor < reading->actor_table.count; actor++) {
        if (sim__is_left(reading, actor) && is_loop(reading, actor) == loops &&
                !is_idle_loop(reading, actor)) {
            return true;
        }
    }
    return false;
}

static void
find_tried(struct sim__reading *reading, bool tasks, bool loops)
{
    if (tasks || !loops) {
        SIM_FIND(reading->findings, SIM_FINDING_TRIED, .text = loops ? "task" : "blocked task");
    } else {
        SIM_FIND(reading->findings, SIM_FINDING_TRIED_HOST);
    }
    if (reading->progressed) { /* The judge's replays are only why it is called a deadlock. */
        SIM_FIND(reading->findings, SIM_FINDING_TRIED_MORE);
        return;
    }
    SIM_FIND(reading->findings, SIM_FINDING_STOP);
    sim__end(reading, 0);
    find_loops(reading);
}

void
sim__find_deadlock(struct sim__reading *reading)
{
    bool tasks = is_any_left(reading, false);
    bool loops = is_any_left(reading, true);
    SIM_FIND(reading->findings, SIM_FINDING_WHY_DEADLOCK);
    SIM_FIND(reading->findings, tasks || loops ? SIM_FINDING_LIST_FOLLOWS : SIM_FINDING_STOP);
    sim__end(reading, 0);
    sim__find_waits(reading);
    find_cycle(reading);
    find_empty(reading);
    find_tried(reading, tasks, loops);
}

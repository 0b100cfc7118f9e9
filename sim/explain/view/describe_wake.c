/*
 * describe_wake.c -- what became of the waker.
 *
 * Each wake outcome begins with the store, names what happened to the waker with its line, and ends
 * with the step that should have woken. No event says that a clue is the reason.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/record/site.h"
#include "sim/explain/view/describe_priv.h"
#include "sim/explain/view/phrase.h"

#define MOVES_NAMED 3u

/* ---- The store, and the step that should have woken. ----------------------------------------- */

/* "at step 17 (1.2ms) `client` stored its waker for the reply at client.c:41 in wait()" */
static void
find_store(struct sim__reading *reading)
{
    const struct sim_wait *wait = reading->wake_outcome.wait;
    rt_assert(wait != NULL);
    if (wait->unknown != 0) {
        sim__add_wait(reading, SIM_FINDING_STORE_BEFORE, wait);
        return;
    }
    sim__add_wait(reading,
            wait->kind == SIM_WAIT_CLONE ? SIM_FINDING_STORE_CLONE : SIM_FINDING_STORE, wait);
    if (SIM_OBJECT_KIND(wait->whose) == RT_OBJECT_JOIN) {
        sim__add_wait(reading, SIM_FINDING_STORE_CHILD, wait);
    }
    if (wait->kept > 0) {
        SIM_FIND(reading->findings, SIM_FINDING_STORE_KEPT,
                .text = wait->kept == 1 ? "once" : "many times");
    }
}

/* A line outside the runtime and what binds it to the world. */
static bool
is_users_line(uint32_t site)
{
    const struct rt_site *place = sim_site_find(site);
    return place != NULL && strncmp(place->file, "runtime/", 8) != 0 &&
           strncmp(place->file, "sim/bind/", 9) != 0;
}

/* The last line of the user's in the step that should have woken. After the poll come the
 * runtime's. */
static void
find_last_line(struct sim__reading *reading)
{
    uint64_t found = SIM_EVENT_NONE;
    for (uint64_t i = reading->wake_outcome.owed; i < reading->wake_outcome.horizon; i++) {
        const struct sim_event *event = sim__event(reading, i);
        if (event->step != reading->outcome->missing_wake_step || event->kind == RT_PROBE_POLLED) {
            break;
        }
        if (is_users_line(event->await)) {
            found = i;
        }
    }
    if (found != SIM_EVENT_NONE) {
        sim__add_event(reading, SIM_FINDING_WAKE_DUE_LINE, found);
    }
}

static bool
is_own_step(const struct sim__reading *reading, uint64_t step)
{
    return sim_phrase_whose_step(&reading->actor_table, step) == reading->wake_outcome.part;
}

/* Which step should have woken it; of one of its own all is said. */
static void
find_due(struct sim__reading *reading)
{
    uint64_t step = reading->outcome->missing_wake_step;
    uint64_t root_cause = reading->wake_outcome.root_cause;
    if (reading->wake_outcome.owed == SIM_EVENT_NONE || is_own_step(reading, step)) {
        return;
    }
    if (root_cause != SIM_EVENT_NONE && sim__step_of(reading, root_cause) == step) {
        SIM_FIND(reading->findings, SIM_FINDING_WAKE_DUE_THERE);
        return;
    }
    SIM_FIND(reading->findings, SIM_FINDING_WAKE_DUE, .step = step);
    find_last_line(reading);
}

/* ---- Clues. ---------------------------------------------------------------------------------- */

/* True when `wait` was there at the event `at`. */
static bool
was_open(const struct sim_wait *wait, uint64_t at)
{
    return wait->store_event < at && (wait->end_event == SIM_EVENT_NONE || wait->end_event > at);
}

/* Its owner's first poll after the last that touched `wait`, before `until`; SIM_EVENT_NONE. */
static uint64_t
poll_after(const struct sim__reading *reading, const struct sim_wait *wait, uint64_t until)
{
    uint64_t stored = wait->keep_event != SIM_EVENT_NONE ? wait->keep_event : wait->store_event;
    uint64_t step = sim__step_of(reading, stored);
    for (uint64_t i = stored; i < until; i++) {
        const struct sim_event *event = sim__event(reading, i);
        if (event->kind == RT_PROBE_POLL && event->step > step &&
                sim_actor_table_part_of(&reading->actor_table, i) == wait->part) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* The waker was still stored at `until`, but its owner waited elsewhere by then: " `consumer A`
 * continued at step 7 (1us), left it there, and then waited for sleep (timer 1)." */
static void
find_left_behind(struct sim__reading *reading, const struct sim_wait *wait, uint64_t until)
{
    uint64_t poll = poll_after(reading, wait, until);
    for (uint32_t i = 0; i < reading->ledger.count && poll != SIM_EVENT_NONE; i++) {
        const struct sim_wait *now = &reading->ledger.waits[i];
        if (now->part == wait->part && now->kind == SIM_WAIT_SLOT && now->object != wait->object &&
                now->store_event >= poll && was_open(now, until)) {
            struct sim_finding finding = {.kind = SIM_FINDING_CONTINUED,
                    .other = wait->part,
                    .step = sim__step_of(reading, poll),
                    .wait = now};
            sim_findings_add(reading->findings, finding);
            return;
        }
    }
}

/* The first moves, by others, of the timer that is waited for. */
static void
find_moves(struct sim__reading *reading)
{
    const struct sim_wait *wait = reading->wake_outcome.wait;
    const struct sim_moves *moves = &reading->actor_table.moves;
    uint32_t named = 0;
    for (uint64_t i = 0; i < moves->count; i++) {
        uint64_t at = moves->moves[i].event;
        if (at < wait->store_event || at >= reading->wake_outcome.horizon ||
                sim__event(reading, at)->object != wait->object ||
                sim_actor_table_part_of(&reading->actor_table, at) == wait->part) {
            continue;
        }
        if (named++ == MOVES_NAMED) {
            SIM_FIND(reading->findings, SIM_FINDING_AND_SO_ON);
            return;
        }
        sim__add_event(reading, SIM_FINDING_MOVED_TIMER, at);
        struct sim_finding *added = sim_findings_last(reading->findings);
        added->limit = moves->moves[i].from_ns;
        added->number = sim__event(reading, at)->argument;
    }
}

/* ---- Outcomes. ------------------------------------------------------------------------------- */

static void
find_never_stored(struct sim__reading *reading)
{
    SIM_FIND(reading->findings, SIM_FINDING_WAKE_NOT_STORED,
            .step = sim__step_of(reading, reading->wake_outcome.poll));
}

static void
find_never_fired(struct sim__reading *reading)
{
    bool late = reading->outcome->verdict == SIM_VERDICT_LATE_WAKEUP;
    find_store(reading);
    SIM_FIND(reading->findings,
            late ? SIM_FINDING_WAKE_STILL_THERE_LATE : SIM_FINDING_WAKE_STILL_THERE);
    find_moves(reading);
    find_due(reading);
}

static void
find_too_early(struct sim__reading *reading)
{
    uint64_t root_cause = reading->wake_outcome.root_cause;
    find_store(reading);
    if (root_cause != SIM_EVENT_NONE) {
        sim__add_event(reading, SIM_FINDING_WAKE_EARLY, root_cause);
    } else {
        SIM_FIND(reading->findings, SIM_FINDING_WAKE_EARLY_UNSEEN);
    }
}

static void
find_fired_other(struct sim__reading *reading)
{
    const struct sim_wake_outcome *wake_outcome = &reading->wake_outcome;
    if (wake_outcome->wait != NULL) {
        find_store(reading);
        SIM_FIND(reading->findings, SIM_FINDING_WAKE_STORED_BUT);
    } else {
        SIM_FIND(reading->findings, SIM_FINDING_WAKE_NONE_STORED);
    }
    sim__add_event(reading, SIM_FINDING_WAKE_FIRED, wake_outcome->root_cause);
    if (wake_outcome->other != NULL) {
        sim__add_wait(reading, SIM_FINDING_WAKE_OF_OTHER, wake_outcome->other);
        find_left_behind(reading, wake_outcome->other, wake_outcome->root_cause);
    } else {
        SIM_FIND(reading->findings, SIM_FINDING_WAKE_OF_UNKNOWN);
    }
}

/* The first event of `kind` that is of `actor`, after `after`; SIM_EVENT_NONE. */
static uint64_t
next_of(const struct sim__reading *reading, uint32_t kind, uint32_t actor, uint64_t after)
{
    for (uint64_t i = after + 1; i < reading->actor_table.end; i++) {
        if (sim__event(reading, i)->kind == kind &&
                sim_actor_table_part_of(&reading->actor_table, i) == actor) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* The loop in whose step the blocked task was polled last; SIM_PART_NONE: in its own. */
static uint32_t
poller_of(const struct sim__reading *reading)
{
    const struct sim_actor_table *actor_table = &reading->actor_table;
    uint64_t poll = reading->wake_outcome.poll;
    uint64_t first = poll != SIM_EVENT_NONE
                             ? sim_actor_table_step_first(actor_table, sim__step_of(reading, poll))
                             : SIM_EVENT_NONE;
    uint32_t actor = first != SIM_EVENT_NONE
                             ? sim_actor_table_actor(actor_table, sim__event(reading, first)->actor)
                             : SIM_PART_NONE;
    bool loop = actor != SIM_PART_NONE && actor != reading->wake_outcome.part &&
                actor_table->parts[actor].kind == SIM_ACTOR_LOOP;
    return loop ? actor : SIM_PART_NONE;
}

/* Which loop had the wake last, and what it did instead of the poll. */
static void
find_poller(struct sim__reading *reading, uint32_t poller)
{
    uint64_t block = poller != SIM_PART_NONE ? next_of(reading, SIM_EVENT_BLOCK, poller,
                                                       reading->wake_outcome.root_cause)
                                             : SIM_EVENT_NONE;
    if (poller == SIM_PART_NONE) {
        SIM_FIND(reading->findings, SIM_FINDING_WAKE_QUEUE_LOST);
        return;
    }
    SIM_FIND(reading->findings, SIM_FINDING_WAKE_LOOP_LOST, .other = poller);
    if (block != SIM_EVENT_NONE && block < reading->wake_outcome.horizon) {
        sim__add_event(reading, SIM_FINDING_WAKE_LOOP_BLOCKED, block);
    }
    SIM_FIND(reading->findings, SIM_FINDING_STOP);
}

static void
find_not_polled(struct sim__reading *reading)
{
    uint64_t root_cause = reading->wake_outcome.root_cause;
    const struct sim_event *wake = sim__event(reading, root_cause);
    uint64_t poll = next_of(reading, RT_PROBE_POLL, reading->wake_outcome.part, root_cause);
    uint32_t poller = poller_of(reading);
    bool itself = sim_actor_table_part_of(&reading->actor_table, root_cause) ==
                  reading->wake_outcome.part;
    sim__add_event(reading, itself ? SIM_FINDING_WAKE_ITSELF : SIM_FINDING_WAKE_SENT, root_cause);
    if (wake->argument == 1 || wake->argument == 2) {
        SIM_FIND(reading->findings,
                wake->argument == 2 ? SIM_FINDING_WAKE_IN_POLL : SIM_FINDING_WAKE_TAKEN_FOR_QUEUED);
    } else if (poller == SIM_PART_NONE) {
        SIM_FIND(reading->findings, SIM_FINDING_WAKE_QUEUED);
    }
    if (poll != SIM_EVENT_NONE) {
        sim__add_event(reading, SIM_FINDING_WAKE_POLLED_LATE, poll);
    } else {
        SIM_FIND(reading->findings, SIM_FINDING_WAKE_NOT_POLLED);
    }
    find_poller(reading, poller);
}

/* A loop has no wakers; it blocks in the host, and is notified, or is not. True: a wake is due. */
static bool
find_blocked(struct sim__reading *reading, uint64_t block)
{
    uint64_t due = reading->outcome->missing_wake_step;
    uint64_t step = sim__step_of(reading, block);
    sim__add_event(reading, SIM_FINDING_BEGAN_TO_WAIT, block);
    SIM_FIND(reading->findings,
            due != 0 && due <= step ? SIM_FINDING_NOT_NOTIFIED_BEFORE : SIM_FINDING_NOT_NOTIFIED);
    return due > step;
}

static bool
find_unknown(struct sim__reading *reading)
{
    const struct sim_wake_outcome *wake_outcome = &reading->wake_outcome;
    uint64_t block = wake_outcome->part != SIM_PART_NONE
                             ? sim_actor_table_blocked(&reading->actor_table, wake_outcome->part,
                                       wake_outcome->horizon)
                             : SIM_EVENT_NONE;
    if (wake_outcome->wait != NULL) {
        find_store(reading);
        SIM_FIND(reading->findings, SIM_FINDING_WAKE_UNKNOWN);
    } else if (block != SIM_EVENT_NONE) {
        return find_blocked(reading, block);
    } else {
        SIM_FIND(reading->findings, SIM_FINDING_WAKER_UNKNOWN);
    }
    return true;
}

/* The others: the store, and the event in which the wake went missing. */
static void
find_at_root_cause(struct sim__reading *reading)
{
    static const enum sim_finding_kind kinds[SIM_WAKE_OUTCOMES] = {
            [SIM_WAKE_OUTCOME_REPLACED] = SIM_FINDING_WAKE_REPLACED,
            [SIM_WAKE_OUTCOME_ERASED] = SIM_FINDING_WAKE_ERASED,
            [SIM_WAKE_OUTCOME_DROPPED] = SIM_FINDING_WAKE_DROPPED,
            [SIM_WAKE_OUTCOME_FIRED_DEAD] = SIM_FINDING_WAKE_DEAD,
            [SIM_WAKE_OUTCOME_STOPPED] = SIM_FINDING_WAKE_STOPPED,
            [SIM_WAKE_OUTCOME_NOT_PASSED_ON] = SIM_FINDING_WAKE_NOT_PASSED_ON,
    };
    const struct sim_wake_outcome *wake_outcome = &reading->wake_outcome;
    rt_assert(kinds[wake_outcome->kind] != SIM_FINDING_END);
    rt_assert(wake_outcome->root_cause != SIM_EVENT_NONE);
    find_store(reading);
    sim__add_event(reading, kinds[wake_outcome->kind], wake_outcome->root_cause);
}

void
sim__find_wake(struct sim__reading *reading)
{
    const struct sim_wake_outcome *wake_outcome = &reading->wake_outcome;
    rt_assert(wake_outcome->kind < SIM_WAKE_OUTCOMES);
    bool due = true;
    switch ((enum sim_wake_outcome_kind)wake_outcome->kind) {
    case SIM_WAKE_OUTCOME_UNKNOWN:
        due = find_unknown(reading);
        break;
    case SIM_WAKE_OUTCOME_NEVER_STORED:
        find_never_stored(reading);
        break;
    case SIM_WAKE_OUTCOME_NEVER_FIRED: /* The clues come after the step. */
        find_never_fired(reading);
        due = false;
        break;
    case SIM_WAKE_OUTCOME_TOO_EARLY:
        find_too_early(reading);
        break;
    case SIM_WAKE_OUTCOME_FIRED_OTHER:
        find_fired_other(reading);
        break;
    case SIM_WAKE_OUTCOME_NOT_POLLED:
        find_not_polled(reading);
        due = sim__step_of(reading, wake_outcome->root_cause) !=
              reading->outcome->missing_wake_step;
        break;
    case SIM_WAKE_OUTCOME_REPLACED:
    case SIM_WAKE_OUTCOME_ERASED:
    case SIM_WAKE_OUTCOME_DROPPED:
    case SIM_WAKE_OUTCOME_FIRED_DEAD:
    case SIM_WAKE_OUTCOME_STOPPED:
    case SIM_WAKE_OUTCOME_NOT_PASSED_ON:
    case SIM_WAKE_OUTCOMES:
        find_at_root_cause(reading);
        break;
    }
    if (due) {
        find_due(reading);
    }
}

/*
 * rest.c -- no task can make progress, whichever is polled: what was never done, or undone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/priv.h"

#include <string.h>

#include "runtime/base/assert.h"

/* The wait of the passing run like `wait`: of the same actor, at the same line, the n-th alike. */
static const struct sim_wait *
its_like(const struct sim_evidence *evidence, const struct sim_wait *wait)
{
    rt_assert(evidence->passing != NULL);
    rt_assert(wait->end == SIM_WAIT_OPEN);
    const struct sim_ledger *passing = evidence->passing;
    for (uint32_t i = 0; i < passing->count; i++) {
        const struct sim_wait *like = &passing->waits[i];
        if (like->kind == wait->kind && like->await == wait->await && like->site == wait->site &&
                like->number == wait->number && like->end == SIM_WAIT_FIRED &&
                sim__same_name(passing->actor_table, like->part, evidence->ledger->actor_table,
                        wait->part)) {
            return like;
        }
    }
    return NULL;
}

/* The actor of the passing run is blocked in the failing one. */
static bool
is_blocked_here(const struct sim_evidence *evidence, uint32_t passing_part)
{
    rt_assert(evidence->passing != NULL);
    rt_assert(passing_part < evidence->passing->actor_table->count);
    const struct sim_ledger *ledger = evidence->ledger;
    for (uint32_t i = 0; i < ledger->count; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        if (wait->end == SIM_WAIT_OPEN && !ledger->actor_table->parts[wait->part].finished &&
                sim__same_name(ledger->actor_table, wait->part, evidence->passing->actor_table,
                        passing_part)) {
            return true;
        }
    }
    return false;
}

/* The actor that wakes it in the passing run does not in this one, and is not blocked. */
static bool
add_waker(const struct sim_evidence *evidence, const struct sim_wait *wait, struct sim_cause *cause)
{
    rt_assert(wait->kind == SIM_WAIT_SLOT);
    rt_assert(cause->at_count < SIM_CAUSE_CALLS);
    const struct sim_wait *like = its_like(evidence, wait);
    if (like == NULL || like->end_event == SIM_EVENT_NONE) {
        return false;
    }
    const struct sim_actor_table *actor_table = evidence->passing->actor_table;
    const struct sim_event *event = sim_actor_table_event(actor_table, like->end_event);
    uint32_t part = sim_actor_table_part_of(actor_table, like->end_event);
    if (SIM_OBJECT_KIND(like->object) == RT_OBJECT_TIMER || is_blocked_here(evidence, part)) {
        return false;
    }
    sim__cause_add_site(cause, event->await, event->step, part);
    sim__cause_add_site(cause, event->site, event->step, part);
    return cause->at_count > 0;
}

/* The n-th time that the loop `part` blocks: its event; SIM_EVENT_NONE. */
static uint64_t
nth_block(const struct sim_actor_table *actor_table, uint32_t part, uint32_t nth)
{
    rt_assert(part < actor_table->count);
    uint32_t seen = 0;
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        if (sim_actor_table_event(actor_table, i)->kind == SIM_EVENT_BLOCK &&
                sim_actor_table_part_of(actor_table, i) == part && ++seen == nth) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

static uint32_t
blocks(const struct sim_actor_table *actor_table, uint32_t part)
{
    rt_assert(part < actor_table->count);
    uint32_t count = 0;
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        count += sim_actor_table_event(actor_table, i)->kind == SIM_EVENT_BLOCK &&
                 sim_actor_table_part_of(actor_table, i) == part;
    }
    return count;
}

/* The poll that began at `block` has come back, and had found nothing: its time was up. */
static bool
ended_by_time(const struct sim_actor_table *actor_table, uint32_t part, uint64_t block)
{
    rt_assert(part < actor_table->count);
    rt_assert(block < actor_table->end);
    for (uint64_t i = block; i < actor_table->end; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->kind == SIM_EVENT_UNBLOCK && sim_actor_table_part_of(actor_table, i) == part) {
            return event->argument == 0;
        }
    }
    return false;
}

/* A task is blocked in it. */
static bool
is_open_in_slot(const struct sim_ledger *ledger, const struct sim_wait *wait)
{
    rt_assert(wait->part < ledger->actor_table->count);
    return wait->end == SIM_WAIT_OPEN && wait->kind == SIM_WAIT_SLOT &&
           !ledger->actor_table->parts[wait->part].finished;
}

/* Something that the blocked task queues for was given back, or destroyed, and the queue was not
 * notified. */
static bool
find_given_back(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(evidence->ledger != NULL);
    const struct sim_ledger *ledger = evidence->ledger;
    const struct sim_actor_table *actor_table = ledger->actor_table;
    for (uint32_t k = 0; k < ledger->count; k++) {
        const struct sim_wait *wait = &ledger->waits[k];
        bool blocked = is_open_in_slot(ledger, wait) && wait->object != 0;
        for (uint64_t i = wait->store_event; blocked && i < evidence->wake_outcome->horizon; i++) {
            const struct sim_event *event = sim_actor_table_event(actor_table, i);
            if (event->object == wait->object &&
                    (event->kind == RT_PROBE_UNGRANT || event->kind == RT_PROBE_DESTROY)) {
                cause->kind = SIM_CAUSE_NEVER_FIRED;
                sim__cause_add_event(evidence, cause, i);
                return cause->at_count > 0;
            }
        }
    }
    return false;
}

/* What the blocked task executed in its last step, which is on no stack with the rest. */
static void
add_last_step(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count <= SIM_CAUSE_CALLS);
    uint32_t before = cause->at_count;
    sim__cause_add_trace(evidence, cause, 0);
    for (uint32_t i = before; i < cause->at_count; i++) {
        cause->at[i].traced = true;
    }
}

static bool
find_by_passing(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count == 0);
    const struct sim_ledger *ledger = evidence->ledger;
    bool found = false;
    for (uint32_t own = 0; own < 2 && evidence->passing != NULL; own++) {
        for (uint32_t i = 0; i < ledger->count && !found; i++) {
            const struct sim_wait *wait = &ledger->waits[i];
            /* What is written to a descriptor is there until it is read. */
            if (is_open_in_slot(ledger, wait) &&
                    SIM_OBJECT_KIND(wait->object) != RT_OBJECT_SOURCE &&
                    (wait->part == evidence->wake_outcome->part) == (own == 0)) {
                found = add_waker(evidence, wait, cause);
            }
        }
    }
    if (found) {
        cause->kind = SIM_CAUSE_NEVER_FIRED;
        cause->by_passing = true;
        add_last_step(evidence, cause);
    }
    return found;
}

/* ---- What the blocked task would make progress with. ----------------------------------------- */

static uint32_t
part_of_step(const struct sim_actor_table *actor_table, uint64_t step)
{
    rt_assert(actor_table != NULL);
    uint64_t first = sim_actor_table_step_first(actor_table, step);
    return first != SIM_EVENT_NONE && first < actor_table->end
                   ? sim_actor_table_part_of(actor_table, first)
                   : SIM_PART_NONE;
}

static void
add_stop(const struct sim_evidence *evidence, struct sim_cause *cause,
        const struct sim_walk_stop *stop, uint64_t step)
{
    rt_assert(cause->at_count <= SIM_CAUSE_CALLS);
    const struct sim_actor_table *actor_table =
            cause->by_counterfactual == SIM_COUNTERFACTUAL_ELSEWHERE
                    ? evidence->passing->actor_table
                    : evidence->ledger->actor_table;
    uint32_t frames = stop->frame_count <= SIM_WALK_FRAMES ? stop->frame_count : 0;
    sim__cause_add_frames(
            evidence, cause, stop->frames, frames, false, step, part_of_step(actor_table, step));
}

/* The last wake that reached no task, out of those that the blocked task's waits ended with before
 * it fell blocked; SIM_EVENT_NONE. */
static uint64_t
dropped_wake_of(const struct sim_evidence *evidence, uint32_t part)
{
    rt_assert(evidence->counterfactual != NULL);
    const struct sim_ledger *ledger = evidence->ledger;
    uint64_t found = SIM_EVENT_NONE;
    for (uint32_t i = 0; i < ledger->count; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        if (wait->part == part && wait->end == SIM_WAIT_FIRED && wait->wake == SIM_WAKE_NONE &&
                wait->end_step <= evidence->counterfactual->step &&
                (found == SIM_EVENT_NONE || wait->end_event > found)) {
            found = wait->end_event;
        }
    }
    return found;
}

/* The last step in which its host reported `object` (0: anything) to the loop, later than in
 * `after`; 0: in none. */
static uint64_t
reported_step(const struct sim_evidence *evidence, uint32_t object, uint64_t after)
{
    rt_assert(evidence->counterfactual != NULL);
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    uint32_t part = sim_actor_table_actor(actor_table, evidence->counterfactual->actor);
    uint64_t step = 0;
    for (uint64_t i = actor_table->first; i < evidence->wake_outcome->horizon; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->kind == SIM_EVENT_REPORT && event->step > after &&
                sim_actor_table_part_of(actor_table, i) == part &&
                (object == 0 || event->object == object)) {
            step = event->step;
        }
    }
    return step;
}

uint64_t
sim_cause_reported(const struct sim_evidence *evidence)
{
    rt_assert(evidence->ledger != NULL);
    const struct sim_counterfactual *counterfactual = evidence->counterfactual;
    if (counterfactual == NULL || counterfactual->kind == SIM_COUNTERFACTUAL_NONE) {
        return 0;
    }
    if (counterfactual->kind == SIM_COUNTERFACTUAL_NOT_REARMED) {
        return reported_step(evidence, counterfactual->silence.object, 0);
    }
    bool arrived =
            counterfactual->kind == SIM_COUNTERFACTUAL_DROPPED && counterfactual->arrival_step != 0;
    return arrived ? reported_step(evidence, 0, counterfactual->arrival_step) : 0;
}

/* After one report it does not ask again: the functions that it executed at the report, the first
 * one first. */
static void
add_not_rearmed(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(evidence->counterfactual != NULL);
    struct sim_walked walked[SIM_PATH_FUNCTIONS];
    uint32_t part =
            sim_actor_table_actor(evidence->ledger->actor_table, evidence->counterfactual->actor);
    uint32_t count = evidence->here != NULL
                             ? sim_path_functions(evidence->places, &evidence->here->path, walked)
                             : 0;
    cause->kind = SIM_CAUSE_NEVER_STORED;
    for (uint32_t k = 0; k < count && cause->at_count < SIM_CAUSE_CALLS; k++) {
        const struct sim_walked *next = NULL;
        for (uint32_t i = 0; i < count; i++) {
            bool fits = walked[i].entered != UINT32_MAX &&
                        !sim_place_is_runtime(&walked[i].place) &&
                        !sim__cause_names(cause, &walked[i].place);
            next = fits && (next == NULL || walked[i].entered < next->entered) ? &walked[i] : next;
        }
        if (next != NULL) {
            cause->at[cause->at_count++] = (struct sim_location){
                    .place = next->place, .step = sim_cause_reported(evidence), .part = part};
        }
    }
}

/* What arrived was reported, and ignored: the functions that it executed then. */
static void
add_left(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(evidence->counterfactual->arrival_step != 0);
    struct sim_cause writer = {.kind = SIM_CAUSE_NEVER_FIRED};
    add_stop(evidence, &writer, &evidence->counterfactual->writer,
            evidence->counterfactual->arrival_step);
    if (writer.at_count > 0) {
        add_not_rearmed(evidence, cause);
        cause->before = writer.at[0];
        cause->by_look = cause->at_count > 0;
    }
}

/* No waker is known; but what wrote the awaited word is. */
static void
add_arrived_early(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count == 0);
    const struct sim_counterfactual *counterfactual = evidence->counterfactual;
    if (counterfactual->arrival_step != 0) {
        add_stop(evidence, cause, &counterfactual->writer, counterfactual->arrival_step);
        cause->by_word = cause->at_count > 0;
        cause->kind = cause->at_count > 0 ? SIM_CAUSE_FIRED_EARLY : cause->kind;
        sim__cause_blocked_at(evidence, cause);
    }
}

static void
add_dropped(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(evidence->counterfactual->kind == SIM_COUNTERFACTUAL_DROPPED);
    rt_assert(cause->at_count == 0);
    uint32_t part =
            sim_actor_table_actor(evidence->ledger->actor_table, evidence->counterfactual->actor);
    cause->kind = SIM_CAUSE_COALESCED;
    sim__cause_add_event(evidence, cause, dropped_wake_of(evidence, part));
    if (cause->at_count == 0 && sim_cause_reported(evidence) != 0) {
        add_left(evidence, cause);
    }
    if (cause->at_count == 0) {
        add_arrived_early(evidence, cause);
    }
}

static const struct sim_walked *
walked_as(const struct sim_walked *walked, uint32_t count, const struct sim_place *place)
{
    rt_assert(count <= SIM_PATH_FUNCTIONS);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(walked[i].place.function, place->function) == 0) {
            return &walked[i];
        }
    }
    return NULL;
}

/* Of the functions that were over when at[0] was entered, and not when at[1], which calls it, was:
 * the last one. */
static void
find_prior(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count <= SIM_CAUSE_CALLS);
    struct sim_walked walked[SIM_PATH_FUNCTIONS];
    if (evidence->over == NULL || cause->at_count < 2) {
        return;
    }
    uint32_t count = sim_path_functions(evidence->places, &evidence->over->path, walked);
    const struct sim_walked *eraser = walked_as(walked, count, &cause->at[0].place);
    const struct sim_walked *caller = walked_as(walked, count, &cause->at[1].place);
    const struct sim_walked *prior = NULL;
    /* Arguments are made ready before the call. */
    uint32_t begins = eraser == NULL                  ? 0
                      : eraser->entered != UINT32_MAX ? eraser->entered
                                                      : eraser->first;
    for (uint32_t i = 0; i < count && eraser != NULL && caller != NULL; i++) {
        bool between = walked[i].first > caller->first && walked[i].last < begins &&
                       !sim_place_is_runtime(&walked[i].place);
        prior = between && (prior == NULL || walked[i].last > prior->last) ? &walked[i] : prior;
    }
    if (prior != NULL) {
        cause->prior = (struct sim_location){
                .place = prior->place, .step = cause->at[0].step, .part = cause->at[0].part};
    }
}

/* The writer is what arrived, the eraser what became of it. */
static void
add_lost(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(evidence->counterfactual->kind == SIM_COUNTERFACTUAL_LOST);
    const struct sim_counterfactual *counterfactual = evidence->counterfactual;
    struct sim_cause writer = {.by_counterfactual = SIM_COUNTERFACTUAL_LOST};
    cause->kind = SIM_CAUSE_ERASED;
    add_stop(evidence, cause, &counterfactual->eraser, counterfactual->lost_step);
    add_stop(evidence, &writer, &counterfactual->writer, counterfactual->step);
    cause->before = writer.at[0];
    find_prior(evidence, cause);
}

bool
sim_cause_order(const struct sim_evidence *evidence, const struct sim_cause *cause,
        struct sim_location *ret_first, struct sim_location *ret_second)
{
    rt_assert(ret_first != NULL);
    rt_assert(ret_second != NULL);
    struct sim_cause writer = {.by_counterfactual = SIM_COUNTERFACTUAL_LOST};
    if (cause->by_counterfactual == SIM_COUNTERFACTUAL_LOST) {
        add_stop(evidence, &writer, &evidence->counterfactual->writer,
                evidence->counterfactual->step);
    } else if (!cause->wiped || sim__cause_add_arrived(evidence, &writer) == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < cause->at_count && writer.at_count > 0; i++) {
        if (!sim__cause_names(&writer, &cause->at[i].place)) {
            *ret_first = writer.at[0];
            *ret_second = cause->at[i];
            return true;
        }
    }
    return false;
}

/* ---- A task that was woken, and that its loop does not poll. --------------------------------- */

/* Where the loop read what was made ready for that wake; SIM_EVENT_NONE. */
static uint64_t
notification_read(const struct sim_evidence *evidence, uint32_t loop)
{
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    uint64_t wake = evidence->wake_outcome->root_cause;
    uint32_t ready = 0;
    rt_assert(wake != SIM_EVENT_NONE);
    for (uint64_t i = wake; i < evidence->wake_outcome->horizon; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        bool same = event->step == sim_actor_table_event(actor_table, wake)->step;
        if (event->kind == SIM_EVENT_READY && same && ready == 0) {
            ready = event->object;
        } else if (event->kind == SIM_EVENT_READ && event->object == ready && ready != 0 &&
                   sim_actor_table_part_of(actor_table, i) == loop) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

bool
sim__cause_unpolled(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    const struct sim_counterfactual *counterfactual = evidence->counterfactual;
    struct sim_cause wake = {.kind = SIM_CAUSE_COALESCED};
    struct sim_cause found = *cause;
    rt_assert(cause->at_count == 0);
    if (counterfactual == NULL || (counterfactual->kind != SIM_COUNTERFACTUAL_LOST &&
                                          counterfactual->kind != SIM_COUNTERFACTUAL_DROPPED)) {
        return false;
    }
    found.by_counterfactual = counterfactual->kind;
    found.loop = sim_actor_table_actor(evidence->ledger->actor_table, counterfactual->actor);
    found.unpolled = true;
    if (counterfactual->kind == SIM_COUNTERFACTUAL_LOST) {
        add_lost(evidence, &found);
    } else {
        found.kind = SIM_CAUSE_COALESCED;
        sim__cause_add_event(evidence, &wake, evidence->wake_outcome->root_cause);
        found.before = wake.at[0];
        sim__cause_add_event(evidence, &found, notification_read(evidence, found.loop));
        found.taken = found.at_count > 0;
        if (evidence->here != NULL) {
            add_stop(evidence, &found, &evidence->here->path.blocked, counterfactual->step);
        }
    }
    if (found.at_count > 0) {
        *cause = found;
    }
    return found.at_count > 0;
}

/* ---- Which actor would have done it. --------------------------------------------------------- */

/* The last wake of another task in the responsible function: it was given there what the blocked
 * task waits for. NULL: none was. */
static const struct sim_wait *
find_given(const struct sim_evidence *evidence, const struct sim_cause *cause,
        struct sim_location *ret_given)
{
    rt_assert(cause->at_count <= SIM_CAUSE_CALLS);
    const struct sim_ledger *ledger = evidence->ledger;
    const struct sim_wait *last = NULL;
    for (uint32_t i = 0; i < ledger->count && cause->at_count > 0; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        struct sim_cause fired = {.kind = SIM_CAUSE_NEVER_FIRED};
        if (wait->end != SIM_WAIT_FIRED || wait->part == evidence->wake_outcome->part ||
                wait->ender == wait->part || SIM_OBJECT_KIND(wait->object) == RT_OBJECT_TIMER ||
                (last != NULL && wait->end_event < last->end_event)) {
            continue;
        }
        sim__cause_add_event(evidence, &fired, wait->end_event);
        if (fired.at_count > 0 &&
                strcmp(fired.at[0].place.function, cause->at[0].place.function) == 0) {
            last = wait;
            *ret_given = fired.at[0];
        }
    }
    return last;
}

uint32_t
sim_cause_taker(const struct sim_evidence *evidence, uint64_t *ret_step)
{
    rt_assert(ret_step != NULL);
    rt_assert(evidence->ledger != NULL);
    struct sim_cause due = {.by_counterfactual = SIM_COUNTERFACTUAL_ELSEWHERE};
    struct sim_location given;
    if (evidence->counterfactual == NULL ||
            evidence->counterfactual->kind != SIM_COUNTERFACTUAL_ELSEWHERE) {
        return SIM_PART_NONE;
    }
    add_stop(evidence, &due, &evidence->counterfactual->writer, evidence->counterfactual->step);
    const struct sim_wait *wait = find_given(evidence, &due, &given);
    if (wait == NULL) {
        return SIM_PART_NONE;
    }
    *ret_step = wait->end_step;
    return wait->part;
}

/* Adds functions of a trace; those that are in `cause` already are where it is done. What was
 * entered last is first: its callers return later, and say less. */
static void
add_walked(const struct sim_evidence *evidence, const struct sim_cause *cause,
        struct sim_walked *walked, uint32_t count, struct sim_cause *lost)
{
    rt_assert(count <= SIM_PATH_FUNCTIONS);
    rt_assert(evidence->here != NULL);
    uint32_t part = sim_actor_table_of_id(evidence->ledger->actor_table, evidence->here->actor_id);
    while (lost->at_count < SIM_CAUSE_CALLS / 4) {
        struct sim_walked *next = NULL;
        for (uint32_t i = 0; i < count; i++) {
            bool entered = walked[i].entered != UINT32_MAX && walked[i].last != 0;
            if (entered && !sim__cause_names(cause, &walked[i].place) &&
                    (next == NULL || walked[i].entered > next->entered)) {
                next = &walked[i];
            }
        }
        if (next == NULL) {
            return;
        }
        lost->at[lost->at_count++] = (struct sim_location){.place = next->place,
                .step = sim_trace_step(evidence->here, next->last),
                .part = part};
        next->last = 0;
    }
}

/* The functions of the trace here, without those of the runtime, which come last. */
static uint32_t
own_functions(const struct sim_evidence *evidence, struct sim_walked *ret)
{
    rt_assert(evidence->here != NULL);
    uint32_t count = sim_path_functions(evidence->places, &evidence->here->path, ret);
    while (count > 0 && sim_place_is_runtime(&ret[count - 1].place)) {
        count--;
    }
    return count;
}

/* Appends the places of `more`, as far as there is space. */
static void
append(struct sim_cause *cause, const struct sim_cause *more)
{
    rt_assert(more->at_count <= SIM_CAUSE_CALLS);
    for (uint32_t i = 0; i < more->at_count && cause->at_count < SIM_CAUSE_CALLS; i++) {
        cause->at[cause->at_count++] = more->at[i];
    }
}

/* Before where it is done: what the actor that was given it, or would do it, executes here; if
 * there is such, what in this run alone. */
static void
add_traced(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->lost_count == 0);
    struct sim_walked walked[SIM_PATH_FUNCTIONS];
    if (evidence->here == NULL || evidence->there == NULL) {
        return;
    }
    bool taken = find_given(evidence, cause, &cause->given) != NULL;
    struct sim_cause lost = *cause;
    lost.at_count = 0;
    uint32_t count = sim_trace_only(evidence->places, evidence->here, evidence->there, walked);
    add_walked(evidence, cause, walked, count, &lost);
    lost.lost_only = lost.at_count > 0;
    if (!lost.lost_only && taken) {
        count = own_functions(evidence, walked);
        add_walked(evidence, cause, walked, count, &lost);
    }
    lost.lost_count = lost.at_count;
    append(&lost, cause);
    *cause = lost;
}

/* A waker found a flag that says that the wake is done: what it executes. */
static void
add_away(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(evidence->counterfactual->away_step != 0);
    rt_assert(cause->lost_count == 0);
    struct sim_walked walked[SIM_PATH_FUNCTIONS];
    struct sim_cause away = *cause;
    if (evidence->here == NULL || evidence->here->actor_id != evidence->counterfactual->away_id) {
        return;
    }
    uint32_t count = own_functions(evidence, walked);
    away.at_count = 0;
    add_walked(evidence, cause, walked, count, &away);
    away.lost_count = away.at_count;
    away.kind = SIM_CAUSE_COALESCED;
    append(&away, cause);
    if (away.lost_count > 0) {
        *cause = away;
    }
}

/* A loop asks its host for less than in the run that passes: the call that it makes there alone. */
static bool
find_unregistered(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count == 0);
    if (evidence->here == NULL || evidence->there == NULL ||
            sim_actor_table_of_id(evidence->ledger->actor_table, evidence->here->actor_id) !=
                    evidence->wake_outcome->part) {
        return false;
    }
    const struct sim_walk_stop *call =
            sim_trace_only_call(evidence->places, evidence->there, evidence->here);
    if (call != NULL && call->frame_count <= SIM_WALK_FRAMES) {
        sim__cause_add_frames(evidence, cause, call->frames, call->frame_count, false,
                sim_trace_step(evidence->there, UINT32_MAX), evidence->wake_outcome->part);
    }
    cause->by_call = cause->at_count > 0;
    cause->kind = cause->by_call ? SIM_CAUSE_NEVER_STORED : cause->kind;
    if (cause->by_call) {
        add_last_step(evidence, cause);
    }
    return cause->by_call;
}

/* What the loop executed since the two runs part: its last step may be the blocking alone. */
static void
add_turn(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count <= SIM_CAUSE_CALLS);
    struct sim_walked walked[SIM_PATH_FUNCTIONS];
    struct sim_cause turn = {.kind = cause->kind};
    if (evidence->here == NULL ||
            sim_actor_table_of_id(evidence->ledger->actor_table, evidence->here->actor_id) !=
                    evidence->wake_outcome->part) {
        return;
    }
    uint32_t count = own_functions(evidence, walked);
    add_walked(evidence, cause, walked, count, &turn);
    for (uint32_t i = 0; i < turn.at_count; i++) {
        turn.at[i].traced = true;
    }
    append(cause, &turn);
}

/* A loop is blocked in its host with no deadline, where in the passing run it had one. */
static bool
find_no_deadline(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count == 0);
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    uint32_t part = evidence->wake_outcome->part;
    uint32_t nth = part != SIM_PART_NONE ? blocks(actor_table, part) : 0;
    if (evidence->passing == NULL || nth == 0 ||
            sim_actor_table_blocked(actor_table, part, evidence->wake_outcome->horizon) ==
                    SIM_EVENT_NONE) {
        return false;
    }
    const struct sim_actor_table *passing = evidence->passing->actor_table;
    /* One that has nothing to do when its time is up lacks no deadline. */
    bool progresses = evidence->counterfactual != NULL &&
                      evidence->counterfactual->kind == SIM_COUNTERFACTUAL_DROPPED;
    for (uint32_t like = 1; like < passing->count; like++) {
        if (!sim__same_name(actor_table, part, passing, like)) {
            continue;
        }
        uint64_t block = nth_block(passing, like, progresses ? nth : blocks(passing, like));
        if (block != SIM_EVENT_NONE && ended_by_time(passing, like, block)) {
            cause->kind = SIM_CAUSE_NEVER_STORED;
            sim__cause_add_trace(evidence, cause, 0);
            add_turn(evidence, cause);
            return cause->at_count > 0;
        }
    }
    return false;
}

static void
add_writer(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(evidence->counterfactual->kind >= SIM_COUNTERFACTUAL_NOT_NOTIFIED);
    add_stop(evidence, cause, &evidence->counterfactual->writer, evidence->counterfactual->step);
    sim__cause_attempted(evidence, &cause->attempted);
}

static void
add_elsewhere(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(evidence->counterfactual->kind == SIM_COUNTERFACTUAL_ELSEWHERE);
    add_writer(evidence, cause);
    if (cause->at_count > 0) {
        if (evidence->counterfactual->away_step != 0) {
            add_away(evidence, cause);
        } else {
            add_traced(evidence, cause);
        }
        add_last_step(evidence, cause);
    }
}

/* By enum sim_counterfactual_kind. */
static void (*const add_counterfactual[])(
        const struct sim_evidence *evidence, struct sim_cause *cause) = {
        [SIM_COUNTERFACTUAL_NOT_REARMED] = add_not_rearmed,
        [SIM_COUNTERFACTUAL_DROPPED] = add_dropped,
        [SIM_COUNTERFACTUAL_NOT_NOTIFIED] = add_writer,
        [SIM_COUNTERFACTUAL_LOST] = add_lost,
        [SIM_COUNTERFACTUAL_ELSEWHERE] = add_elsewhere,
};

static bool
find_counterfactual(const struct sim_evidence *evidence, struct sim_cause *cause, uint32_t from,
        uint32_t to, bool pretended)
{
    const struct sim_counterfactual *counterfactual = evidence->counterfactual;
    rt_assert(from > SIM_COUNTERFACTUAL_NONE);
    rt_assert(from <= to);
    if (counterfactual == NULL || counterfactual->kind < from || counterfactual->kind > to ||
            counterfactual->pretended != pretended) {
        return false;
    }
    struct sim_cause found = *cause;
    found.at_count = 0;
    found.by_counterfactual = counterfactual->kind;
    found.kind = SIM_CAUSE_NEVER_FIRED;
    add_counterfactual[counterfactual->kind](evidence, &found);
    if (found.at_count > 0) {
        *cause = found;
    }
    return found.at_count > 0;
}

/* A loop that should have made progress. */
static bool
find_blocked_loop(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    return find_counterfactual(evidence, cause, SIM_COUNTERFACTUAL_NOT_REARMED,
            SIM_COUNTERFACTUAL_NOT_NOTIFIED, false);
}

/* A word that was overwritten, or that only the passing run writes. */
static bool
find_word(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    return find_counterfactual(
            evidence, cause, SIM_COUNTERFACTUAL_LOST, SIM_COUNTERFACTUAL_ELSEWHERE, false);
}

/* The weakest: a loop that makes progress when all is reported that it asks for. */
static bool
find_pretended(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    return find_counterfactual(
            evidence, cause, SIM_COUNTERFACTUAL_NOT_REARMED, SIM_COUNTERFACTUAL_NOT_NOTIFIED, true);
}

/* The strongest evidence first; the first that finds a place decides. */
static bool (*const finders[])(const struct sim_evidence *evidence, struct sim_cause *cause) = {
        sim__cause_held,
        find_blocked_loop,
        find_given_back,
        find_unregistered,
        find_word,
        find_by_passing,
        find_no_deadline,
        find_pretended,
};

bool
sim__cause_rest(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(sim_outcome_is_stall(evidence->outcome));
    rt_assert(cause->at_count == 0);
    for (uint32_t i = 0; i < sizeof(finders) / sizeof(*finders); i++) {
        if (finders[i](evidence, cause)) {
            return true;
        }
    }
    return false;
}

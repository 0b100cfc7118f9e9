/*
 * cause.c -- from evidence to one kind and one place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/cause.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/names.h"
#include "sim/core/record/site.h"
#include "sim/explain/cause/priv.h"

/* ---- No wake is missing. --------------------------------------------------------------------- */

static void
add_crash(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(evidence->crash != NULL);
    rt_assert(cause->at_count == 0);
    struct sim_stack stack;
    sim_crash_stack(evidence->crash, &stack);
    sim__cause_add_frames(evidence, cause, stack.pc, stack.count, stack.returns,
            evidence->outcome->fail_step, evidence->wake_outcome->part);
}

/* The last event before the verdict that has a place, of the actor that it is about. */
static void
add_last_event(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count == 0);
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    uint32_t part = evidence->wake_outcome->part;
    for (uint64_t i = evidence->wake_outcome->horizon;
            i-- > actor_table->first && cause->at_count == 0;) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if ((event->await != 0 || event->site != 0) &&
                (part == SIM_PART_NONE || sim_actor_table_part_of(actor_table, i) == part)) {
            sim__cause_add_event(evidence, cause, i);
        }
    }
    for (uint32_t i = 0; i < cause->at_count; i++) {
        cause->at[i].traced = true; /* It has gone on since. */
    }
}

/* Of a program: where its thread `part` is, in the program's own lines. */
static void
add_thread(const struct sim_evidence *evidence, uint32_t part, struct sim_cause *cause)
{
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    uint32_t actor = actor_table->parts[part].actor;
    struct sim_stack stack;
    if (actor != 0 && actor_table->parts[part].name != NULL &&
            sim_recorder_stack(actor_table->recorder, actor, &stack)) {
        sim__cause_add_frames(evidence, cause, stack.pc, stack.count, stack.returns,
                evidence->outcome->fail_step, part);
    }
}

/* One that waits for another to end waits for nothing else. */
static bool
waits_for_end(const struct sim_evidence *evidence, uint32_t part)
{
    const struct sim_wait *wait = sim_ledger_open_of(evidence->ledger, part, NULL);
    rt_assert(part < evidence->ledger->actor_table->count);
    return wait != NULL && SIM_OBJECT_KIND(wait->object) == RT_OBJECT_TASK;
}

/* The threads that are blocked; those that only wait for them where there are no others. */
static void
add_threads(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count == 0);
    for (uint32_t joins = 0; joins < 2 && cause->at_count == 0; joins++) {
        for (uint32_t part = 0; part < evidence->ledger->actor_table->count; part++) {
            if (waits_for_end(evidence, part) == (joins == 1)) {
                add_thread(evidence, part, cause);
            }
        }
    }
}

/* Where no call failed: the blocked or spinning actors, in what they went through last. */
static bool
is_described_by_trace(const struct sim_outcome *outcome)
{
    rt_assert(outcome->verdict != SIM_VERDICT_PASS);
    return outcome->verdict == SIM_VERDICT_LIVELOCK || outcome->verdict == SIM_VERDICT_STARVATION ||
           outcome->verdict == SIM_VERDICT_STEP_LIMIT ||
           outcome->verdict == SIM_VERDICT_TIME_LIMIT || outcome->verdict == SIM_VERDICT_LEAK;
}

static void
add_traces(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count <= SIM_CAUSE_CALLS);
    uint32_t before = cause->at_count;
    for (uint32_t i = 0; i < SIM_ANALYSIS_TRACES; i++) {
        sim__cause_add_trace(evidence, cause, i);
    }
    cause->by_trace = before == 0 && cause->at_count > 0;
}

/* The last wake by another actor that merged into the turn `poll` of `part`: it was on its way. */
static bool
find_merged(const struct sim_evidence *evidence, uint32_t part, struct sim_cause *cause)
{
    rt_assert(part < evidence->ledger->actor_table->count);
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    uint32_t object = actor_table->parts[part].object;
    uint64_t poll = SIM_EVENT_NONE;
    for (uint64_t i = evidence->wake_outcome->horizon; i-- > actor_table->first && object != 0;) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->object != object) {
            continue;
        }
        if (event->kind == RT_PROBE_POLL && poll != SIM_EVENT_NONE) {
            return false;
        }
        poll = event->kind == RT_PROBE_POLL ? i : poll;
        bool merged = event->kind == RT_PROBE_WAKE && event->argument == 1;
        if (merged && poll != SIM_EVENT_NONE && sim_actor_table_part_of(actor_table, i) != part) {
            struct sim_cause wake = {.kind = SIM_CAUSE_NOT_A_WAKE};
            sim__cause_add_event(evidence, &wake, i);
            if (wake.at_count > 0 && !sim_place_is_runtime(&wake.at[0].place)) {
                cause->merged = wake.at[0];
                cause->merged_part = part;
                cause->merged_turn = sim_actor_table_event(actor_table, poll)->step;
                return true;
            }
        }
    }
    return false;
}

void
sim__cause_no_wake(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(evidence->outcome->verdict != SIM_VERDICT_PASS);
    const struct sim_outcome *outcome = evidence->outcome;
    cause->kind = SIM_CAUSE_NOT_A_WAKE;
    if (evidence->crash != NULL && (evidence->crash->signal != 0 || evidence->crash->pc != 0)) {
        add_crash(evidence, cause);
    }
    if (evidence->analysis != NULL && cause->at_count == 0) {
        const struct sim_walk_stop *failed = &evidence->analysis->failed;
        sim__cause_add_frames(evidence, cause, failed->frames, failed->frame_count, true,
                outcome->fail_step, evidence->wake_outcome->part);
    }
    if (outcome->verdict == SIM_VERDICT_INVARIANT && cause->at_count == 0) {
        const struct sim_stack *stack = &outcome->stack;
        sim__cause_add_frames(evidence, cause, stack->pc, stack->count, stack->returns,
                outcome->fail_step, evidence->wake_outcome->part);
    }
    if (is_described_by_trace(outcome) && cause->at_count == 0) {
        add_traces(evidence, cause);
    }
    if (sim_outcome_is_stall(outcome) && cause->at_count == 0) {
        add_threads(evidence, cause);
    }
    if (cause->at_count == 0) {
        sim__cause_add_site(cause, outcome->site, outcome->fail_step, evidence->wake_outcome->part);
    }
    if (cause->at_count == 0) {
        add_last_event(evidence, cause);
    }
    if (sim_outcome_is_stall(outcome) || outcome->verdict == SIM_VERDICT_CONTRACT) {
        add_traces(evidence, cause);
    }
    for (uint32_t i = 0; i < cause->at_count && sim_outcome_is_stall(outcome); i++) {
        if (cause->at[i].part != SIM_PART_NONE && find_merged(evidence, cause->at[i].part, cause)) {
            break;
        }
    }
}

void
sim_cause_find(const struct sim_evidence *evidence, struct sim_cause *ret_cause)
{
    rt_assert(evidence->outcome != NULL);
    rt_assert(evidence->ledger != NULL && evidence->wake_outcome != NULL);
    const struct sim_outcome *outcome = evidence->outcome;
    const struct sim_wait *wait = evidence->wake_outcome->wait;
    bool lost =
            (outcome->verdict == SIM_VERDICT_LOST_WAKEUP && !sim_outcome_is_stall(outcome)) ||
            (outcome->verdict == SIM_VERDICT_LATE_WAKEUP && outcome->oracle != SIM_ORACLE_TIMER);
    *ret_cause = (struct sim_cause){.kind = SIM_CAUSE_NOT_A_WAKE};
    ret_cause->stored.part = SIM_PART_NONE;
    ret_cause->loop = SIM_PART_NONE;
    ret_cause->merged.part = SIM_PART_NONE;
    if (wait != NULL && wait->unknown == 0) {
        sim__location_set(&ret_cause->stored,
                sim_site_find(wait->await != 0 ? wait->await : wait->site), wait->store_step,
                wait->part);
    }
    bool blocked = outcome->verdict == SIM_VERDICT_CONTRACT &&
                   outcome->oracle == SIM_ORACLE_FAULT &&
                   evidence->wake_outcome->kind == SIM_WAKE_OUTCOME_NEVER_STORED &&
                   outcome->reason == SIM_REASON_NO_WAKER;
    if (outcome->verdict == SIM_VERDICT_LATE_WAKEUP && !lost &&
            sim__cause_late_timer(evidence, ret_cause)) {
        return;
    }
    if (lost) {
        sim__cause_lost(evidence, ret_cause);
    } else if (blocked) {
        sim__cause_never_stored(evidence, ret_cause);
    } else if (!sim_outcome_is_stall(outcome) || !sim__cause_rest(evidence, ret_cause)) {
        sim__cause_no_wake(evidence, ret_cause);
    }
}

/* Nothing else is known, and nothing is to blame yet. */
static struct sim_cause
new_cause(uint32_t kind)
{
    return (struct sim_cause){.kind = kind,
            .stored = {.part = SIM_PART_NONE},
            .loop = SIM_PART_NONE,
            .merged = {.part = SIM_PART_NONE}};
}

static void
add_places(struct sim_cause *cause, const struct sim_location *const *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (places[i]->place.function[0] != '\0') {
            cause->at[cause->at_count++] = *places[i];
        }
    }
}

void
sim_cause_add_stack(const struct sim_evidence *evidence, const struct sim_stack *stack,
        struct sim_noted_call *call)
{
    struct sim_cause found = {.at_count = 0};
    uint32_t most = sizeof(call->at) / sizeof(*call->at);
    sim__cause_add_frames(evidence, &found, stack->pc, stack->count, stack->returns,
            call->at[0].step, call->at[0].part);
    if (found.at_count > 0) {
        call->at_count = found.at_count < most ? found.at_count : most;
        memcpy(call->at, found.at, call->at_count * sizeof(*call->at));
    }
}

/* The lines of the calls themselves first, then who called. */
static void
add_calls(struct sim_cause *cause, const struct sim_noted_call *const *calls, uint32_t count)
{
    for (uint32_t k = 0; k < SIM_CAUSE_CALLS / 4; k++) {
        for (uint32_t i = 0; i < count && cause->at_count < SIM_CAUSE_CALLS; i++) {
            const struct sim_location *at = &calls[i]->at[k];
            if (k < calls[i]->at_count && at->place.function[0] != '\0') {
                cause->at[cause->at_count++] = *at;
            }
        }
    }
}

void
sim_cause_add_unnotified(struct sim_cause *cause, const struct sim_unnotified *unnotified)
{
    const struct sim_noted_call *const calls[] = {
            &unnotified->asked, &unnotified->undone, &unnotified->moved, &unnotified->reported};
    bool undone = unnotified->undone.event != SIM_EVENT_NONE;
    *cause = new_cause(undone ? SIM_CAUSE_ERASED : SIM_CAUSE_NEVER_STORED);
    cause->unnotified = *unnotified;
    cause->by_counterfactual = SIM_COUNTERFACTUAL_NOT_REARMED;
    if (unnotified->omission.guard.condition.step != 0) {
        cause->at[cause->at_count++] = unnotified->omission.guard.condition;
    }
    add_calls(cause, calls, sizeof(calls) / sizeof(*calls));
}

void
sim_cause_add_unanswered(struct sim_cause *cause, const struct sim_unanswered *unanswered)
{
    static const uint32_t kinds[] = {
            [SIM_UNANSWERED_REFUSED] = SIM_CAUSE_NEVER_FIRED,
            [SIM_UNANSWERED_UNHEARD] = SIM_CAUSE_NEVER_STORED,
            [SIM_UNANSWERED_EMPTY] = SIM_CAUSE_ERASED,
            [SIM_UNANSWERED_MERGED] = SIM_CAUSE_COALESCED,
            [SIM_UNANSWERED_LEFT] = SIM_CAUSE_COALESCED,
            [SIM_UNANSWERED_UNCANCELLED] = SIM_CAUSE_NOT_A_WAKE,
    };
    bool left = unanswered->kind == SIM_UNANSWERED_LEFT;
    bool empty = unanswered->kind == SIM_UNANSWERED_EMPTY;
    const struct sim_noted_call *const calls[] = {left    ? &unanswered->after
                                                  : empty ? &unanswered->before
                                                          : &unanswered->asked,
            empty ? &unanswered->asked : &unanswered->before,
            left ? &unanswered->asked : &unanswered->after};
    rt_assert(unanswered->kind != SIM_UNANSWERED_NONE);
    *cause = new_cause(kinds[unanswered->kind]);
    cause->unanswered = *unanswered;
    add_calls(cause, calls, sizeof(calls) / sizeof(*calls));
}

void
sim_cause_add_fate(struct sim_cause *cause, const struct sim_fate *fate)
{
    static const uint32_t kinds[] = {
            [SIM_FATE_EARLY] = SIM_CAUSE_FIRED_EARLY,
            [SIM_FATE_TAKEN] = SIM_CAUSE_NEVER_FIRED,
            [SIM_FATE_SWALLOWED] = SIM_CAUSE_COALESCED,
            [SIM_FATE_TURNED] = SIM_CAUSE_NEVER_FIRED,
    };
    if (fate->kind == SIM_FATE_OWED) {
        cause->fate = *fate;
        return;
    }
    bool waits = fate->kind == SIM_FATE_TURNED && (fate->wake.part == SIM_PART_NONE || fate->stuck);
    const struct sim_location *const places[] = {&fate->way, &fate->read.at, &fate->condition,
            &fate->call, &fate->ended, &fate->read.by, &fate->read.passing_by, &fate->taker,
            &fate->wake, &fate->sleeps, &fate->returned.at, &fate->returned.last};
    rt_assert(fate->kind != SIM_FATE_NONE);
    *cause = new_cause(waits ? SIM_CAUSE_NOT_A_WAKE : kinds[fate->kind]);
    cause->fate = *fate;
    add_places(cause, places, sizeof(places) / sizeof(*places));
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        struct sim_location caller = *places[i];
        caller.place = places[i]->caller;
        if (caller.place.line != 0 && cause->at_count < SIM_CAUSE_CALLS) {
            cause->at[cause->at_count++] = caller;
        }
    }
}

/* Puts these in front of what is to blame already; returns how many are known. */
static uint32_t
put_in_front(struct sim_cause *cause, const struct sim_location *const *places, size_t count)
{
    struct sim_cause before = *cause;
    cause->at_count = 0;
    add_places(cause, places, count);
    uint32_t known = cause->at_count;
    for (uint32_t i = 0; i < before.at_count && cause->at_count < SIM_CAUSE_CALLS; i++) {
        cause->at[cause->at_count++] = before.at[i];
    }
    return known;
}

void
sim_cause_add_unusual(struct sim_cause *cause, const struct sim_unusual *unusual)
{
    const struct sim_location *places[SIM_UNUSUAL_MAX];
    for (uint32_t i = 0; i < unusual->count; i++) {
        places[i] = &unusual->all[i].at;
    }
    cause->fate = (struct sim_fate){.kind = SIM_FATE_NONE};
    cause->unnotified.known = false;
    cause->unanswered.kind = SIM_UNANSWERED_NONE;
    cause->guard = (struct sim_guard){.condition = {.step = 0}};
    cause->front_count = put_in_front(cause, places, unusual->count);
    cause->by_unusual = true;
}

void
sim_cause_add_reset(struct sim_cause *cause, const struct sim_guard *guard)
{
    const struct sim_location *const places[] = {&guard->read.by, &guard->set, &guard->condition};
    rt_assert(guard->set.step != 0);
    *cause = new_cause(SIM_CAUSE_ERASED);
    cause->guard = *guard;
    add_places(cause, places, sizeof(places) / sizeof(*places));
}

void
sim_cause_add_marked(struct sim_cause *cause, const struct sim_guard *guard)
{
    const struct sim_location *const places[] = {
            &guard->copied, &guard->read.by, &guard->condition};
    rt_assert(guard->copied.step != 0);
    *cause = new_cause(SIM_CAUSE_ERASED);
    cause->guard = *guard;
    add_places(cause, places, sizeof(places) / sizeof(*places));
}

void
sim_cause_add_discarded(struct sim_cause *cause, const struct sim_discarded *discarded)
{
    const struct sim_location *const places[] = {&discarded->over, &discarded->added};
    *cause = new_cause(SIM_CAUSE_ERASED);
    cause->discarded = *discarded;
    add_places(cause, places, sizeof(places) / sizeof(*places));
}

/* ---- Names. ---------------------------------------------------------------------------------- */

static const struct sim_name names[] = {SIM_CAUSE_LIST(SIM_NAME_ROW)};

const char *
sim_cause_name(uint32_t kind)
{
    return sim_name_at(names, SIM_CAUSES, kind)->name;
}

/*
 * report_unnotified.c -- what an actor is not notified of, or what did not happen, as findings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/explain/report.h"
#include "sim/host/fd.h"

static struct sim_locations
places_of(const struct sim_noted_call *call)
{
    return (struct sim_locations){call->at, call->at_count};
}

static bool
is_known(const struct sim_noted_call *call)
{
    return call->event != SIM_EVENT_NONE;
}

/* A sentence about one call, if there was one. */
static void
find_call(struct sim_findings *findings, enum sim_finding_kind kind,
        const struct sim_noted_call *call)
{
    if (is_known(call)) {
        SIM_FIND(findings, kind, .at = places_of(call), .event = call->event);
    }
}

static enum sim_call_number
number_of(const struct sim_explanation *explanation, const struct sim_noted_call *call)
{
    const struct sim_event *event = sim_actor_table_event(&explanation->actor_table, call->event);
    return (enum sim_call_number)sim_call_of(event).number;
}

/* What is left there. */
static const char *
left_of(const struct sim_explanation *explanation)
{
    const struct sim_noted_call *moved = &explanation->cause.unnotified.moved;
    uint32_t number = is_known(moved) ? number_of(explanation, moved) : SIM_CALL_none;
    return number == SIM_CALL_accept || number == SIM_CALL_accept4 ? "connection" : "byte";
}

/* Where the last that is done with it has left something: how much (0: that is said already). */
static void
find_last(const struct sim_explanation *explanation, uint32_t left, struct sim_findings *findings)
{
    const struct sim_noted_call *moved = &explanation->cause.unnotified.moved;
    find_call(findings,
            number_of(explanation, moved) != SIM_CALL_none ? SIM_FINDING_UNNOTIFIED_LAST_CALL
                                                           : SIM_FINDING_UNNOTIFIED_LAST,
            moved);
    if (left > 0) {
        SIM_FIND(findings, SIM_FINDING_UNNOTIFIED_LEAVES, .number = left,
                .text = left_of(explanation));
    }
    SIM_FIND(findings, SIM_FINDING_STOP);
}

/* The condition by which it is not read. */
static void
find_omission(const struct sim_omission *omission, struct sim_findings *findings)
{
    if (omission->guard.condition.step != 0) {
        SIM_FIND(findings, SIM_FINDING_OMITTED, .at = {&omission->guard.condition, 1});
        sim__find_operand(&omission->guard, findings);
        if (omission->guard.read.after.part == omission->guard.condition.part &&
                omission->guard.read.after.step != 0) {
            SIM_FIND(findings, SIM_FINDING_OMITTED_NEITHER);
        }
        SIM_FIND(findings,
                omission->passes ? SIM_FINDING_OMITTED_PASSES : SIM_FINDING_OMITTED_READS);
    }
}

/* What is left, and no actor waits for. */
static void
find_unwatched(const struct sim_explanation *explanation, struct sim_findings *findings)
{
    const struct sim_unnotified *unnotified = &explanation->cause.unnotified;
    const struct sim_silence *silence = &unnotified->silence;
    SIM_FIND(findings,
            silence->left > 0 ? SIM_FINDING_UNNOTIFIED_UNWATCHED_MUCH
                              : SIM_FINDING_UNNOTIFIED_UNWATCHED,
            .actor = unnotified->part, .object = silence->object, .number = silence->left,
            .text = left_of(explanation));
    if (is_known(&unnotified->asked)) {
        find_call(findings, SIM_FINDING_UNNOTIFIED_ASKED, &unnotified->asked);
        find_call(findings, SIM_FINDING_UNNOTIFIED_UNDONE, &unnotified->undone);
        SIM_FIND(findings, SIM_FINDING_STOP);
    }
    if (is_known(&unnotified->moved)) {
        find_last(explanation, 0, findings);
    }
    find_omission(&unnotified->omission, findings);
}

/* Of a descriptor that is ready. */
static void
find_ready(const struct sim_explanation *explanation, struct sim_findings *findings)
{
    const struct sim_unnotified *unnotified = &explanation->cause.unnotified;
    bool spent = unnotified->silence.kind == SIM_SILENT_SPENT;
    find_call(findings, SIM_FINDING_UNNOTIFIED_UNDOES, &unnotified->undone);
    if (spent) {
        find_call(findings, SIM_FINDING_UNNOTIFIED_REPORTED, &unnotified->reported);
    }
    if (unnotified->full) {
        find_call(findings, SIM_FINDING_UNNOTIFIED_FULL, &unnotified->moved);
    } else if (unnotified->after) {
        bool reads = (unnotified->silence.events & SIM_FD_IN) != 0;
        find_last(explanation, reads ? unnotified->silence.left : 0, findings);
    } else if (unnotified->silence.kind == SIM_SILENT_EDGE) {
        find_call(findings, SIM_FINDING_UNNOTIFIED_UNUSED, &unnotified->reported);
        find_omission(&unnotified->omission, findings);
    } else if (spent && is_known(&unnotified->reported)) {
        SIM_FIND(
                findings, SIM_FINDING_UNNOTIFIED_DROPPED, .other = unnotified->reported.at[0].part);
    }
}

void
sim__find_unnotified(const struct sim_explanation *explanation, struct sim_findings *findings)
{
    static const enum sim_finding_kind kinds[SIM_SILENTS] = {
            [SIM_SILENT_SPENT] = SIM_FINDING_UNNOTIFIED_SPENT,
            [SIM_SILENT_EDGE] = SIM_FINDING_UNNOTIFIED_EDGE,
            [SIM_SILENT_TIMER] = SIM_FINDING_UNNOTIFIED_TIMER,
            [SIM_SILENT_COUNTED] = SIM_FINDING_UNNOTIFIED_COUNTED,
            [SIM_SILENT_PUSHED] = SIM_FINDING_UNNOTIFIED_PUSHED,
            [SIM_SILENT_SET_ASIDE] = SIM_FINDING_UNNOTIFIED_SET_ASIDE,
            [SIM_SILENT_UNASKED] = SIM_FINDING_UNNOTIFIED_UNASKED,
    };
    static const enum sim_finding_kind tried[SIM_SILENTS] = {
            [SIM_SILENT_SPENT] = SIM_FINDING_UNNOTIFIED_TRIED,
            [SIM_SILENT_EDGE] = SIM_FINDING_UNNOTIFIED_TRIED,
            [SIM_SILENT_TIMER] = SIM_FINDING_UNNOTIFIED_ARMED,
            [SIM_SILENT_COUNTED] = SIM_FINDING_UNNOTIFIED_REPEATED,
            [SIM_SILENT_PUSHED] = SIM_FINDING_UNNOTIFIED_ENTERED,
            [SIM_SILENT_SET_ASIDE] = SIM_FINDING_UNNOTIFIED_ENTERED,
            [SIM_SILENT_UNASKED] = SIM_FINDING_UNNOTIFIED_TRIED,
    };
    const struct sim_unnotified *unnotified = &explanation->cause.unnotified;
    const struct sim_silence *silence = &unnotified->silence;
    rt_assert(silence->kind < SIM_SILENTS);
    if (silence->kind == SIM_SILENT_UNWATCHED) {
        find_unwatched(explanation, findings);
        return;
    }
    if (silence->kind == SIM_SILENT_TAKEN) {
        SIM_FIND(findings, SIM_FINDING_UNNOTIFIED_TWICE, .actor = unnotified->part,
                .object = silence->object, .at = places_of(&unnotified->moved),
                .event = unnotified->moved.event);
        find_call(findings, SIM_FINDING_UNNOTIFIED_THERE, &unnotified->undone);
        return;
    }
    SIM_FIND(findings, kinds[silence->kind], .actor = unnotified->part, .object = silence->object,
            .at = places_of(&unnotified->asked), .event = unnotified->asked.event,
            .number = silence->left,
            .text = silence->kind == SIM_SILENT_COUNTED &&
                                    number_of(explanation, &unnotified->asked) >= SIM_CALL_OF_SIGNAL
                            ? "signals of"
                            : "writes to");
    if (silence->kind == SIM_SILENT_COUNTED) {
        find_call(findings, SIM_FINDING_UNNOTIFIED_BEFORE, &unnotified->undone);
        find_call(findings, SIM_FINDING_UNNOTIFIED_TAKEN, &unnotified->moved);
    } else if (silence->kind == SIM_SILENT_PUSHED || silence->kind == SIM_SILENT_SET_ASIDE) {
        bool pushed = silence->kind == SIM_SILENT_PUSHED;
        find_call(findings, SIM_FINDING_UNNOTIFIED_LAST_ENTER,
                pushed ? &unnotified->moved : &unnotified->reported);
        if (!pushed) {
            find_call(findings, SIM_FINDING_UNNOTIFIED_REAPED, &unnotified->moved);
        }
    } else if (silence->kind == SIM_SILENT_TIMER) {
        find_call(findings, SIM_FINDING_UNNOTIFIED_UNDOES, &unnotified->undone);
    } else {
        find_ready(explanation, findings);
    }
    SIM_FIND(findings, tried[silence->kind], .actor = unnotified->part, .number = silence->left);
}

/* What erased the waker that was there. */
static void
find_erasure(const struct sim_explanation *explanation, const struct sim_noted_call *erasure,
        struct sim_findings *findings)
{
    const struct sim_actor_table *actor_table = &explanation->actor_table;
    const struct sim_event *event = sim_actor_table_event(actor_table, erasure->event);
    uint32_t whose = sim_actor_table_object(actor_table, (uint32_t)event->argument);
    bool own = whose == erasure->at[0].part;
    SIM_FIND(findings, own ? SIM_FINDING_EMPTY_OWN : SIM_FINDING_EMPTY_SINCE,
            .at = places_of(erasure), .other = whose);
}

void
sim__find_unanswered(const struct sim_explanation *explanation, struct sim_findings *findings)
{
    static const enum sim_finding_kind kinds[] = {
            [SIM_UNANSWERED_REFUSED] = SIM_FINDING_REFUSED,
            [SIM_UNANSWERED_UNHEARD] = SIM_FINDING_POSTED,
            [SIM_UNANSWERED_EMPTY] = SIM_FINDING_EMPTY,
            [SIM_UNANSWERED_MERGED] = SIM_FINDING_MERGES,
            [SIM_UNANSWERED_LEFT] = SIM_FINDING_LEAVES,
            [SIM_UNANSWERED_UNCANCELLED] = SIM_FINDING_UNCANCELLED,
    };
    const struct sim_unanswered *unanswered = &explanation->cause.unanswered;
    bool left = unanswered->kind == SIM_UNANSWERED_LEFT;
    const struct sim_noted_call *first = left ? &unanswered->after : &unanswered->asked;
    bool refused = unanswered->kind == SIM_UNANSWERED_REFUSED;
    bool full = refused && SIM_OBJECT_KIND(unanswered->object) == RT_OBJECT_CHANNEL;
    bool push = refused && number_of(explanation, first) == SIM_CALL_push;
    SIM_FIND(findings,
            full   ? SIM_FINDING_REFUSED_FULL
            : push ? SIM_FINDING_REFUSED_PUSH
                   : kinds[unanswered->kind],
            .actor = first->at[0].part, .object = unanswered->object, .at = places_of(first),
            .event = first->event, .number = unanswered->left);
    if (unanswered->kind == SIM_UNANSWERED_UNCANCELLED) {
        find_call(findings, SIM_FINDING_CANCEL_BEFORE, &unanswered->before);
        find_call(findings, SIM_FINDING_CANCEL_ENDED, &unanswered->after);
        SIM_FIND(findings, SIM_FINDING_STOP);
    } else if (unanswered->kind == SIM_UNANSWERED_UNHEARD) {
        find_call(findings, SIM_FINDING_UNLISTENED, &unanswered->before);
        find_call(findings, SIM_FINDING_LISTENS_LATE, &unanswered->after);
    } else if (unanswered->kind == SIM_UNANSWERED_EMPTY) {
        find_erasure(explanation, &unanswered->before, findings);
    } else if (left) {
        find_call(findings, SIM_FINDING_LEFT_BEFORE, &unanswered->before);
        find_call(findings, SIM_FINDING_LEFT_SECOND, &unanswered->asked);
    } else if (unanswered->kind == SIM_UNANSWERED_MERGED) {
        find_call(findings, SIM_FINDING_MERGES_BEFORE, &unanswered->before);
        find_call(findings, SIM_FINDING_MERGES_TAKEN, &unanswered->after);
    }
}

/*
 * report_cause.c -- what is known of the cause, as findings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/explain/report.h"

/* Waiters that are named. */
#define NAMED 4u

/* Steps after which a task that waits is worth a word while others turn. */
#define WAITS_LONG 1000u

/* The explanation that is read, and the findings that it becomes. */
struct reading {
    const struct sim_explanation *explanation;
    const struct sim_cause *cause;
    struct sim_findings *findings;
};

static struct sim_locations
one(const struct sim_location *location)
{
    return (struct sim_locations){location, 1};
}

/* cause->at, from `from` up to `to`. */
static struct sim_locations
range(const struct reading *reading, uint32_t from, uint32_t to)
{
    rt_assert(from <= to && to <= reading->cause->at_count);
    return (struct sim_locations){&reading->cause->at[from], to - from};
}

/* The functions that the actor goes through instead; then where it is done in the passing run. */
static struct sim_locations
lost(const struct reading *reading)
{
    return range(reading, 0, reading->cause->lost_count);
}

static struct sim_locations
after_lost(const struct reading *reading)
{
    return range(reading, reading->cause->lost_count, reading->cause->at_count);
}

static bool
is_known(const struct sim_location *location)
{
    return location->place.function[0] != '\0';
}

static const struct sim_event *
event_of(const struct reading *reading, uint64_t event)
{
    return sim_actor_table_event(&reading->explanation->actor_table, event);
}

/* ---- No waker, timer or question was stored. ------------------------------------------------- */

/* It could make progress when it blocked, and no other actor has to do with it. */
static void
find_unarmed(const struct reading *reading)
{
    const struct sim_cause *cause = reading->cause;
    const struct sim_wake_outcome *wake_outcome = &reading->explanation->wake_outcome;
    bool polled = wake_outcome->poll != SIM_EVENT_NONE;
    uint64_t step = polled ? event_of(reading, wake_outcome->poll)->step : 0;
    /* A poll of a thread takes many steps. */
    bool waits = wake_outcome->wait != NULL && wake_outcome->wait->store_step >= step;
    SIM_FIND(reading->findings, SIM_FINDING_UNARMED, .actor = wake_outcome->part,
            .step = waits ? wake_outcome->wait->store_step : step);
    if (!waits && !is_known(&cause->stored)) {
        SIM_FIND(reading->findings, SIM_FINDING_UNARMED_NOTHING);
    }
    if (cause->by_passing && cause->at_count > 0) {
        SIM_FIND(reading->findings, SIM_FINDING_UNARMED_PASSING, .number = cause->at[0].step);
        return;
    }
    SIM_FIND(reading->findings, SIM_FINDING_UNARMED_LAST);
    if (cause->stored.place.line != cause->at[0].place.line) {
        SIM_FIND(reading->findings, SIM_FINDING_STORED, .then = one(&cause->stored));
    }
}

/* Its host reported once, and it did not ask for another report. */
static void
find_not_asked(const struct reading *reading)
{
    const struct sim_explanation *explanation = reading->explanation;
    const struct sim_actor_table *actor_table = &explanation->actor_table;
    uint64_t ready = sim_cause_silence(actor_table, &explanation->wake_outcome);
    rt_assert(ready != SIM_EVENT_NONE);
    SIM_FIND(reading->findings, SIM_FINDING_ASKS_NO_MORE, .actor = explanation->wake_outcome.part,
            .other = sim_actor_table_part_of(actor_table, ready),
            .step = event_of(reading, ready)->step,
            .text = sim_actor_table_text(actor_table, ready));
}

/* Its host reported it once, and it has not asked for it again. */
static void
find_oneshot(const struct reading *reading)
{
    const struct sim_silence *silence = &reading->explanation->counterfactual.silence;
    if (silence->kind == SIM_SILENT_TIMER) {
        SIM_FIND(reading->findings, SIM_FINDING_TIMER_UNARMED, .object = silence->object);
        return;
    }
    SIM_FIND(reading->findings, SIM_FINDING_ONESHOT, .object = silence->object);
    if (reading->cause->at_count > 0) {
        SIM_FIND(reading->findings, SIM_FINDING_ONESHOT_SEEN);
        SIM_FIND(reading->findings, SIM_FINDING_AND_CALLERS);
        SIM_FIND(reading->findings, SIM_FINDING_ONESHOT_THEN);
    }
    SIM_FIND(reading->findings, SIM_FINDING_ONESHOT_AGAIN);
}

static void
find_never_stored(const struct reading *reading)
{
    const struct sim_explanation *explanation = reading->explanation;
    const struct sim_cause *cause = reading->cause;
    bool replayed = cause->by_counterfactual != SIM_COUNTERFACTUAL_NONE;
    if (cause->past != 0 && cause->at_count > 0) {
        SIM_FIND(reading->findings, SIM_FINDING_PAST, .object = cause->past);
    } else if (cause->by_counterfactual == SIM_COUNTERFACTUAL_NOT_REARMED) {
        find_oneshot(reading);
    } else if (cause->by_look && replayed) {
        SIM_FIND(reading->findings, SIM_FINDING_LEFT, .step = explanation->counterfactual.step,
                .then = one(&cause->before));
    } else if (cause->by_look) {
        find_unarmed(reading);
    } else if (cause->by_call) {
        SIM_FIND(reading->findings, SIM_FINDING_UNREGISTERED);
    } else if (cause->by_silence) {
        find_not_asked(reading);
    } else if (cause->by_rest) {
        SIM_FIND(reading->findings, SIM_FINDING_TIMER_STOPPED,
                .object = explanation->wake_outcome.wait->object);
    } else {
        SIM_FIND(reading->findings, SIM_FINDING_NOWHERE);
        SIM_FIND(reading->findings, SIM_FINDING_UNHEARD, .then = one(&cause->unheard));
    }
}

/* ---- No wake was sent. ----------------------------------------------------------------------- */

/* The tasks the slot was fired for in that step. */
static void
find_fired_instead(const struct reading *reading)
{
    const struct sim_wake_outcome *wake_outcome = &reading->explanation->wake_outcome;
    const struct sim_ledger *ledger = &reading->explanation->ledger;
    uint32_t named = 0;
    for (uint32_t i = 0; i < ledger->count && wake_outcome->kind == SIM_WAKE_OUTCOME_FIRED_OTHER;
            i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        bool fired = wait->end == SIM_WAIT_FIRED && wake_outcome->other != NULL &&
                     wait->object == wake_outcome->other->object &&
                     wait->part != wake_outcome->part &&
                     wait->end_step == reading->cause->at[0].step;
        if (fired && named++ < NAMED) {
            SIM_FIND(reading->findings, named == 1 ? SIM_FINDING_THERE_WAKES : SIM_FINDING_ALSO,
                    .other = wait->part);
        }
    }
}

/* Another actor was given what the waiter waits for, or does not do it, and where it is done in the
 * passing run. */
static void
find_elsewhere(const struct reading *reading)
{
    const struct sim_cause *cause = reading->cause;
    if (cause->lost_count > 0) {
        SIM_FIND(reading->findings,
                is_known(&cause->given) ? SIM_FINDING_LOST_GIVEN : SIM_FINDING_LOST_NOT_DONE,
                .at = lost(reading), .then = one(&cause->given));
        SIM_FIND(reading->findings, SIM_FINDING_LOST_PATH);
        if (cause->lost_only) {
            SIM_FIND(reading->findings, SIM_FINDING_LOST_ONLY);
        }
        SIM_FIND(reading->findings, SIM_FINDING_LOST_CALLERS, .at = lost(reading));
    }
    SIM_FIND(reading->findings,
            cause->lost_count > 0 ? SIM_FINDING_PASSING_DOES : SIM_FINDING_NOT_DONE);
    SIM_FIND(reading->findings, SIM_FINDING_DONE_AT, .at = after_lost(reading));
    if (cause->lost_count == 0) {
        SIM_FIND(reading->findings, SIM_FINDING_BLOCK_PASSED);
    }
}

/* What became of a wake that was on its way to a loop. */
static void
find_attempted(const struct reading *reading)
{
    const struct sim_attempted_wake *attempted = &reading->cause->attempted;
    const struct sim_attempt *attempt = &reading->explanation->attempt;
    if (attempted->known && attempted->instead.part != SIM_PART_NONE) {
        SIM_FIND(reading->findings, SIM_FINDING_WAKES_INSTEAD, .at = one(&attempted->instead));
    } else if (attempted->known && attempted->at.step != 0) {
        SIM_FIND(reading->findings, SIM_FINDING_REACHES, .at = one(&attempted->at));
        struct sim_finding passing = {.kind = SIM_FINDING_REACHES_WAKE};
        if (attempt->has_beyond) {
            passing = (struct sim_finding){
                    .kind = SIM_FINDING_REACHES_PASSING, .place = &attempt->beyond};
        }
        sim_findings_add(reading->findings, passing);
        if (attempted->flag.step != 0) {
            SIM_FIND(reading->findings, SIM_FINDING_FLAG, .at = one(&attempted->flag));
            if (attempted->clear.step != 0) {
                SIM_FIND(reading->findings, SIM_FINDING_FLAG_CLEARED, .at = one(&attempted->clear));
            }
            SIM_FIND(reading->findings, SIM_FINDING_STOP);
        }
    }
}

/* The step in which the wait began that is open; 0: not known. */
static uint64_t
waits_since(const struct reading *reading)
{
    const struct sim_wake_outcome *wake_outcome = &reading->explanation->wake_outcome;
    uint64_t block = reading->findings->actor != SIM_PART_NONE
                             ? sim_actor_table_blocked(&reading->explanation->actor_table,
                                       reading->findings->actor, wake_outcome->horizon)
                             : SIM_EVENT_NONE;
    bool own = wake_outcome->wait != NULL && wake_outcome->part == reading->findings->actor;
    return own                       ? wake_outcome->wait->store_step
           : block != SIM_EVENT_NONE ? event_of(reading, block)->step
                                     : 0;
}

static void
find_never_fired(const struct reading *reading)
{
    const struct sim_explanation *explanation = reading->explanation;
    const struct sim_cause *cause = reading->cause;
    bool late = sim_explanation_outcome(explanation)->verdict == SIM_VERDICT_LATE_WAKEUP;
    if (cause->by_counterfactual == SIM_COUNTERFACTUAL_ELSEWHERE) {
        find_elsewhere(reading);
        return;
    }
    if (cause->by_counterfactual == SIM_COUNTERFACTUAL_NOT_NOTIFIED) {
        SIM_FIND(reading->findings, SIM_FINDING_UNREPORTED);
        find_attempted(reading);
        return;
    }
    if (cause->by_timer) {
        SIM_FIND(reading->findings, SIM_FINDING_OVERDUE,
                .object = explanation->wake_outcome.wait->object);
    } else if (cause->at_count == 0) {
        SIM_FIND(reading->findings, SIM_FINDING_NO_LINE_FOR_WAKE);
        return;
    } else if (cause->by_passing) {
        SIM_FIND(reading->findings, SIM_FINDING_PASSING_WAKES, .step = waits_since(reading));
        SIM_FIND(reading->findings, SIM_FINDING_BLOCK_PASSED);
    } else {
        SIM_FIND(reading->findings, late ? SIM_FINDING_NOT_WOKEN_IN_TIME : SIM_FINDING_NOT_WOKEN);
        if (cause->at[0].part == SIM_PART_NONE) {
            SIM_FIND(reading->findings, SIM_FINDING_SENDS_NONE);
        } else if (cause->by_word) {
            SIM_FIND(reading->findings, SIM_FINDING_MAKES_POSSIBLE);
        } else {
            SIM_FIND(reading->findings, SIM_FINDING_SHOULD_WAKE);
            find_fired_instead(reading);
            SIM_FIND(reading->findings, SIM_FINDING_STOP);
        }
        SIM_FIND(reading->findings, SIM_FINDING_STEP_PASSED);
    }
    SIM_FIND(reading->findings, SIM_FINDING_STORED, .then = one(&cause->stored));
}

/* ---- The wake is lost. ----------------------------------------------------------------------- */

static void
find_taken(const struct reading *reading, enum sim_finding_kind how)
{
    SIM_FIND(reading->findings, how);
    SIM_FIND(reading->findings, SIM_FINDING_STORED, .then = one(&reading->cause->stored));
}

/* What arrived, and which actor wrote over it. */
static void
find_overwritten(const struct reading *reading)
{
    const struct sim_cause *cause = reading->cause;
    SIM_FIND(reading->findings, SIM_FINDING_OVERWRITTEN, .then = one(&cause->before));
    SIM_FIND(reading->findings,
            cause->wiped ? SIM_FINDING_OVERWRITTEN_ITSELF : SIM_FINDING_OVERWRITTEN_UNREAD);
    if (is_known(&cause->prior)) {
        SIM_FIND(reading->findings, SIM_FINDING_CALLED_BEFORE, .at = one(&cause->at[1]),
                .then = one(&cause->prior));
    }
}

/* A task that was woken, and that its loop does not poll. */
static void
find_unpolled(const struct reading *reading)
{
    const struct sim_cause *cause = reading->cause;
    SIM_FIND(reading->findings,
            cause->kind == SIM_CAUSE_ERASED ? SIM_FINDING_UNPOLLED_LOST
            : cause->taken                  ? SIM_FINDING_UNPOLLED_TAKEN
                                            : SIM_FINDING_UNPOLLED_LEFT,
            .actor = reading->explanation->wake_outcome.part, .other = cause->loop,
            .step = reading->explanation->counterfactual.step, .then = one(&cause->before));
}

static void
find_erased(const struct reading *reading)
{
    const struct sim_guard *guard = &reading->cause->guard;
    if (reading->cause->unpolled) {
        find_unpolled(reading);
    } else if (guard->set.step != 0) {
        SIM_FIND(reading->findings, SIM_FINDING_RESET, .at = one(&guard->set));
        SIM_FIND(reading->findings, SIM_FINDING_RESET_BY, .at = one(&guard->read.by));
        SIM_FIND(reading->findings, SIM_FINDING_RESET_READ, .at = one(&guard->read.at));
        SIM_FIND(reading->findings, SIM_FINDING_RESET_TRIED);
    } else if (reading->cause->discarded.over.step != 0) {
        const struct sim_discarded *discarded = &reading->cause->discarded;
        SIM_FIND(reading->findings,
                discarded->adds ? SIM_FINDING_DISCARDED : SIM_FINDING_DISCARDED_WRITE,
                .at = one(&discarded->added),
                .text = discarded->name[0] != '\0' ? discarded->name : "a number");
        SIM_FIND(reading->findings, SIM_FINDING_DISCARDED_BY, .at = one(&discarded->over));
    } else if (guard->copied.step != 0) {
        SIM_FIND(reading->findings, SIM_FINDING_MARKED, .at = one(&guard->read.by));
        SIM_FIND(reading->findings, SIM_FINDING_MARKED_BY, .at = one(&guard->copied));
        SIM_FIND(reading->findings, SIM_FINDING_MARKED_READ, .at = one(&guard->condition));
        SIM_FIND(reading->findings, SIM_FINDING_RESET_TRIED);
    } else if (reading->cause->by_counterfactual == SIM_COUNTERFACTUAL_LOST ||
               reading->cause->wiped) {
        find_overwritten(reading);
    } else {
        find_taken(reading, SIM_FINDING_ERASED);
    }
}

static void
find_replaced(const struct reading *reading)
{
    find_taken(reading, SIM_FINDING_REPLACED);
}

static void
find_dropped(const struct reading *reading)
{
    find_taken(reading, SIM_FINDING_DROPPED);
}

/* Of a loop that blocks on what it had checked before. */
static void
find_blocks_on_old(const struct reading *reading)
{
    const struct sim_cause *cause = reading->cause;
    const struct sim_explanation *explanation = reading->explanation;
    if (cause->by_counterfactual == SIM_COUNTERFACTUAL_DROPPED) {
        SIM_FIND(reading->findings, SIM_FINDING_BLOCKS_ON_OLD,
                .step = explanation->counterfactual.step, .then = one(&cause->blocked_at));
    }
}

static void
find_fired_early(const struct reading *reading)
{
    const struct sim_cause *cause = reading->cause;
    uint64_t fired = reading->explanation->wake_outcome.root_cause;
    if (cause->by_word) {
        bool replayed = cause->by_counterfactual != SIM_COUNTERFACTUAL_NONE;
        SIM_FIND(reading->findings, SIM_FINDING_EARLY_WRITE);
        SIM_FIND(
                reading->findings, replayed ? SIM_FINDING_NO_WAITER_YET : SIM_FINDING_NO_WAKER_YET);
        find_blocks_on_old(reading);
    } else if (cause->at_count == 0 && fired != SIM_EVENT_NONE) { /* It has no line. */
        SIM_FIND(reading->findings, SIM_FINDING_EARLY_SENT,
                .other = sim_actor_table_part_of(&reading->explanation->actor_table, fired),
                .step = event_of(reading, fired)->step);
    } else {
        SIM_FIND(reading->findings, SIM_FINDING_EARLY_FIRE);
    }
    SIM_FIND(reading->findings, SIM_FINDING_STORED_AFTER, .then = one(&cause->stored));
}

static void
find_coalesced(const struct reading *reading)
{
    const struct sim_cause *cause = reading->cause;
    bool unpolled = reading->explanation->wake_outcome.kind == SIM_WAKE_OUTCOME_NOT_POLLED;
    if (cause->unpolled) {
        find_unpolled(reading);
        find_attempted(reading);
    } else if (cause->by_counterfactual == SIM_COUNTERFACTUAL_DROPPED) {
        SIM_FIND(reading->findings, SIM_FINDING_BLOCKS_WOKEN,
                .step = reading->explanation->counterfactual.step);
    } else if (cause->by_counterfactual == SIM_COUNTERFACTUAL_ELSEWHERE) {
        SIM_FIND(reading->findings, SIM_FINDING_TURNED_AWAY, .at = lost(reading),
                .then = after_lost(reading));
    } else if (cause->loop != SIM_PART_NONE && cause->guard.condition.step != 0) {
        SIM_FIND(reading->findings, SIM_FINDING_LOOP_SLEEPS, .other = cause->loop,
                .step = event_of(reading, reading->explanation->wake_outcome.root_cause)->step);
    } else if (cause->loop != SIM_PART_NONE) {
        SIM_FIND(reading->findings, SIM_FINDING_LOOP_NOT_WOKEN, .other = cause->loop);
    } else {
        SIM_FIND(reading->findings, SIM_FINDING_COALESCED);
        SIM_FIND(reading->findings, unpolled ? SIM_FINDING_NO_POLL : SIM_FINDING_POLL_MISSED);
        if (unpolled) {
            SIM_FIND(reading->findings, SIM_FINDING_POLLER, .at = one(&cause->poller));
        }
        find_attempted(reading);
    }
}

/* ---- No wake is missing. --------------------------------------------------------------------- */

/* Where each of them is blocked. */
static void
find_waiters(const struct reading *reading)
{
    const struct sim_cause *cause = reading->cause;
    uint32_t from = cause->front_count;
    for (uint32_t to = from; from < cause->at_count; from = to) {
        while (to < cause->at_count && cause->at[to].part == cause->at[from].part) {
            to++;
        }
        /* The program's own line says where; what it calls of the runtime does not. */
        uint32_t own = from;
        while (own < to && sim_place_is_runtime(&cause->at[own].place)) {
            own++;
        }
        own = own < to ? own : from;
        if (from > 0) {
            SIM_FIND(reading->findings, SIM_FINDING_TEXT, .text = " ");
        }
        SIM_FIND(reading->findings,
                cause->at[own].traced ? SIM_FINDING_WAS_LAST : SIM_FINDING_IS_BLOCKED,
                .at = range(reading, own, to));
        SIM_FIND(
                reading->findings, to < cause->at_count ? SIM_FINDING_SEMICOLON : SIM_FINDING_STOP);
    }
}

/* One turn for two wakes: if it did what the one was for, it may have forgotten the other. */
static void
find_merged(const struct reading *reading)
{
    const struct sim_cause *cause = reading->cause;
    if (cause->merged.part != SIM_PART_NONE) {
        SIM_FIND(reading->findings, SIM_FINDING_MERGED, .at = one(&cause->merged),
                .other = cause->merged_part, .step = cause->merged_turn);
    }
}

/* It has had a turn lately: it is one of those that turn. */
static bool
turns(const struct reading *reading, uint32_t part)
{
    const struct sim_actor_table *actor_table = &reading->explanation->actor_table;
    uint64_t end = sim_explanation_outcome(reading->explanation)->fail_step;
    for (uint64_t i = actor_table->end; i-- > actor_table->first;) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->step + WAITS_LONG < end) {
            return false;
        }
        if (event->kind == RT_PROBE_POLL && sim_actor_table_part_of(actor_table, i) == part) {
            return true;
        }
    }
    return false;
}

/* The tasks that wait while others turn. */
static void
find_meanwhile(const struct reading *reading)
{
    const struct sim_ledger *ledger = &reading->explanation->ledger;
    const struct sim_actor_table *actor_table = &reading->explanation->actor_table;
    uint32_t named = 0;
    for (uint32_t i = 0; i < ledger->count && named < NAMED; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        if (wait->end != SIM_WAIT_OPEN || wait->kind != SIM_WAIT_SLOT || wait->unknown != 0 ||
                SIM_OBJECT_KIND(wait->object) == RT_OBJECT_TIMER ||
                actor_table->parts[wait->part].finished || turns(reading, wait->part)) {
            continue;
        }
        SIM_FIND(reading->findings, named++ == 0 ? SIM_FINDING_MEANWHILE : SIM_FINDING_NEXT);
        SIM_FIND(reading->findings, SIM_FINDING_WAITS_SINCE, .other = wait->part,
                .text = wait->reason != NULL ? wait->reason : "something", .step = wait->store_step,
                .await = wait->await, .site = wait->site);
    }
    if (named > 0) {
        SIM_FIND(reading->findings, SIM_FINDING_MEANWHILE_END);
    }
}

/* One that waits for the same since before; a lock that may be shared is not granted past it. */
static void
find_ahead(const struct reading *reading, const struct sim_wait *wait)
{
    const struct sim_ledger *ledger = &reading->explanation->ledger;
    for (uint32_t i = 0; i < ledger->count; i++) {
        const struct sim_wait *other = &ledger->waits[i];
        if (other->end == SIM_WAIT_OPEN && other->object == wait->object &&
                other->part != wait->part && other->store_event < wait->store_event) {
            SIM_FIND(reading->findings, SIM_FINDING_HELD_BEHIND, .other = other->part,
                    .step = other->store_step, .await = other->await, .site = other->site);
            return;
        }
    }
}

/* Actors that wait for each other, or for one that keeps what it has. */
static void
find_held(const struct reading *reading)
{
    const struct sim_cause *cause = reading->cause;
    uint32_t waiter = cause->hold_waiter;
    bool joins = false;
    bool full = false;
    rt_assert(cause->hold_count <= SIM_HOLDS_CHAIN);
    for (uint32_t i = 0; i < cause->hold_count; i++) {
        const struct sim_hold *hold = cause->holds[i];
        if (i > 0) {
            SIM_FIND(reading->findings, SIM_FINDING_NEXT);
        }
        if (hold->to_end || hold->takes) {
            SIM_FIND(reading->findings,
                    hold->takes ? SIM_FINDING_HELD_FULL : SIM_FINDING_HELD_TO_END, .actor = waiter,
                    .other = hold->part, .object = hold->object,
                    .await = cause->hold_waits[i]->await, .site = cause->hold_waits[i]->site);
            waiter = hold->part;
            joins = joins || hold->to_end;
            full = full || hold->takes;
            continue;
        }
        const struct sim_event *event = event_of(reading, hold->event);
        const struct sim_wait *wait = cause->hold_waits[i];
        SIM_FIND(reading->findings,
                hold->handed           ? SIM_FINDING_HANDED
                : hold->part == waiter ? SIM_FINDING_HELD_BY_ITSELF
                                       : SIM_FINDING_HELD_BY,
                .actor = waiter, .other = hold->part, .object = hold->object, .step = event->step,
                .await = hold->handed ? event->await : wait->await,
                .site = hold->handed ? event->site : wait->site, .at = one(&cause->hold_taken[i]));
        if (!hold->handed && (cause->circle || i + 1 < cause->hold_count)) {
            SIM_FIND(reading->findings, SIM_FINDING_HELD_IN_CIRCLE);
        }
        if (hold->part == waiter) {
            find_ahead(reading, cause->hold_waits[i]);
        }
        waiter = hold->part;
    }
    SIM_FIND(reading->findings, full && cause->circle    ? SIM_FINDING_HELD_FULL_CIRCLE
                                : joins && cause->circle ? SIM_FINDING_HELD_JOINED
                                : cause->circle && cause->hold_count > 1 ? SIM_FINDING_HELD_CIRCLE
                                : cause->circle                          ? SIM_FINDING_STOP
                                : cause->holds[cause->hold_count - 1]->handed
                                        ? SIM_FINDING_HANDED_OPEN
                                        : SIM_FINDING_HELD_ENDED);
    if (cause->lost_count > 0) {
        bool handed = cause->holds[cause->hold_count - 1]->handed;
        SIM_FIND(reading->findings, handed ? SIM_FINDING_HANDED_THROUGH : SIM_FINDING_HELD_THROUGH,
                .other = waiter, .at = lost(reading));
        SIM_FIND(reading->findings, SIM_FINDING_AND_CALLERS, .at = lost(reading));
        SIM_FIND(reading->findings, SIM_FINDING_STOP);
    }
}

static enum sim_finding_kind
what_goes_wrong(const struct sim_outcome *outcome)
{
    return outcome->verdict == SIM_VERDICT_LIVELOCK     ? SIM_FINDING_RUN_LOOPS
           : outcome->verdict == SIM_VERDICT_STARVATION ? SIM_FINDING_OTHERS_RUN
           : sim_outcome_spins(outcome)                 ? SIM_FINDING_STEP_SPINS
                                                        : SIM_FINDING_GOES_WRONG;
}

static void
find_not_a_wake(const struct reading *reading)
{
    const struct sim_outcome *outcome = sim_explanation_outcome(reading->explanation);
    bool stalls = sim_outcome_is_stall(outcome);
    bool is_lost = outcome->verdict == SIM_VERDICT_LOST_WAKEUP && !stalls;
    bool unusual = reading->cause->by_unusual;
    bool known = reading->cause->at_count > reading->cause->front_count;
    if (reading->cause->hold_count > 0) {
        find_held(reading);
        return;
    }
    if (unusual && (!known || stalls)) {
        find_merged(reading);
        return;
    }
    if (is_lost && known && outcome->oracle == SIM_ORACLE_REWAKE_SOURCES) {
        SIM_FIND(reading->findings, SIM_FINDING_UNTAKEN);
    } else if (is_lost && !known) {
        SIM_FIND(reading->findings, SIM_FINDING_NO_LINE_FOR_WAKE);
    } else if (!known) {
        SIM_FIND(reading->findings, SIM_FINDING_NO_WAKE_MISSING);
        SIM_FIND(reading->findings, SIM_FINDING_NO_LINE);
    } else if (stalls) {
        find_waiters(reading);
        sim__find_waiting(reading->cause, reading->findings);
        find_merged(reading);
    } else {
        if (unusual) {
            SIM_FIND(reading->findings, SIM_FINDING_IN_THE_END);
        }
        SIM_FIND(reading->findings, what_goes_wrong(outcome));
        sim__find_failed(&reading->cause->failed, reading->findings);
        if (outcome->verdict == SIM_VERDICT_LIVELOCK ||
                outcome->verdict == SIM_VERDICT_STEP_LIMIT) {
            find_meanwhile(reading);
        }
    }
}

/* ---- Any of them. ---------------------------------------------------------------------------- */

uint32_t
sim_report_explained(const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    bool replayed = cause->by_counterfactual != SIM_COUNTERFACTUAL_NONE;
    if (cause->fate.kind != SIM_FATE_NONE) {
        return cause->fate.sleeps.part;
    }
    if (cause->unnotified.known) {
        return cause->unnotified.part;
    }
    if (cause->hold_count > 0) {
        return cause->hold_waiter;
    }
    if (replayed && !cause->unpolled) {
        return sim_actor_table_actor(&explanation->actor_table, explanation->counterfactual.actor);
    }
    return explanation->wake_outcome.part;
}

void
sim__find_cause(const struct sim_explanation *explanation, struct sim_findings *findings)
{
    static void (*const finders[SIM_CAUSES])(const struct reading *) = {
            [SIM_CAUSE_NEVER_STORED] = find_never_stored,
            [SIM_CAUSE_NEVER_FIRED] = find_never_fired,
            [SIM_CAUSE_REPLACED] = find_replaced,
            [SIM_CAUSE_ERASED] = find_erased,
            [SIM_CAUSE_COALESCED] = find_coalesced,
            [SIM_CAUSE_DROPPED] = find_dropped,
            [SIM_CAUSE_FIRED_EARLY] = find_fired_early,
            [SIM_CAUSE_NOT_A_WAKE] = find_not_a_wake,
    };
    const struct sim_cause *cause = &explanation->cause;
    const struct reading reading = {explanation, cause, findings};
    rt_assert(cause->kind < SIM_CAUSES && cause->at_count <= SIM_CAUSE_CALLS);
    findings->actor = sim_report_explained(explanation);
    findings->at = range(&reading, cause->front_count, cause->at_count);
    if (explanation->meanwhile_first) {
        sim__find_meanwhile(explanation, findings);
        SIM_FIND(findings, SIM_FINDING_END);
    }
    if (cause->by_unusual) {
        sim__find_unusual(&explanation->unusual, findings);
        if (cause->kind == SIM_CAUSE_NOT_A_WAKE) {
            find_not_a_wake(&reading);
        }
        return; /* What else is known is how it differs from one of them. */
    }
    bool adds = explanation->unusual.count > 0 && explanation->unusual_adds;
    if (adds && explanation->unusual_first) {
        sim__find_unusual(&explanation->unusual, findings);
        SIM_FIND(findings, SIM_FINDING_END);
    }
    if (cause->unanswered.kind != SIM_UNANSWERED_NONE) {
        sim__find_unanswered(explanation, findings);
    } else if (cause->unnotified.known) {
        sim__find_unnotified(explanation, findings);
    } else if (cause->fate.kind == SIM_FATE_NONE || cause->fate.kind == SIM_FATE_OWED) {
        finders[cause->kind](&reading);
        bool reset = cause->kind == SIM_CAUSE_ERASED &&
                     (cause->guard.set.step != 0 || cause->guard.copied.step != 0);
        if (cause->front_count == 0 && !reset) {
            sim__find_guard(&cause->guard, findings);
        }
    }
    if (cause->fate.kind != SIM_FATE_NONE) {
        sim__find_fate(explanation, findings);
    }
    if (cause->fate.kind != SIM_FATE_NONE && cause->fate.kind != SIM_FATE_OWED) {
        sim__find_guard(&cause->guard, findings);
    }
    if (adds && !explanation->unusual_first) {
        SIM_FIND(findings, SIM_FINDING_END);
        sim__find_unusual(&explanation->unusual, findings);
    }
}

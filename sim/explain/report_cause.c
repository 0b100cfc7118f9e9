/*
 * report_cause.c -- what is known of the cause, as findings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/explain/report_priv.h"

/* Waiters that are named. */
#define NAMED 4u

/* Steps after which a task that waits is worth a word while others turn. */
#define WAITS_LONG 1000u

/* The explanation that is read, and the findings that it becomes. */
struct reading {
    const struct sim_explanation *explanation;
    const struct sim_cause *cause;
    struct sim_findings *findings;
    uint32_t waiter; /* The loop or task that would make progress, where that was asked; else the
                        one that the verdict names. */
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

/* One about the waiter, at where it goes wrong. */
static struct sim_finding
about(const struct reading *reading, enum sim_finding_kind kind)
{
    return (struct sim_finding){.kind = kind,
            .actor = reading->waiter,
            .at = range(reading, 0, reading->cause->at_count)};
}

static void
add(const struct reading *reading, enum sim_finding_kind kind)
{
    sim_findings_add(reading->findings, about(reading, kind));
}

static void
add_at(const struct reading *reading, enum sim_finding_kind kind, struct sim_locations at,
        struct sim_locations then)
{
    struct sim_finding finding = about(reading, kind);
    finding.at = at;
    finding.then = then;
    sim_findings_add(reading->findings, finding);
}

static void
add_then(const struct reading *reading, enum sim_finding_kind kind, const struct sim_location *then)
{
    struct sim_finding finding = about(reading, kind);
    finding.then = one(then);
    sim_findings_add(reading->findings, finding);
}

static void
add_step(const struct reading *reading, enum sim_finding_kind kind, uint64_t step)
{
    struct sim_finding finding = about(reading, kind);
    finding.step = step;
    sim_findings_add(reading->findings, finding);
}

static void
add_object(const struct reading *reading, enum sim_finding_kind kind, uint32_t object)
{
    struct sim_finding finding = about(reading, kind);
    finding.object = object;
    sim_findings_add(reading->findings, finding);
}

static void
add_other(const struct reading *reading, enum sim_finding_kind kind, uint32_t other)
{
    struct sim_finding finding = about(reading, kind);
    finding.other = other;
    sim_findings_add(reading->findings, finding);
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
    struct sim_finding unarmed = about(reading, SIM_FINDING_UNARMED);
    unarmed.actor = wake_outcome->part;
    if (wake_outcome->poll != SIM_EVENT_NONE) {
        unarmed.step = event_of(reading, wake_outcome->poll)->step;
    }
    sim_findings_add(reading->findings, unarmed);
    if (cause->by_passing && cause->at_count > 0) {
        struct sim_finding passing = about(reading, SIM_FINDING_UNARMED_PASSING);
        passing.number = cause->at[0].step;
        sim_findings_add(reading->findings, passing);
        return;
    }
    add(reading, SIM_FINDING_UNARMED_LAST);
    add_then(reading, SIM_FINDING_STORED, &cause->stored);
}

/* Its host reported once, and it did not ask for another report. */
static void
find_not_asked(const struct reading *reading)
{
    const struct sim_explanation *explanation = reading->explanation;
    const struct sim_actor_table *actor_table = &explanation->actor_table;
    uint64_t ready = sim_cause_silence(actor_table, &explanation->wake_outcome);
    struct sim_finding finding = about(reading, SIM_FINDING_ASKS_NO_MORE);
    rt_assert(ready != SIM_EVENT_NONE);
    finding.actor = explanation->wake_outcome.part;
    finding.other = sim_actor_table_part_of(actor_table, ready);
    finding.step = event_of(reading, ready)->step;
    finding.text = sim_actor_table_text(actor_table, ready);
    sim_findings_add(reading->findings, finding);
}

/* Its host reported it once, and it has not asked for it again. */
static void
find_oneshot(const struct reading *reading)
{
    add_object(reading, SIM_FINDING_ONESHOT, reading->explanation->counterfactual.object);
    if (reading->cause->at_count > 0) {
        add(reading, SIM_FINDING_ONESHOT_SEEN);
        add(reading, SIM_FINDING_AND_CALLERS);
        add(reading, SIM_FINDING_ONESHOT_THEN);
    }
    add(reading, SIM_FINDING_ONESHOT_AGAIN);
}

static void
find_never_stored(const struct reading *reading)
{
    const struct sim_explanation *explanation = reading->explanation;
    const struct sim_cause *cause = reading->cause;
    bool replayed = cause->by_counterfactual != SIM_COUNTERFACTUAL_NONE;
    if (cause->past != 0 && cause->at_count > 0) {
        add_object(reading, SIM_FINDING_PAST, cause->past);
    } else if (cause->by_counterfactual == SIM_COUNTERFACTUAL_NOT_REARMED) {
        find_oneshot(reading);
    } else if (cause->by_look && replayed) {
        struct sim_finding left = about(reading, SIM_FINDING_LEFT);
        left.step = explanation->counterfactual.step;
        left.then = one(&cause->before);
        sim_findings_add(reading->findings, left);
    } else if (cause->by_look) {
        find_unarmed(reading);
    } else if (cause->by_call) {
        add(reading, SIM_FINDING_UNREGISTERED);
    } else if (cause->by_silence) {
        find_not_asked(reading);
    } else if (cause->by_rest) {
        add_object(reading, SIM_FINDING_TIMER_STOPPED, explanation->wake_outcome.wait->object);
    } else {
        add(reading, SIM_FINDING_NOWHERE);
    }
}

/* ---- No wake was sent. ----------------------------------------------------------------------- */

/* Whom the slot was fired for in that step. */
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
            add_other(reading, named == 1 ? SIM_FINDING_THERE_WAKES : SIM_FINDING_ALSO, wait->part);
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
        add_at(reading,
                is_known(&cause->given) ? SIM_FINDING_LOST_GIVEN : SIM_FINDING_LOST_NOT_DONE,
                lost(reading), one(&cause->given));
        add(reading, SIM_FINDING_LOST_PATH);
        if (cause->lost_only) {
            add(reading, SIM_FINDING_LOST_ONLY);
        }
        add_at(reading, SIM_FINDING_LOST_CALLERS, lost(reading), one(&cause->given));
    }
    add(reading, cause->lost_count > 0 ? SIM_FINDING_PASSING_DOES : SIM_FINDING_NOT_DONE);
    add_at(reading, SIM_FINDING_DONE_AT, after_lost(reading), one(&cause->given));
    if (cause->lost_count == 0) {
        add(reading, SIM_FINDING_BLOCK_PASSED);
    }
}

/* What became of a wake that was on its way to a loop. */
static void
find_attempted(const struct reading *reading)
{
    const struct sim_attempted_wake *attempted = &reading->cause->attempted;
    const struct sim_attempt *attempt = &reading->explanation->attempt;
    if (attempted->known && attempted->instead.part != SIM_PART_NONE) {
        add_at(reading, SIM_FINDING_WAKES_INSTEAD, one(&attempted->instead), lost(reading));
    } else if (attempted->known && attempted->at.step != 0) {
        add_at(reading, SIM_FINDING_REACHES, one(&attempted->at), lost(reading));
        struct sim_finding passing = {.kind = SIM_FINDING_REACHES_WAKE};
        if (attempt->has_beyond) {
            passing = (struct sim_finding){
                    .kind = SIM_FINDING_REACHES_PASSING, .place = &attempt->beyond};
        }
        sim_findings_add(reading->findings, passing);
        if (attempted->flag.step != 0) {
            add_at(reading, SIM_FINDING_FLAG, one(&attempted->flag), lost(reading));
            if (attempted->clear.step != 0) {
                add_at(reading, SIM_FINDING_FLAG_CLEARED, one(&attempted->clear), lost(reading));
            }
            add(reading, SIM_FINDING_STOP);
        }
    }
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
        add(reading, SIM_FINDING_UNREPORTED);
        find_attempted(reading);
        return;
    }
    if (cause->by_timer) {
        add_object(reading, SIM_FINDING_OVERDUE, explanation->wake_outcome.wait->object);
    } else if (cause->at_count == 0) {
        add(reading, SIM_FINDING_NO_LINE_FOR_WAKE);
        return;
    } else {
        add(reading, late ? SIM_FINDING_NOT_WOKEN_IN_TIME : SIM_FINDING_NOT_WOKEN);
        if (cause->by_word) {
            add(reading, SIM_FINDING_MAKES_POSSIBLE);
        } else {
            add(reading, SIM_FINDING_SHOULD_WAKE);
            find_fired_instead(reading);
            add(reading, SIM_FINDING_STOP);
        }
        add(reading, SIM_FINDING_STEP_PASSED);
    }
    add_then(reading, SIM_FINDING_STORED, &cause->stored);
}

/* ---- The wake is lost. ----------------------------------------------------------------------- */

static void
find_taken(const struct reading *reading, enum sim_finding_kind how)
{
    add(reading, how);
    add_then(reading, SIM_FINDING_STORED, &reading->cause->stored);
}

/* What arrived, and which actor wrote over it. */
static void
find_overwritten(const struct reading *reading)
{
    const struct sim_cause *cause = reading->cause;
    add_then(reading, SIM_FINDING_OVERWRITTEN, &cause->before);
    add(reading, cause->wiped ? SIM_FINDING_OVERWRITTEN_ITSELF : SIM_FINDING_OVERWRITTEN_UNREAD);
    if (is_known(&cause->prior)) {
        add_at(reading, SIM_FINDING_CALLED_BEFORE, one(&cause->at[1]), one(&cause->prior));
    }
}

static void
find_erased(const struct reading *reading)
{
    if (reading->cause->by_counterfactual == SIM_COUNTERFACTUAL_LOST || reading->cause->wiped) {
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
    if (cause->by_counterfactual == SIM_COUNTERFACTUAL_DROPPED || cause->by_attempt) {
        struct sim_finding finding = about(reading, SIM_FINDING_BLOCKS_ON_OLD);
        finding.step = cause->by_attempt ? explanation->attempt.blocked_step
                                         : explanation->counterfactual.step;
        finding.then = one(&cause->blocked_at);
        sim_findings_add(reading->findings, finding);
    }
}

static void
find_fired_early(const struct reading *reading)
{
    const struct sim_cause *cause = reading->cause;
    if (cause->by_attempt) {
        add(reading, SIM_FINDING_EARLY_ATTEMPT);
        find_blocks_on_old(reading);
        struct sim_finding passing = about(reading, SIM_FINDING_EARLY_PASSING);
        passing.number = reading->explanation->attempt.there_step;
        sim_findings_add(reading->findings, passing);
        return;
    }
    if (cause->by_word) {
        bool replayed = cause->by_counterfactual != SIM_COUNTERFACTUAL_NONE;
        add(reading, SIM_FINDING_EARLY_WRITE);
        add(reading, replayed ? SIM_FINDING_NO_WAITER_YET : SIM_FINDING_NO_WAKER_YET);
        find_blocks_on_old(reading);
    } else {
        add(reading, SIM_FINDING_EARLY_FIRE);
    }
    add_then(reading, SIM_FINDING_STORED_AFTER, &cause->stored);
}

static void
find_coalesced(const struct reading *reading)
{
    const struct sim_cause *cause = reading->cause;
    bool unpolled = reading->explanation->wake_outcome.kind == SIM_WAKE_OUTCOME_NOT_POLLED;
    if (cause->by_counterfactual == SIM_COUNTERFACTUAL_DROPPED) {
        add_step(reading, SIM_FINDING_BLOCKS_WOKEN, reading->explanation->counterfactual.step);
    } else if (cause->by_counterfactual == SIM_COUNTERFACTUAL_ELSEWHERE) {
        add_at(reading, SIM_FINDING_TURNED_AWAY, lost(reading), after_lost(reading));
    } else {
        add(reading, SIM_FINDING_COALESCED);
        add(reading, unpolled ? SIM_FINDING_NO_POLL : SIM_FINDING_POLL_MISSED);
        if (unpolled) {
            add_at(reading, SIM_FINDING_POLLER, one(&cause->poller), lost(reading));
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
    for (uint32_t from = 0, to = 0; from < cause->at_count; from = to) {
        while (to < cause->at_count && cause->at[to].part == cause->at[from].part) {
            to++;
        }
        add(reading, from == 0 ? SIM_FINDING_COLON : SIM_FINDING_NEXT);
        add_at(reading, cause->at[from].traced ? SIM_FINDING_WAS_LAST : SIM_FINDING_IS_BLOCKED,
                range(reading, from, to), lost(reading));
    }
    add(reading, SIM_FINDING_STOP);
}

/* One turn for two wakes: if it did what the one was for, it may have forgotten the other. */
static void
find_merged(const struct reading *reading)
{
    const struct sim_cause *cause = reading->cause;
    if (cause->merged.part != SIM_PART_NONE) {
        struct sim_finding finding = about(reading, SIM_FINDING_MERGED);
        finding.at = one(&cause->merged);
        finding.other = cause->merged_part;
        finding.step = cause->merged_turn;
        sim_findings_add(reading->findings, finding);
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
        struct sim_finding finding = about(reading, SIM_FINDING_WAITS_SINCE);
        finding.other = wait->part;
        finding.text = wait->reason != NULL ? wait->reason : "something";
        finding.step = wait->store_step;
        finding.await = wait->await;
        finding.site = wait->site;
        add(reading, named++ == 0 ? SIM_FINDING_MEANWHILE : SIM_FINDING_NEXT);
        sim_findings_add(reading->findings, finding);
    }
    if (named > 0) {
        add(reading, SIM_FINDING_MEANWHILE_END);
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
    bool known = reading->cause->at_count > 0;
    if (is_lost && known && outcome->oracle == SIM_ORACLE_REWAKE_SOURCES) {
        add_step(reading, SIM_FINDING_UNTAKEN, outcome->missing_wake_step);
    } else if (is_lost && !known) {
        add(reading, SIM_FINDING_NO_LINE_FOR_WAKE);
    } else if (!known) {
        add(reading, SIM_FINDING_NO_WAKE_MISSING);
        add(reading, SIM_FINDING_NO_LINE);
    } else if (stalls) {
        add(reading, SIM_FINDING_NO_WAKE_MISSING);
        find_waiters(reading);
        find_merged(reading);
    } else {
        add(reading, SIM_FINDING_NO_WAKE_MISSING);
        add(reading, what_goes_wrong(outcome));
        if (outcome->verdict == SIM_VERDICT_LIVELOCK ||
                outcome->verdict == SIM_VERDICT_STEP_LIMIT) {
            find_meanwhile(reading);
        }
    }
}

/* ---- Any of them. ---------------------------------------------------------------------------- */

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
    bool replayed = cause->by_counterfactual != SIM_COUNTERFACTUAL_NONE;
    const struct reading reading = {
            .explanation = explanation,
            .cause = cause,
            .findings = findings,
            .waiter = replayed ? sim_actor_table_actor(&explanation->actor_table,
                                         explanation->counterfactual.actor)
                               : explanation->wake_outcome.part,
    };
    rt_assert(cause->kind < SIM_CAUSES && cause->at_count <= SIM_CAUSE_CALLS);
    finders[cause->kind](&reading);
}

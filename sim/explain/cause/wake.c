/*
 * wake.c -- a blocked task could make progress: what became of its missing wake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/priv.h"

#include <string.h>

#include "runtime/base/assert.h"

/* The word that decides, written by a reader's line: the last that was written. NULL: none. */
static const struct sim_word *
deciding_word(const struct sim_evidence *evidence, const struct sim_analysis *analysis,
        struct sim_cause *ret)
{
    rt_assert(evidence->ledger != NULL);
    rt_assert(ret->at_count == 0);
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    uint64_t step = analysis != NULL ? analysis->step : 0;
    uint64_t first = step != 0 ? sim_actor_table_step_first(actor_table, step) : SIM_EVENT_NONE;
    uint32_t part =
            first != SIM_EVENT_NONE ? sim_actor_table_part_of(actor_table, first) : SIM_PART_NONE;
    const struct sim_word *best = NULL;
    struct sim_cause found = *ret;
    for (uint32_t i = 0; analysis != NULL && i < analysis->word_count; i++) {
        const struct sim_word *word = &analysis->words[i];
        if (word->state != SIM_WORD_DECIDES || word->writer.frame_count == 0 ||
                word->writer.frame_count > SIM_WALK_FRAMES ||
                (best != NULL && best->distance < word->distance)) {
            continue;
        }
        ret->at_count = 0;
        sim__cause_add_frames(
                evidence, ret, word->writer.frames, word->writer.frame_count, false, step, part);
        if (ret->at_count > 0 && !sim_place_is_runtime(&ret->at[0].place)) {
            best = word;
            found = *ret;
        }
    }
    *ret = found;
    return best;
}

/* The last place on record in the step that should have woken the task. */
static void
add_missing_step(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(evidence->wake_outcome->owed != SIM_EVENT_NONE);
    rt_assert(cause->at_count == 0);
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    uint64_t found = SIM_EVENT_NONE;
    for (uint64_t i = evidence->wake_outcome->owed; i < evidence->wake_outcome->horizon; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->step != evidence->outcome->missing_wake_step || event->kind == RT_PROBE_POLLED) {
            break;
        }
        if (event->await != 0 || (event->site != 0 && event->kind != RT_PROBE_POLL)) {
            found = i;
        }
    }
    sim__cause_add_event(evidence, cause, found);
}

static bool
same_reason(const struct sim_wait *a, const struct sim_wait *b)
{
    return a != NULL && b != NULL && a->reason != NULL && b->reason != NULL &&
           strcmp(a->reason, b->reason) == 0;
}

/* What was woken instead was an empty slot, or a waker of a task that had been polled since. */
static bool
is_left_behind(const struct sim_evidence *evidence)
{
    rt_assert(evidence->wake_outcome->instead != SIM_EVENT_NONE);
    rt_assert(evidence->wake_outcome->other != NULL);
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    const struct sim_wait *other = evidence->wake_outcome->other;
    uint64_t fired = evidence->wake_outcome->instead;
    if (sim_actor_table_event(actor_table, fired)->kind == RT_PROBE_FIRE_EMPTY) {
        return true;
    }
    uint64_t stored = other->keep_event != SIM_EVENT_NONE ? other->keep_event : other->store_event;
    for (uint64_t i = stored; i < fired; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->kind == RT_PROBE_POLL && event->step > other->store_step &&
                sim_actor_table_part_of(actor_table, i) == other->part) {
            return true;
        }
    }
    return false;
}

/* The timer that is waited for does not run: it was not started for this wait, or has expired. */
static bool
is_timer_at_rest(const struct sim_evidence *evidence, const struct sim_wait *wait)
{
    rt_assert(evidence->ledger != NULL);
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    if (wait == NULL || SIM_OBJECT_KIND(wait->object) != RT_OBJECT_TIMER) {
        return false;
    }
    for (uint64_t i = evidence->wake_outcome->horizon; i-- > actor_table->first;) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->object == wait->object && event->kind == RT_PROBE_ARM) {
            return false;
        }
        if (event->object == wait->object &&
                (event->kind == RT_PROBE_EXPIRE || event->kind == RT_PROBE_DISARM)) {
            return true;
        }
    }
    return true;
}

/* The last time that another actor moved the timer that is waited for; SIM_EVENT_NONE. */
static uint64_t
last_move(const struct sim_evidence *evidence, const struct sim_wait *wait)
{
    rt_assert(evidence->ledger != NULL);
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    uint64_t found = SIM_EVENT_NONE;
    for (uint64_t i = 0; i < actor_table->moves.count && wait != NULL; i++) {
        uint64_t event = actor_table->moves.moves[i].event;
        if (event > wait->store_event && event < evidence->wake_outcome->horizon &&
                sim_actor_table_event(actor_table, event)->object == wait->object &&
                sim_actor_table_part_of(actor_table, event) != wait->part) {
            found = event;
        }
    }
    return found;
}

/* Where timers come due, when that of the blocked task does not: as the last other one did. */
static void
add_timers(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(evidence->wake_outcome->overdue);
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    for (uint64_t i = actor_table->end; i-- > actor_table->first;) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->kind == RT_PROBE_EXPIRE) {
            uint64_t owed = evidence->wake_outcome->owed;
            sim__cause_add_site(cause, event->site, evidence->outcome->missing_wake_step,
                    owed != SIM_EVENT_NONE ? sim_actor_table_part_of(actor_table, owed)
                                           : SIM_PART_NONE);
            return;
        }
    }
}

uint64_t
sim_cause_silence(
        const struct sim_actor_table *actor_table, const struct sim_wake_outcome *wake_outcome)
{
    rt_assert(actor_table != NULL);
    rt_assert(wake_outcome->owed != SIM_EVENT_NONE);
    for (uint64_t i = wake_outcome->owed; i < wake_outcome->horizon; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->step != sim_actor_table_event(actor_table, wake_outcome->owed)->step) {
            break;
        }
        if (event->kind == SIM_EVENT_READY && sim_actor_table_text(actor_table, i) != NULL) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* Its last turn used up what it asked of the host, and did not ask again: the last line of the
 * reader's in it. */
static void
add_last_turn(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(evidence->wake_outcome->wait != NULL);
    rt_assert(cause->at_count == 0);
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    const struct sim_wake_outcome *wake_outcome = evidence->wake_outcome;
    uint64_t from =
            wake_outcome->poll != SIM_EVENT_NONE ? wake_outcome->poll : wake_outcome->polled;
    for (uint64_t i = wake_outcome->polled; i > from && from != SIM_EVENT_NONE; i--) {
        /* That a poll of a loop's own has ended is said by a call, too. */
        if (sim_actor_table_part_of(actor_table, i) == wake_outcome->part &&
                i != wake_outcome->wait->store_event &&
                sim_actor_table_event(actor_table, i)->kind != RT_PROBE_POLLED) {
            sim__cause_add_site(cause, sim_actor_table_event(actor_table, i)->await,
                    sim_actor_table_event(actor_table, i)->step, wake_outcome->part);
        }
        if (cause->at_count > 0) {
            return;
        }
    }
}

/*
 * What the step woke is a slot in which the blocked task has no waker. Where the task waits for the
 * same thing elsewhere, the wake should have been passed on; where it does not, its waker should
 * have been here: the line that stores one for others is where none was stored for this task.
 */
static bool
find_other_slot(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count == 0);
    const struct sim_wake_outcome *wake_outcome = evidence->wake_outcome;
    const struct sim_wait *other = wake_outcome->other;
    if (wake_outcome->instead == SIM_EVENT_NONE || other == NULL || other->await == 0 ||
            same_reason(wake_outcome->wait, other) || other->object == wake_outcome->wait->object ||
            !is_left_behind(evidence)) {
        return false;
    }
    sim__cause_add_event(evidence, cause, other->store_event);
    return true;
}

static bool
find_timer_at_rest(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count == 0);
    if (!is_timer_at_rest(evidence, evidence->wake_outcome->wait)) {
        return false;
    }
    cause->by_rest = true;
    sim__cause_add_event(evidence, cause, evidence->wake_outcome->wait->store_event);
    return true;
}

static bool
find_silence(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(!cause->by_silence);
    const struct sim_wake_outcome *wake_outcome = evidence->wake_outcome;
    if (wake_outcome->wait != NULL && wake_outcome->owed != SIM_EVENT_NONE &&
            sim_cause_silence(evidence->ledger->actor_table, wake_outcome) != SIM_EVENT_NONE) {
        add_last_turn(evidence, cause);
        cause->by_silence = cause->at_count > 0;
    }
    return cause->by_silence;
}

/* Whether the blocked task waits for times and for its host only: no other task could wake it. */
static bool
waits_for_time_only(const struct sim_evidence *evidence)
{
    const struct sim_wait *wait = NULL;
    uint32_t actor = evidence->wake_outcome->part;
    rt_assert(actor < evidence->ledger->actor_table->count);
    while ((wait = sim_ledger_open_of(evidence->ledger, actor, wait)) != NULL) {
        uint32_t kind = SIM_OBJECT_KIND(wait->object);
        if (kind != RT_OBJECT_TIMER && kind != RT_OBJECT_POLLABLE) {
            return false;
        }
    }
    return true;
}

/* The last wake of a slot without a waker in the step that makes progress possible. */
static uint64_t
wake_of_none(const struct sim_evidence *evidence)
{
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    uint64_t found = SIM_EVENT_NONE;
    rt_assert(evidence->wake_outcome->owed != SIM_EVENT_NONE);
    for (uint64_t i = evidence->wake_outcome->owed; i < evidence->wake_outcome->horizon; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->step != evidence->outcome->missing_wake_step) {
            break;
        }
        found = event->kind == RT_PROBE_FIRE_EMPTY && event->await != 0 ? i : found;
    }
    return found;
}

/* What the step woke holds no waker, and the blocked task waits for a time: its waker should have
 * been there. */
static bool
find_unheard(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    struct sim_cause unheard = {.kind = SIM_CAUSE_NEVER_STORED};
    rt_assert(cause->at_count == 0);
    if (evidence->wake_outcome->owed != SIM_EVENT_NONE && waits_for_time_only(evidence)) {
        sim__cause_add_event(evidence, &unheard, wake_of_none(evidence));
    }
    if (unheard.at_count > 0) {
        cause->unheard = unheard.at[0];
        sim__cause_never_stored(evidence, cause);
    }
    return unheard.at_count > 0;
}

/* Its waker should have been stored elsewhere, or something else started. */
static bool (*const never_stored[])(
        const struct sim_evidence *evidence, struct sim_cause *cause) = {
        find_other_slot,
        find_unheard,
        find_timer_at_rest,
        find_silence,
};

static void
find_overdue(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(!cause->by_timer);
    if (evidence->wake_outcome->overdue) {
        add_timers(evidence, cause);
        cause->by_timer = cause->at_count > 0;
    }
}

static void
find_moved_timer(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count == 0);
    sim__cause_add_event(evidence, cause, last_move(evidence, evidence->wake_outcome->wait));
}

static void
find_word(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(!cause->by_word);
    cause->by_word = deciding_word(evidence, evidence->analysis, cause) != NULL;
}

static void
find_last_place(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count == 0);
    if (evidence->wake_outcome->owed != SIM_EVENT_NONE) {
        add_missing_step(evidence, cause);
    }
}

/* What should have sent the wake; the first that has a place. */
static void (*const never_fired[])(const struct sim_evidence *evidence, struct sim_cause *cause) = {
        find_overdue,
        find_moved_timer,
        find_word,
        find_last_place,
};

static void
find_never_fired(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count == 0);
    for (uint32_t i = 0; i < sizeof(never_stored) / sizeof(*never_stored); i++) {
        if (never_stored[i](evidence, cause)) {
            cause->kind = SIM_CAUSE_NEVER_STORED;
            return;
        }
    }
    cause->kind = SIM_CAUSE_NEVER_FIRED;
    for (uint32_t i = 0; i < sizeof(never_fired) / sizeof(*never_fired) && cause->at_count == 0;
            i++) {
        never_fired[i](evidence, cause);
    }
    cause->by_trace = cause->at_count == 0;
    sim__cause_add_entry(evidence, cause, 0);
    if (cause->at_count == 0 || sim_place_is_runtime(&cause->at[cause->at_count - 1].place)) {
        sim__cause_add_neighbours(evidence, cause, 0);
    }
    if (cause->at_count == 0 && evidence->wake_outcome->wait != NULL) {
        sim__cause_add_event(evidence, cause, evidence->wake_outcome->wait->store_event);
    }
}

/* Whether that wake ended a wait of `part`. */
static bool
ends_wait_of(const struct sim_evidence *evidence, uint64_t event, uint32_t part)
{
    rt_assert(event != SIM_EVENT_NONE);
    const struct sim_ledger *ledger = evidence->ledger;
    for (uint32_t i = 0; i < ledger->count; i++) {
        if (ledger->waits[i].end_event == event && ledger->waits[i].part == part) {
            return true;
        }
    }
    return false;
}

/* The last wake by another actor in the slot of `wait` before it was stored: of no task, or of
 * another; SIM_EVENT_NONE. */
static uint64_t
wake_before(const struct sim_evidence *evidence, const struct sim_wait *wait)
{
    rt_assert(wait->store_event != SIM_EVENT_NONE);
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    for (uint64_t i = wait->store_event; i-- > actor_table->first && wait->object != 0;) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        bool fires = event->kind == RT_PROBE_FIRE || event->kind == RT_PROBE_FIRE_EMPTY;
        if (fires && event->object == wait->object &&
                sim_actor_table_part_of(actor_table, i) != wait->part &&
                !ends_wait_of(evidence, i, wait->part)) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* A wake of the blocked task that was coalesced, and that its last poll did not see;
 * SIM_EVENT_NONE. */
static uint64_t
dropped_wake(const struct sim_evidence *evidence)
{
    rt_assert(evidence->ledger != NULL);
    const struct sim_ledger *ledger = evidence->ledger;
    const struct sim_wake_outcome *wake_outcome = evidence->wake_outcome;
    uint64_t found = SIM_EVENT_NONE;
    for (uint32_t i = 0; i < ledger->count && wake_outcome->poll != SIM_EVENT_NONE; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        uint32_t cause = sim_actor_table_event(ledger->actor_table, wake_outcome->poll)->cause;
        if (wait->part == wake_outcome->part && wait->end == SIM_WAIT_FIRED &&
                wait->wake == SIM_WAKE_COALESCED && wait->end_event < wake_outcome->poll &&
                cause != 0 && wait->end_step >= cause &&
                (found == SIM_EVENT_NONE || wait->end_event > found)) {
            found = wait->end_event;
        }
    }
    return found;
}

/*
 * Of a blocked task whose last poll left it to a combinator, and of what it waited for before: the
 * waker of its own that was stored where the children's are the combinator's, and that was fired.
 * The combinator then does not know which child can make progress. NULL: none.
 */
static const struct sim_wait *
stored_past(const struct sim_evidence *evidence)
{
    rt_assert(evidence->wake_outcome->wait != NULL);
    rt_assert(evidence->wake_outcome->part < evidence->ledger->actor_table->count);
    const struct sim_ledger *ledger = evidence->ledger;
    const struct sim_wake_outcome *wake_outcome = evidence->wake_outcome;
    uint32_t own = ledger->actor_table->parts[wake_outcome->part].object;
    const struct sim_wait *found = NULL;
    for (uint32_t i = 0; i < ledger->count && own != 0; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        bool woke = wait->part == wake_outcome->part && wait->whose == own &&
                    wait->object != wake_outcome->wait->object && wait->end == SIM_WAIT_FIRED &&
                    wait->end_event < wake_outcome->poll;
        for (uint32_t k = 0; k < ledger->count && woke; k++) {
            const struct sim_wait *child = &ledger->waits[k];
            if (child->part == wake_outcome->part && child->store_step == wait->store_step &&
                    child->whose == wake_outcome->wait->object && child->whose != own) {
                found = wait;
            }
        }
    }
    return found;
}

const struct sim_arrived_word *
sim__cause_add_arrived(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count == 0);
    const struct sim_analysis *analysis = evidence->analysis;
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    for (uint32_t i = 0; analysis != NULL && i < analysis->arrivals.count && i < SIM_ARRIVED_WORDS;
            i++) {
        const struct sim_arrived_word *word = &analysis->arrivals.words[i];
        uint64_t first = sim_actor_table_step_first(actor_table, word->change.step);
        uint32_t part = first != SIM_EVENT_NONE && first < actor_table->end
                                ? sim_actor_table_part_of(actor_table, first)
                                : SIM_PART_NONE;
        uint32_t frames =
                word->writer.frame_count <= SIM_WALK_FRAMES ? word->writer.frame_count : 0;
        sim__cause_add_frames(
                evidence, cause, word->writer.frames, frames, false, word->change.step, part);
        if (cause->at_count > 0 && !sim_place_is_runtime(&cause->at[0].place)) {
            return word;
        }
        cause->at_count = 0;
    }
    return NULL;
}

/* The blocked task itself overwrote what had arrived. */
static bool
add_wiper(const struct sim_evidence *evidence, const struct sim_arrived_word *arrived,
        struct sim_cause *cause)
{
    rt_assert(arrived->wiped);
    rt_assert(cause->at_count == 0);
    const struct sim_walk_stop *wiper = &arrived->wiper;
    sim__cause_add_frames(evidence, cause, wiper->frames,
            wiper->frame_count <= SIM_WALK_FRAMES ? wiper->frame_count : 0, false,
            evidence->outcome->missing_wake_step, evidence->wake_outcome->part);
    cause->kind = cause->at_count > 0 ? SIM_CAUSE_ERASED : cause->kind;
    cause->wiped = cause->at_count > 0;
    return cause->at_count > 0;
}

/* The blocked task's turn before the last: what arrived before that, it has read there. */
static uint64_t
turn_before(const struct sim_evidence *evidence)
{
    rt_assert(evidence->ledger != NULL);
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    for (uint64_t i = evidence->wake_outcome->poll;
            i != SIM_EVENT_NONE && i-- > actor_table->first;) {
        if (sim_actor_table_event(actor_table, i)->kind == RT_PROBE_POLL &&
                sim_actor_table_part_of(actor_table, i) == evidence->wake_outcome->part) {
            return i;
        }
    }
    return actor_table->first;
}

/* It blocked with something left to do: what it does in that turn in the passing run, and not here;
 * else what it executed. */
static void
find_unarmed(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(evidence->wake_outcome->wait != NULL);
    const struct sim_analysis *analysis = evidence->analysis;
    cause->kind = SIM_CAUSE_NEVER_STORED;
    cause->by_look = true;
    cause->at_count = 0;
    cause->by_passing = sim__cause_add_armed(evidence, cause);
    if (analysis != NULL && analysis->trace_count > 0) {
        cause->by_trace = cause->at_count == 0;
        sim__cause_add_trace(evidence, cause, analysis->trace_count - 1);
    }
    if (cause->at_count == 0) {
        sim__cause_add_event(evidence, cause, evidence->wake_outcome->wait->store_event);
    }
}

/* Has the blocked task read what arrived? Or had it a turn in which to read it, and does less in
 * its last one than in the passing run? */
static bool
has_seen(const struct sim_evidence *evidence, const struct sim_arrived_word *arrived)
{
    struct sim_cause armed = {.kind = SIM_CAUSE_NEVER_STORED};
    uint64_t turn = turn_before(evidence);
    bool looked = arrived->seen != 0;
    bool had_a_turn =
            arrived->change.step < sim_actor_table_event(evidence->ledger->actor_table, turn)->step;
    return looked || (had_a_turn && sim__cause_add_armed(evidence, &armed));
}

static void
find_fired_early(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(evidence->wake_outcome->wait != NULL);
    rt_assert(cause->at_count == 0);
    const struct sim_wake_outcome *wake_outcome = evidence->wake_outcome;
    const struct sim_wait *past =
            wake_outcome->root_cause == SIM_EVENT_NONE ? stored_past(evidence) : NULL;
    if (past != NULL) {
        cause->kind = SIM_CAUSE_NEVER_STORED;
        cause->past = wake_outcome->wait->object;
        sim__cause_add_event(evidence, cause, past->store_event);
        return;
    }
    uint64_t wake =
            wake_outcome->root_cause != SIM_EVENT_NONE ? SIM_EVENT_NONE : dropped_wake(evidence);
    if (wake != SIM_EVENT_NONE) {
        cause->kind = SIM_CAUSE_COALESCED;
        sim__cause_add_event(evidence, cause, wake);
        return;
    }
    struct sim_cause writer = {.kind = SIM_CAUSE_FIRED_EARLY};
    const struct sim_arrived_word *arrived = sim__cause_add_arrived(evidence, &writer);
    if (arrived != NULL && arrived->wiped && add_wiper(evidence, arrived, cause)) {
        cause->before = writer.at[0];
        return;
    }
    wake = wake_outcome->root_cause != SIM_EVENT_NONE ? wake_outcome->root_cause
                                                      : wake_before(evidence, wake_outcome->wait);
    if (wake == SIM_EVENT_NONE || wake < turn_before(evidence) ||
            (arrived != NULL && sim_actor_table_event(evidence->ledger->actor_table, wake)->step <
                                        arrived->change.step)) {
        wake = SIM_EVENT_NONE;
    }
    if (arrived != NULL ? has_seen(evidence, arrived) : wake == SIM_EVENT_NONE) {
        find_unarmed(evidence, cause);
        return;
    }
    cause->kind = SIM_CAUSE_FIRED_EARLY;
    cause->by_word = wake == SIM_EVENT_NONE;
    if (wake != SIM_EVENT_NONE) {
        sim__cause_add_event(evidence, cause, wake);
    }
    for (uint32_t i = 0; i < writer.at_count && cause->at_count < SIM_CAUSE_CALLS; i++) {
        if (!sim__cause_names(cause, &writer.at[i].place)) {
            cause->at[cause->at_count++] = writer.at[i];
        }
    }
}

/* The poll that stored none, by what it executed. */
void
sim__cause_never_stored(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count == 0);
    const struct sim_analysis *analysis = evidence->analysis;
    cause->kind = SIM_CAUSE_NEVER_STORED;
    if (analysis != NULL && analysis->trace_count > 0) {
        sim__cause_add_trace(evidence, cause, analysis->trace_count - 1);
        cause->by_trace = cause->at_count > 0;
    }
    if (cause->at_count == 0) {
        sim__cause_add_event(evidence, cause, evidence->wake_outcome->polled);
    }
}

void
sim__cause_lost(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count == 0);
    rt_assert(evidence->wake_outcome->kind < SIM_WAKE_OUTCOMES);
    const struct sim_wake_outcome *wake_outcome = evidence->wake_outcome;
    switch ((enum sim_wake_outcome_kind)wake_outcome->kind) {
    case SIM_WAKE_OUTCOME_NEVER_STORED:
        sim__cause_never_stored(evidence, cause);
        return;
    case SIM_WAKE_OUTCOME_NEVER_FIRED:
    case SIM_WAKE_OUTCOME_NOT_PASSED_ON:
        find_never_fired(evidence, cause);
        return;
    case SIM_WAKE_OUTCOME_TOO_EARLY:
        find_fired_early(evidence, cause);
        return;
    case SIM_WAKE_OUTCOME_REPLACED:
        cause->kind = SIM_CAUSE_REPLACED;
        break;
    case SIM_WAKE_OUTCOME_ERASED:
        cause->kind = SIM_CAUSE_ERASED;
        break;
    case SIM_WAKE_OUTCOME_DROPPED:
        cause->kind = SIM_CAUSE_DROPPED;
        break;
    case SIM_WAKE_OUTCOME_FIRED_OTHER:
        cause->kind = SIM_CAUSE_NEVER_FIRED;
        sim__cause_add_event(evidence, cause, wake_outcome->root_cause);
        sim__cause_add_entry(evidence, cause, 0);
        return;
    case SIM_WAKE_OUTCOME_FIRED_DEAD:
    case SIM_WAKE_OUTCOME_STOPPED:
    case SIM_WAKE_OUTCOME_NOT_POLLED:
        cause->kind = SIM_CAUSE_COALESCED;
        if (evidence->loop != NULL && evidence->loop->loop != 0 &&
                deciding_word(evidence, evidence->loop, cause) != NULL) {
            cause->loop =
                    sim_actor_table_actor(evidence->ledger->actor_table, evidence->loop->loop);
            cause->by_word = true;
            return;
        }
        sim__cause_attempted(evidence, &cause->attempted);
        if (sim__cause_unpolled(evidence, cause)) {
            return;
        }
        break;
    case SIM_WAKE_OUTCOME_UNKNOWN:
    case SIM_WAKE_OUTCOMES:
        sim__cause_no_wake(evidence, cause);
        return;
    }
    sim__cause_add_event(evidence, cause, wake_outcome->root_cause);
}

/* A deadline was missed: the actor that set the timer did not wake the loop that was blocked. */
bool
sim__cause_late_timer(const struct sim_evidence *evidence, struct sim_cause *cause)
{
    rt_assert(cause->at_count == 0);
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    uint32_t timer = 0;
    for (uint64_t i = evidence->wake_outcome->horizon; i-- > actor_table->first;) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (timer == 0 && event->kind == RT_PROBE_EXPIRE) {
            timer = event->object;
        } else if (timer != 0 && event->object == timer && event->kind == RT_PROBE_ARM) {
            cause->kind = SIM_CAUSE_NEVER_FIRED;
            sim__cause_add_event(evidence, cause, i);
            return cause->at_count > 0;
        }
    }
    return false;
}

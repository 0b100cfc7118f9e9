/*
 * wake_outcome.c -- going through the ways in which a wake goes missing.
 *
 * The order of the questions matters. A wake that arrived and was forgotten is
 * reported before anything about wakers; then the one wait that matters is chosen, and
 * how it ended is the answer. A wait that is still open needs the step that owed
 * the wake: what did it do at that object instead?
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/view/wake_outcome.h"

#include "runtime/base/assert.h"
#include "runtime/time/timers.h"
#include "sim/base/names.h"
#include "sim/explain/view/phrase.h"

/* The search, and what it knows. */
struct search {
    const struct sim_ledger *ledger;
    const struct sim_actor_table *actor_table;
    const struct sim_outcome *outcome;
    struct sim_wake_outcome *wake_outcome;
};

/* The first event after the verdict fell. A late wake-up is found in a run that continues. */
static uint64_t
find_horizon(const struct sim_actor_table *actor_table, const struct sim_outcome *outcome)
{
    for (uint64_t i = actor_table->end; i-- > actor_table->first;) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        bool after = outcome->fail_step != 0 && event->step > outcome->fail_step;
        if (!after && event->kind != SIM_EVENT_END) {
            return i + 1;
        }
    }
    return actor_table->first;
}

/* The last event before `before` that is of `kind` and of the blocked task; SIM_EVENT_NONE. */
static uint64_t
last_of(const struct search *search, uint32_t kind, uint64_t before)
{
    for (uint64_t i = before; i-- > search->actor_table->first;) {
        if (sim_actor_table_event(search->actor_table, i)->kind == kind &&
                sim_actor_table_part_of(search->actor_table, i) == search->wake_outcome->part) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* Where the poll that begins at `poll` has returned, if it did so in a later step: a poll of a
 * foreign runtime may give way in its middle, and continue as its loop. SIM_EVENT_NONE: in its own
 * step, or never. */
static uint64_t
returned_later(const struct search *search, uint64_t poll)
{
    const struct sim_event *began = sim_actor_table_event(search->actor_table, poll);
    for (uint64_t i = poll; i < search->wake_outcome->horizon && began->kind == RT_PROBE_POLL;
            i++) {
        const struct sim_event *event = sim_actor_table_event(search->actor_table, i);
        if (event->kind == RT_PROBE_POLLED && event->object == began->object) {
            return event->step != began->step ? i : SIM_EVENT_NONE;
        }
    }
    return SIM_EVENT_NONE;
}

/* Its last turn: from its POLL to POLLED, or, for one that is not polled, its last step. */
static void
find_turn(struct search *search)
{
    struct sim_wake_outcome *wake_outcome = search->wake_outcome;
    uint64_t poll = last_of(search, RT_PROBE_POLL, wake_outcome->horizon);
    wake_outcome->poll =
            poll != SIM_EVENT_NONE ? poll : last_of(search, SIM_EVENT_STEP, wake_outcome->horizon);
    wake_outcome->polled = wake_outcome->poll;
    if (wake_outcome->poll == SIM_EVENT_NONE) {
        return;
    }
    uint64_t later = returned_later(search, wake_outcome->poll);
    if (later != SIM_EVENT_NONE) {
        wake_outcome->polled = later;
        return;
    }
    uint32_t step = sim_actor_table_event(search->actor_table, wake_outcome->poll)->step;
    for (uint64_t i = wake_outcome->poll; i < wake_outcome->horizon; i++) {
        const struct sim_event *event = sim_actor_table_event(search->actor_table, i);
        if (event->step != step) {
            return;
        }
        if (sim_actor_table_part_of(search->actor_table, i) == wake_outcome->part) {
            wake_outcome->polled = i;
        }
        if (event->kind == RT_PROBE_POLLED && wake_outcome->polled == i) {
            return;
        }
    }
}

/* A wake of the blocked task that no poll followed; SIM_EVENT_NONE. */
static uint64_t
forgotten_wake(const struct search *search)
{
    const struct sim_wake_outcome *wake_outcome = search->wake_outcome;
    uint32_t object = search->actor_table->parts[wake_outcome->part].object;
    if (object == 0 || wake_outcome->poll == SIM_EVENT_NONE) {
        return SIM_EVENT_NONE;
    }
    for (uint64_t i = wake_outcome->horizon; i-- > wake_outcome->poll;) {
        const struct sim_event *event = sim_actor_table_event(search->actor_table, i);
        if (event->kind == RT_PROBE_WAKE && event->object == object) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* True when the step that should have woken did something with `object`. */
static bool
missing_wake_step_touches(const struct search *search, uint32_t object)
{
    uint64_t i = search->wake_outcome->owed;
    for (; i < search->wake_outcome->horizon; i++) {
        const struct sim_event *event = sim_actor_table_event(search->actor_table, i);
        if (event->step != search->outcome->missing_wake_step) {
            return false;
        }
        if (event->object == object && object != 0) {
            return true;
        }
    }
    return false;
}

static bool
open_at_horizon(const struct search *search, const struct sim_wait *wait)
{
    return wait->end == SIM_WAIT_OPEN || wait->end_event >= search->wake_outcome->horizon;
}

/* It waits for a timer whose time had come by the step that should have woken. */
static bool
is_overdue(const struct search *search, const struct sim_wait *wait)
{
    uint64_t due_ns = RT_NEVER;
    uint64_t now_ns = 0;
    if (SIM_OBJECT_KIND(wait->object) != RT_OBJECT_TIMER ||
            !sim_actor_table_step_time(
                    search->actor_table, search->outcome->missing_wake_step, &now_ns)) {
        return false;
    }
    for (uint64_t i = search->actor_table->first; i < search->wake_outcome->horizon; i++) {
        const struct sim_event *event = sim_actor_table_event(search->actor_table, i);
        bool its = event->object == wait->object;
        if (its && event->kind == RT_PROBE_ARM) {
            due_ns = event->argument;
        } else if (its && (event->kind == RT_PROBE_DISARM || event->kind == RT_PROBE_EXPIRE)) {
            due_ns = RT_NEVER;
        }
    }
    return due_ns <= now_ns;
}

/* Whether `wait` could have woken the blocked task out of its last sleep, and how well it fits. 0:
 * no. */
static uint32_t
fitness(const struct search *search, const struct sim_wait *wait)
{
    const struct sim_wake_outcome *wake_outcome = search->wake_outcome;
    if (wait->part != wake_outcome->part || wait->kind == SIM_WAIT_HOST ||
            wait->store_event >= wake_outcome->horizon || wait->end == SIM_WAIT_ENDED) {
        return 0;
    }
    bool wanted = wait->object != 0 && wait->object == search->outcome->object;
    bool open = open_at_horizon(search, wait);
    bool alive =
            open || wake_outcome->poll == SIM_EVENT_NONE || wait->end_event > wake_outcome->poll;
    bool taken = wait->end == SIM_WAIT_REPLACED || wait->end == SIM_WAIT_ERASED ||
                 wait->end == SIM_WAIT_DROPPED;
    if (!alive) {
        /* Gone before its last turn, which relied on it. */
        return taken && wanted ? 1 : 0;
    }
    if (!open && wait->end == SIM_WAIT_ERASED && wait->end_event <= wake_outcome->polled) {
        /* Its own turn took it back. It is the outcome only when nothing came instead. */
        return wanted ? 3 : 2;
    }
    bool overdue = open && is_overdue(search, wait);
    return 4 + (overdue ? 16u : 0) + (wanted ? 8u : 0) +
           (missing_wake_step_touches(search, wait->object) ? 4u : 0) + (open ? 0 : 2u) +
           (wait->kind == SIM_WAIT_SLOT ? 1u : 0);
}

static const struct sim_wait *
find_wait(const struct search *search)
{
    const struct sim_wait *best = NULL;
    uint32_t best_fitness = 0;
    for (uint32_t i = 0; i < search->ledger->count; i++) {
        uint32_t fit = fitness(search, &search->ledger->waits[i]);
        if (fit != 0 && fit >= best_fitness) {
            best = &search->ledger->waits[i];
            best_fitness = fit;
        }
    }
    return best;
}

/* The wait that was ended by `event`, or NULL. */
static const struct sim_wait *
wait_ended_by(const struct sim_ledger *ledger, uint64_t event)
{
    for (uint32_t i = 0; i < ledger->count; i++) {
        if (ledger->waits[i].end_event == event) {
            return &ledger->waits[i];
        }
    }
    return NULL;
}

/* A FIRE of `object` in the step that should have woken, for another; SIM_EVENT_NONE. */
static uint64_t
fired_for_another(const struct search *search, uint32_t object, uint32_t whose)
{
    for (uint64_t i = search->wake_outcome->owed; i < search->wake_outcome->horizon; i++) {
        const struct sim_event *event = sim_actor_table_event(search->actor_table, i);
        if (event->step != search->outcome->missing_wake_step) {
            break;
        }
        if (event->kind == RT_PROBE_FIRE && event->object == object && object != 0 &&
                event->argument != whose) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* The last event of `kind` at `object` in [from, to); SIM_EVENT_NONE. */
static uint64_t
last_at(const struct search *search, uint32_t kind, uint32_t object, uint64_t from, uint64_t to)
{
    for (uint64_t i = to; i-- > from;) {
        const struct sim_event *event = sim_actor_table_event(search->actor_table, i);
        if (event->kind == kind && event->object == object) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

static uint64_t
stored_last(const struct sim_wait *wait)
{
    return wait->keep_event != SIM_EVENT_NONE ? wait->keep_event : wait->store_event;
}

const struct sim_wait *
sim_wake_outcome_last_in(const struct sim_ledger *ledger, uint32_t object, uint64_t event)
{
    const struct sim_wait *last = NULL;
    for (uint32_t i = 0; i < ledger->count; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        bool ended = wait->end != SIM_WAIT_OPEN && wait->end_event < event;
        if (wait->kind == SIM_WAIT_SLOT && wait->object == object && ended &&
                (last == NULL || wait->end_event > last->end_event)) {
            last = wait;
        }
    }
    return last;
}

/*
 * What the step that should have woken fired instead. Where it is a place that the blocked task
 * polled too without storing its waker there (a future that moved), this is the answer;
 * no event says so, and so it is only a clue.
 */
static void
find_instead(struct search *search)
{
    struct sim_wake_outcome *wake_outcome = search->wake_outcome;
    for (uint64_t i = wake_outcome->owed; i < wake_outcome->horizon; i++) {
        const struct sim_event *event = sim_actor_table_event(search->actor_table, i);
        if (event->step != search->outcome->missing_wake_step) {
            return;
        }
        if (event->kind == RT_PROBE_FIRE) {
            wake_outcome->other = wait_ended_by(search->ledger, i);
        } else if (event->kind == RT_PROBE_FIRE_EMPTY) {
            wake_outcome->other = sim_wake_outcome_last_in(search->ledger, event->object, i);
        } else {
            continue;
        }
        wake_outcome->instead = i;
        return;
    }
}

/* The waker is still there. */
static void
judge_open(struct search *search)
{
    struct sim_wake_outcome *wake_outcome = search->wake_outcome;
    const struct sim_wait *wait = wake_outcome->wait;
    uint64_t stored = stored_last(wait);
    uint64_t another = fired_for_another(search, wait->object, wait->whose);
    uint64_t report =
            last_at(search, SIM_EVENT_REPORT, wait->object, stored, wake_outcome->horizon);
    uint32_t stored_step = sim_actor_table_event(search->actor_table, stored)->step;
    wake_outcome->kind = SIM_WAKE_OUTCOME_NEVER_FIRED;
    if (search->outcome->missing_wake_step != 0 &&
            search->outcome->missing_wake_step <= stored_step) {
        /* What came before its turn before the last one, that turn has seen. */
        uint64_t looked = wake_outcome->poll != SIM_EVENT_NONE
                                  ? last_of(search, RT_PROBE_POLL, wake_outcome->poll)
                                  : SIM_EVENT_NONE;
        wake_outcome->kind = SIM_WAKE_OUTCOME_TOO_EARLY;
        wake_outcome->root_cause = last_at(search, RT_PROBE_FIRE_EMPTY, wait->object,
                looked != SIM_EVENT_NONE ? looked : search->actor_table->first, stored);
    } else if (another != SIM_EVENT_NONE) {
        wake_outcome->kind = SIM_WAKE_OUTCOME_FIRED_OTHER;
        wake_outcome->root_cause = another;
        wake_outcome->other = wait_ended_by(search->ledger, another);
    } else if (report != SIM_EVENT_NONE) {
        wake_outcome->kind = SIM_WAKE_OUTCOME_NOT_PASSED_ON;
        wake_outcome->root_cause = report;
    } else {
        find_instead(search);
    }
}

static void
judge_ended(struct search *search)
{
    struct sim_wake_outcome *wake_outcome = search->wake_outcome;
    wake_outcome->root_cause = wake_outcome->wait->end_event;
    switch (wake_outcome->wait->end) {
    case SIM_WAIT_REPLACED:
        wake_outcome->kind = SIM_WAKE_OUTCOME_REPLACED;
        return;
    case SIM_WAIT_ERASED:
        wake_outcome->kind = SIM_WAKE_OUTCOME_ERASED;
        return;
    case SIM_WAIT_DROPPED:
        wake_outcome->kind = SIM_WAKE_OUTCOME_DROPPED;
        return;
    case SIM_WAIT_FIRED:
        wake_outcome->kind = wake_outcome->wait->wake == SIM_WAKE_DEAD ? SIM_WAKE_OUTCOME_FIRED_DEAD
                             : wake_outcome->wait->wake == SIM_WAKE_CHILD
                                     ? SIM_WAKE_OUTCOME_STOPPED
                                     : SIM_WAKE_OUTCOME_UNKNOWN;
        return;
    default:
        wake_outcome->kind = SIM_WAKE_OUTCOME_UNKNOWN;
        return;
    }
}

/* Nothing was stored in the last turn; but what it waits for may have woken another in its
 * stead. */
static void
judge_nothing(struct search *search)
{
    struct sim_wake_outcome *wake_outcome = search->wake_outcome;
    uint32_t self = search->actor_table->parts[wake_outcome->part].object;
    uint64_t another = fired_for_another(search, search->outcome->object, self);
    if (another != SIM_EVENT_NONE) {
        wake_outcome->kind = SIM_WAKE_OUTCOME_FIRED_OTHER;
        wake_outcome->root_cause = another;
        wake_outcome->other = wait_ended_by(search->ledger, another);
    } else if (wake_outcome->poll != SIM_EVENT_NONE &&
               sim_actor_table_event(search->actor_table, wake_outcome->poll)->kind ==
                       RT_PROBE_POLL) {
        wake_outcome->kind = SIM_WAKE_OUTCOME_NEVER_STORED;
    }
}

void
sim_wake_outcome_find(const struct sim_ledger *ledger, const struct sim_outcome *outcome,
        struct sim_wake_outcome *ret_wake_outcome)
{
    rt_assert(ledger->actor_table != NULL);
    rt_assert(ret_wake_outcome != NULL);
    const struct sim_actor_table *actor_table = ledger->actor_table;
    *ret_wake_outcome = (struct sim_wake_outcome){
            .kind = SIM_WAKE_OUTCOME_UNKNOWN,
            .part = sim_actor_table_actor(actor_table, outcome->actor),
            .poll = SIM_EVENT_NONE,
            .polled = SIM_EVENT_NONE,
            .owed = SIM_EVENT_NONE,
            .root_cause = SIM_EVENT_NONE,
            .instead = SIM_EVENT_NONE,
            .horizon = find_horizon(actor_table, outcome),
    };
    struct search search = {ledger, actor_table, outcome, ret_wake_outcome};
    if (ret_wake_outcome->part == SIM_PART_NONE || ret_wake_outcome->part == 0) {
        ret_wake_outcome->part = SIM_PART_NONE;
        return;
    }
    if (outcome->missing_wake_step != 0) {
        ret_wake_outcome->owed =
                sim_actor_table_step_first(actor_table, outcome->missing_wake_step);
    }
    find_turn(&search);
    ret_wake_outcome->wait = find_wait(&search);
    ret_wake_outcome->overdue = ret_wake_outcome->wait != NULL &&
                                open_at_horizon(&search, ret_wake_outcome->wait) &&
                                is_overdue(&search, ret_wake_outcome->wait);
    uint64_t wake = forgotten_wake(&search);
    if (wake != SIM_EVENT_NONE) {
        ret_wake_outcome->kind = SIM_WAKE_OUTCOME_NOT_POLLED;
        ret_wake_outcome->root_cause = wake;
    } else if (ret_wake_outcome->wait == NULL) {
        judge_nothing(&search);
    } else if (open_at_horizon(&search, ret_wake_outcome->wait)) {
        judge_open(&search);
    } else {
        judge_ended(&search);
    }
}

/* ---- Where it is missing. -------------------------------------------------------------------- */

void
sim_missing_find(const struct sim_actor_table *actor_table, const struct sim_outcome *outcome,
        struct sim_missing *ret_missing)
{
    struct sim_wake_outcome wake_outcome = {
            .part = sim_actor_table_actor(actor_table, outcome->actor),
            .poll = SIM_EVENT_NONE,
            .horizon = find_horizon(actor_table, outcome)};
    struct search search = {NULL, actor_table, outcome, &wake_outcome};
    *ret_missing = (struct sim_missing){
            SIM_MISSING_NONE, wake_outcome.part, outcome->missing_wake_step, 0, false, false};
    if (wake_outcome.part == SIM_PART_NONE || outcome->missing_wake_step == 0) {
        return;
    }
    find_turn(&search);
    uint64_t wake = forgotten_wake(&search);
    if (wake != SIM_EVENT_NONE) {
        ret_missing->kind = SIM_MISSING_DROPPED;
        ret_missing->woken = sim_actor_table_event(actor_table, wake)->step;
        ret_missing->itself = sim_actor_table_part_of(actor_table, wake) == wake_outcome.part;
        ret_missing->step =
                ret_missing->woken > ret_missing->step ? ret_missing->woken : ret_missing->step;
        ret_missing->late = outcome->verdict == SIM_VERDICT_LATE_WAKEUP;
    } else {
        bool itself =
                sim_phrase_whose_step(actor_table, outcome->missing_wake_step) == wake_outcome.part;
        ret_missing->kind = itself ? SIM_MISSING_ITSELF : SIM_MISSING_OWED;
    }
}

void
sim_missing_put(const struct sim_actor_table *actor_table, struct sim_page *page,
        const struct sim_missing *missing)
{
    sim_page_put(page, "here ");
    sim_actor_table_put_part(actor_table, page, missing->part);
    if (missing->kind == SIM_MISSING_ITSELF) {
        sim_page_put(page, " blocks, but could make progress");
    } else if (missing->kind != SIM_MISSING_DROPPED) {
        sim_page_put(page, " should have been woken");
    } else if (missing->woken == missing->step) {
        sim_page_put(page, missing->itself ? " woke itself" : " was woken");
        sim_page_put(page, missing->late ? "; its poll came too late" : ", and no poll followed");
    } else {
        sim_page_put(page, " could make progress: woken at ");
        sim_page_put_step(page, missing->woken);
        sim_page_printf(page, ", %s", missing->late ? "polled too late" : "never polled");
    }
}

/* ---- Names. ---------------------------------------------------------------------------------- */

static const struct sim_name names[] = {SIM_WAKE_OUTCOME_LIST(SIM_NAME_ROW)};

const char *
sim_wake_outcome_name(uint32_t wake_outcome)
{
    return sim_name_at(names, SIM_WAKE_OUTCOMES, wake_outcome)->name;
}

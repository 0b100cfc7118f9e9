/*
 * tell_wake_outcome.c -- what became of the waker, in sentences.
 *
 * One function for each wake outcome. Each begins with the store, names what happened to
 * the waker with its line, and ends with the step that should have woken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/record/site.h"
#include "sim/explain/view/phrase.h"
#include "sim/explain/view/tell_priv.h"

/* "at step 17 (1.2ms) `client` stored its waker for the reply at client.c:41 in wait()" */
static void
put_store(struct sim__telling *telling)
{
    const struct sim_wait *wait = telling->wake_outcome.wait;
    struct sim_page *line = &telling->line;
    rt_assert(wait != NULL);
    if (wait->unknown != 0) {
        sim_page_put(line, "before the record begins ");
        sim__put_who(telling, wait->part);
        sim_page_put(line, " stored its waker");
        return;
    }
    sim_page_put(line, wait->store_step != 0 ? "at " : "from ");
    sim__put_step(telling, wait->store_step);
    sim_page_put(line, " ");
    sim__put_who(telling, wait->part);
    if (wait->kind == SIM_WAIT_CLONE) {
        sim_page_put(line, " gave away a clone of its waker");
    } else {
        sim_page_put(line, " stored its waker for ");
        sim_actor_table_put_wanted(
                &telling->actor_table, line, wait->object, wait->reason, wait->part);
    }
    sim__put_at(telling, wait->await, wait->site);
    if (SIM_OBJECT_KIND(wait->whose) == RT_OBJECT_JOIN) {
        sim_page_put(line, ", as a child of ");
        sim_actor_table_put_object(&telling->actor_table, line, wait->whose, wait->part);
    }
    if (wait->kept > 0) {
        sim_page_printf(line, " (and kept it %s since)", wait->kept == 1 ? "once" : "many times");
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

/* The last line of the user's in the step that owed the wake. After the poll come the runtime's. */
static void
put_owed_line(struct sim__telling *telling)
{
    const struct sim_actor_table *actor_table = &telling->actor_table;
    uint64_t found = SIM_EVENT_NONE;
    for (uint64_t i = telling->wake_outcome.owed; i < telling->wake_outcome.horizon; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->step != telling->outcome->missing_wake_step || event->kind == RT_PROBE_POLLED) {
            break;
        }
        if (is_users_line(event->await)) {
            found = i;
        }
    }
    if (found != SIM_EVENT_NONE) {
        sim_page_put(&telling->line, " Its last line on record is");
        sim__put_at_event(telling, found);
        sim_page_put(&telling->line, ".");
    }
}

/* " It should have been woken by step 41 (3.1ms), a step of `response`: is ready." */
static void
put_owed(struct sim__telling *telling)
{
    uint64_t step = telling->outcome->missing_wake_step;
    if (telling->wake_outcome.owed == SIM_EVENT_NONE ||
            sim_phrase_whose_step(&telling->actor_table, step) == telling->wake_outcome.part) {
        return; /* Of a step of its own all is said. */
    }
    uint64_t root_cause = telling->wake_outcome.root_cause;
    if (root_cause != SIM_EVENT_NONE &&
            sim_actor_table_event(&telling->actor_table, root_cause)->step == step) {
        sim_page_put(&telling->line, " That step should have woken it.");
        return;
    }
    sim_page_put(&telling->line, " ");
    sim__put_who(telling, telling->wake_outcome.part);
    sim_page_put(&telling->line, " should have been woken by ");
    sim__put_deed(telling, step);
    sim_page_put(&telling->line, ".");
    put_owed_line(telling);
}

/* "at step 30 (2ms) `thief` …" of the event in which it went missing. */
static void
put_root_cause(struct sim__telling *telling)
{
    uint64_t root_cause = telling->wake_outcome.root_cause;
    rt_assert(root_cause != SIM_EVENT_NONE);
    uint32_t step = sim_actor_table_event(&telling->actor_table, root_cause)->step;
    sim_page_put(&telling->line, step != 0 ? "at " : "from ");
    sim__put_step(telling, step);
    sim_page_put(&telling->line, " ");
    sim__put_who(telling, sim_actor_table_part_of(&telling->actor_table, root_cause));
}

static void
tell_never_stored(struct sim__telling *telling)
{
    sim_page_put(&telling->line, "the last poll of ");
    sim__put_who(telling, telling->wake_outcome.part);
    sim_page_put(&telling->line, ", at ");
    sim__put_step(telling,
            sim_actor_table_event(&telling->actor_table, telling->wake_outcome.poll)->step);
    sim_page_put(&telling->line, ", returned pending, but no waker was stored for it, then or "
                                 "before: nothing could wake it.");
    put_owed(telling);
}

static void
tell_never_fired(struct sim__telling *telling)
{
    put_store(telling);
    sim_page_put(&telling->line,
            telling->outcome->verdict == SIM_VERDICT_LATE_WAKEUP
                    ? "; it was still there when nothing could run, and had not been fired."
                    : "; it is still there, and was never fired.");
    sim__put_moves(telling);
    put_owed(telling);
    sim__put_instead(telling);
}

static void
tell_too_early(struct sim__telling *telling)
{
    put_store(telling);
    if (telling->wake_outcome.root_cause != SIM_EVENT_NONE) {
        sim_page_put(&telling->line, ", but what it waits for had happened by then: ");
        put_root_cause(telling);
        sim_page_put(&telling->line, " had woken the empty slot");
        sim__put_at_event(telling, telling->wake_outcome.root_cause);
        sim_page_put(&telling->line,
                ". It checked first and stored its waker afterwards, and did not check again.");
    } else {
        sim_page_put(&telling->line,
                ". Polled again at that step it makes progress, and no empty slot was woken since "
                "its poll before: either it checked first and stored its waker afterwards, or it "
                "blocked with something left to do, or without the timer that it needs.");
    }
    put_owed(telling);
}

static void
tell_replaced(struct sim__telling *telling)
{
    put_store(telling);
    sim_page_put(&telling->line, ", in a slot for one waker; ");
    put_root_cause(telling);
    sim_page_put(&telling->line, " put another one there");
    sim__put_at_event(telling, telling->wake_outcome.root_cause);
    sim_page_put(&telling->line, ", and from then on nothing could wake ");
    sim__put_who(telling, telling->wake_outcome.part);
    sim_page_put(&telling->line, ".");
    put_owed(telling);
}

static void
tell_erased(struct sim__telling *telling)
{
    put_store(telling);
    sim_page_put(&telling->line, "; ");
    put_root_cause(telling);
    sim_page_put(&telling->line, " emptied the slot without waking");
    sim__put_at_event(telling, telling->wake_outcome.root_cause);
    sim_page_put(&telling->line, ", and the waker was gone.");
    put_owed(telling);
}

static void
tell_dropped(struct sim__telling *telling)
{
    put_store(telling);
    sim_page_put(&telling->line, "; ");
    put_root_cause(telling);
    sim_page_put(&telling->line, " dropped it without waking");
    sim__put_at_event(telling, telling->wake_outcome.root_cause);
    sim_page_put(&telling->line, ".");
    put_owed(telling);
}

static void
tell_fired_other(struct sim__telling *telling)
{
    const struct sim_wake_outcome *wake_outcome = &telling->wake_outcome;
    const struct sim_event *fire =
            sim_actor_table_event(&telling->actor_table, wake_outcome->root_cause);
    if (wake_outcome->wait != NULL) {
        put_store(telling);
        sim_page_put(&telling->line, "; but ");
    } else {
        sim_page_put(&telling->line, "no waker of ");
        sim__put_who(telling, wake_outcome->part);
        sim_page_put(&telling->line, " was stored; ");
    }
    put_root_cause(telling);
    sim_page_put(&telling->line, " fired ");
    sim_actor_table_put_object(&telling->actor_table, &telling->line, fire->object, SIM_PART_NONE);
    sim__put_at_event(telling, wake_outcome->root_cause);
    sim_page_put(&telling->line, ", and the waker in it is ");
    if (wake_outcome->other != NULL) {
        sim__put_who(telling, wake_outcome->other->part);
        sim_page_put(&telling->line, "'s, stored at ");
        sim__put_step(telling, wake_outcome->other->store_step);
        sim__put_at(telling, wake_outcome->other->await, wake_outcome->other->site);
    } else {
        sim_page_put(&telling->line, "another task's");
    }
    sim_page_put(&telling->line, ".");
    if (wake_outcome->other != NULL) {
        sim__put_left_behind(telling, wake_outcome->other, wake_outcome->root_cause);
    }
    put_owed(telling);
}

static void
tell_fired_dead(struct sim__telling *telling)
{
    put_store(telling);
    sim_page_put(&telling->line, "; ");
    put_root_cause(telling);
    sim_page_put(&telling->line, " fired it");
    sim__put_at_event(telling, telling->wake_outcome.root_cause);
    sim_page_put(&telling->line,
            ", but it was the waker of a task that has finished: such a wake has no effect.");
    put_owed(telling);
}

static void
tell_stopped(struct sim__telling *telling)
{
    put_store(telling);
    sim_page_put(&telling->line, "; ");
    put_root_cause(telling);
    sim_page_put(&telling->line, " fired it");
    sim__put_at_event(telling, telling->wake_outcome.root_cause);
    sim_page_put(&telling->line, ", the combinator noted which child it is for, and did not wake ");
    sim__put_who(telling, telling->wake_outcome.part);
    sim_page_put(&telling->line, ".");
    put_owed(telling);
}

static void
tell_not_passed_on(struct sim__telling *telling)
{
    put_store(telling);
    sim_page_put(&telling->line, "; at ");
    sim__put_step(telling,
            sim_actor_table_event(&telling->actor_table, telling->wake_outcome.root_cause)->step);
    sim_page_put(&telling->line,
            " the host reported it as ready, and the runtime did not fire the waker.");
    put_owed(telling);
}

/* The first event of `kind` that is of `part`, after `after`; SIM_EVENT_NONE. */
static uint64_t
next_of(const struct sim__telling *telling, uint32_t kind, uint32_t part, uint64_t after)
{
    for (uint64_t i = after + 1; i < telling->actor_table.end; i++) {
        if (sim_actor_table_event(&telling->actor_table, i)->kind == kind &&
                sim_actor_table_part_of(&telling->actor_table, i) == part) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* The loop in whose step the blocked task was polled last; SIM_PART_NONE: it takes steps of its
 * own. */
static uint32_t
poller_of(const struct sim__telling *telling)
{
    uint64_t poll = telling->wake_outcome.poll;
    uint64_t step = poll != SIM_EVENT_NONE
                            ? sim_actor_table_step_first(&telling->actor_table,
                                      sim_actor_table_event(&telling->actor_table, poll)->step)
                            : SIM_EVENT_NONE;
    uint32_t part = step != SIM_EVENT_NONE
                            ? sim_actor_table_actor(&telling->actor_table,
                                      sim_actor_table_event(&telling->actor_table, step)->actor)
                            : SIM_PART_NONE;
    bool loop = part != SIM_PART_NONE && part != telling->wake_outcome.part &&
                telling->actor_table.parts[part].kind == SIM_ACTOR_LOOP;
    return loop ? part : SIM_PART_NONE;
}

/* Who had the wake last, and what it did instead of the poll. */
static void
put_who_had_it(struct sim__telling *telling)
{
    uint64_t root_cause = telling->wake_outcome.root_cause;
    uint32_t poller = poller_of(telling);
    if (poller == SIM_PART_NONE) {
        sim_page_put(&telling->line, " The waker was called; the run queue lost the task.");
        return;
    }
    uint64_t block = next_of(telling, SIM_EVENT_BLOCK, poller, root_cause);
    sim_page_put(&telling->line, " The waker was called; ");
    sim__put_who(telling, poller);
    sim_page_put(&telling->line, ", which polls it, did not poll it");
    if (block != SIM_EVENT_NONE && block < telling->wake_outcome.horizon) {
        sim_page_put(&telling->line, ": it blocked at ");
        sim__put_step(telling, sim_actor_table_event(&telling->actor_table, block)->step);
    }
    sim_page_put(&telling->line, ".");
}

static void
tell_not_polled(struct sim__telling *telling)
{
    uint64_t root_cause = telling->wake_outcome.root_cause;
    const struct sim_event *wake = sim_actor_table_event(&telling->actor_table, root_cause);
    uint64_t poll = next_of(telling, RT_PROBE_POLL, telling->wake_outcome.part, root_cause);
    bool sleeps_apart = poller_of(telling) == SIM_PART_NONE;
    put_root_cause(telling);
    if (sim_actor_table_part_of(&telling->actor_table, root_cause) == telling->wake_outcome.part) {
        sim_page_put(&telling->line, " woke itself");
    } else {
        sim_page_put(&telling->line, " woke ");
        sim__put_who(telling, telling->wake_outcome.part);
    }
    sim__put_at_event(telling, root_cause);
    sim_page_put(&telling->line,
            wake->argument == 2   ? ", while it was being polled, and the runtime dropped that"
            : wake->argument == 1 ? ", which was taken for queued already, and was not"
            : sleeps_apart        ? ", which was queued"
                                  : "");
    if (poll != SIM_EVENT_NONE) {
        sim_page_put(&telling->line, ": no poll followed before ");
        sim__put_step(telling, sim_actor_table_event(&telling->actor_table, poll)->step);
    } else {
        sim_page_put(&telling->line,
                ": no poll followed. So the wake was sent, and lost between there and the poll");
    }
    sim_page_put(&telling->line, ".");
    put_who_had_it(telling);
    if (wake->step != telling->outcome->missing_wake_step) {
        put_owed(telling);
    }
}

/* A loop has no wakers; it blocks in the host, and is notified, or is not. */
static void
tell_blocked(struct sim__telling *telling, uint64_t block)
{
    const struct sim_event *event = sim_actor_table_event(&telling->actor_table, block);
    uint64_t owed = telling->outcome->missing_wake_step;
    sim__put_who(telling, telling->wake_outcome.part);
    sim_page_put(&telling->line, " began to wait for ");
    sim_actor_table_put_wanted(
            &telling->actor_table, &telling->line, event->object, NULL, telling->wake_outcome.part);
    sim_page_put(&telling->line, " at ");
    sim__put_step(telling, event->step);
    sim_page_put(&telling->line,
            owed != 0 && owed <= event->step
                    ? ", when it could already have made progress; it was not notified after that."
                    : "; what it waits for arrived after that, and it was not notified.");
    if (owed > event->step) {
        put_owed(telling);
    }
}

static void
tell_unknown(struct sim__telling *telling)
{
    uint64_t block = telling->wake_outcome.part != SIM_PART_NONE
                             ? sim_actor_table_blocked(&telling->actor_table,
                                       telling->wake_outcome.part, telling->wake_outcome.horizon)
                             : SIM_EVENT_NONE;
    if (telling->wake_outcome.wait == NULL && block != SIM_EVENT_NONE) {
        tell_blocked(telling, block);
        return;
    }
    if (telling->wake_outcome.wait != NULL) {
        put_store(telling);
        sim_page_put(&telling->line, "; the record does not say why it was not woken by that.");
    } else {
        sim_page_put(&telling->line, "the record says nothing about a waker of ");
        sim__put_who(telling, telling->wake_outcome.part);
        sim_page_put(&telling->line, ".");
    }
    put_owed(telling);
}

void
sim__tell_wake_outcome(struct sim__telling *telling)
{
    static void (*const tellers[])(struct sim__telling *) = {
            [SIM_WAKE_OUTCOME_UNKNOWN] = tell_unknown,
            [SIM_WAKE_OUTCOME_NEVER_STORED] = tell_never_stored,
            [SIM_WAKE_OUTCOME_NEVER_FIRED] = tell_never_fired,
            [SIM_WAKE_OUTCOME_TOO_EARLY] = tell_too_early,
            [SIM_WAKE_OUTCOME_REPLACED] = tell_replaced,
            [SIM_WAKE_OUTCOME_ERASED] = tell_erased,
            [SIM_WAKE_OUTCOME_DROPPED] = tell_dropped,
            [SIM_WAKE_OUTCOME_FIRED_OTHER] = tell_fired_other,
            [SIM_WAKE_OUTCOME_FIRED_DEAD] = tell_fired_dead,
            [SIM_WAKE_OUTCOME_STOPPED] = tell_stopped,
            [SIM_WAKE_OUTCOME_NOT_PASSED_ON] = tell_not_passed_on,
            [SIM_WAKE_OUTCOME_NOT_POLLED] = tell_not_polled,
    };
    rt_assert(telling->wake_outcome.kind < SIM_WAKE_OUTCOMES);
    tellers[telling->wake_outcome.kind](telling);
    sim__end_line(telling, 0);
}

/*
 * tell_clues.c -- what is told beside the wake outcome of a waker: who was in a place last, what
 * was fired in its stead, who moved the timer.
 *
 * No event says that a clue is the reason: what is no more than a guess begins with "If".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/explain/view/phrase.h"
#include "sim/explain/view/tell_priv.h"

#define MOVES_TOLD 3u

/* True when `wait` was there when the event `at` came. */
static bool
was_open(const struct sim_wait *wait, uint64_t at)
{
    return wait->store_event < at && (wait->end_event == SIM_EVENT_NONE || wait->end_event > at);
}

/* Its owner's first poll after the last that touched `wait`, before `until`; SIM_EVENT_NONE. */
static uint64_t
poll_after(const struct sim_actor_table *actor_table, const struct sim_wait *wait, uint64_t until)
{
    uint64_t stored = wait->keep_event != SIM_EVENT_NONE ? wait->keep_event : wait->store_event;
    uint32_t step = sim_actor_table_event(actor_table, stored)->step;
    for (uint64_t i = stored; i < until; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->kind == RT_PROBE_POLL && event->step > step &&
                sim_actor_table_part_of(actor_table, i) == wait->part) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

void
sim__put_left_behind(struct sim__telling *telling, const struct sim_wait *wait, uint64_t until)
{
    const struct sim_actor_table *actor_table = &telling->actor_table;
    struct sim_page *line = &telling->line;
    uint64_t poll = poll_after(actor_table, wait, until);
    if (poll == SIM_EVENT_NONE) {
        return;
    }
    for (uint32_t i = 0; i < telling->ledger.count; i++) {
        const struct sim_wait *now = &telling->ledger.waits[i];
        if (now->part != wait->part || now->kind != SIM_WAIT_SLOT || now->object == wait->object ||
                now->store_event < poll || !was_open(now, until)) {
            continue;
        }
        sim_page_put(line, " ");
        sim__put_who(telling, wait->part);
        sim_page_put(line, " continued at ");
        sim__put_step(telling, sim_actor_table_event(actor_table, poll)->step);
        sim_page_put(line, ", left it there, and then waited for ");
        sim_actor_table_put_wanted(actor_table, line, now->object, now->reason, now->part);
        sim_page_put(line, ".");
        return;
    }
}

/* Both are known to wait for the same, by what they say. */
static bool
wait_for_the_same(const struct sim_wait *wait, const struct sim_wait *other)
{
    return wait != NULL && other != NULL &&
           (wait->object == other->object || (wait->reason != NULL && other->reason != NULL &&
                                                     strcmp(wait->reason, other->reason) == 0));
}

void
sim__put_last_waker(struct sim__telling *telling, const struct sim_wait *last)
{
    struct sim_page *line = &telling->line;
    sim_page_put(line, "; the last waker in there was that of ");
    sim__put_who(telling, last->part);
    sim_page_put(line, ", stored at ");
    sim__put_step(telling, last->store_step);
    sim__put_at(telling, last->await, last->site);
    sim_page_printf(line, " and %s at ", sim_wait_end_name(last->end));
    sim__put_step(telling, last->end_step);
}

/* " If `blocked task` waits for that as well, …": what no event says. */
static void
put_guess(struct sim__telling *telling)
{
    const struct sim_wake_outcome *wake_outcome = &telling->wake_outcome;
    struct sim_page *line = &telling->line;
    if (wait_for_the_same(wake_outcome->wait, wake_outcome->other)) {
        sim_page_put(line, " If that is what ");
        sim__put_who(telling, wake_outcome->part);
        sim_page_put(line, " waits for, its own waker should have been there, or the wake should "
                           "have been passed on to the next waiter.");
    } else {
        sim_page_put(line, " If ");
        sim__put_who(telling, wake_outcome->part);
        sim_page_put(line, " waits for that as well, its own waker should have been there.");
    }
}

/* " That step woke the empty slot "an item"; the last waker in there was that of `owner` …" */
static void
put_empty(struct sim__telling *telling, uint32_t place)
{
    sim_page_put(&telling->line, " That step woke the empty slot ");
    sim_actor_table_put_object(&telling->actor_table, &telling->line, place, SIM_PART_NONE);
    if (telling->wake_outcome.other != NULL) {
        sim__put_last_waker(telling, telling->wake_outcome.other);
    }
    sim_page_put(&telling->line, ".");
    put_guess(telling);
}

/* True when the owner of `wait`, in a place that was fired at `until`, had gone on before. */
static bool
is_left_behind(const struct sim__telling *telling, const struct sim_wait *wait, uint64_t until)
{
    return poll_after(&telling->actor_table, wait, until) != SIM_EVENT_NONE;
}

void
sim__put_instead(struct sim__telling *telling)
{
    const struct sim_wake_outcome *wake_outcome = &telling->wake_outcome;
    struct sim_page *line = &telling->line;
    if (wake_outcome->instead == SIM_EVENT_NONE) {
        return;
    }
    const struct sim_event *event =
            sim_actor_table_event(&telling->actor_table, wake_outcome->instead);
    if (event->kind == RT_PROBE_FIRE_EMPTY) {
        put_empty(telling, event->object);
        return;
    }
    if (wake_outcome->other == NULL ||
            (!wait_for_the_same(wake_outcome->wait, wake_outcome->other) &&
                    !is_left_behind(telling, wake_outcome->other, wake_outcome->instead))) {
        return;
    }
    sim_page_put(line, " That step fired ");
    sim_actor_table_put_object(&telling->actor_table, line, event->object, SIM_PART_NONE);
    sim_page_put(line, ", where the waker was that of ");
    sim__put_who(telling, wake_outcome->other->part);
    sim_page_put(line, ", stored at ");
    sim__put_step(telling, wake_outcome->other->store_step);
    sim__put_at(telling, wake_outcome->other->await, wake_outcome->other->site);
    sim_page_put(line, ".");
    sim__put_left_behind(telling, wake_outcome->other, wake_outcome->instead);
    put_guess(telling);
}

void
sim__put_moves(struct sim__telling *telling)
{
    const struct sim_actor_table *actor_table = &telling->actor_table;
    const struct sim_wait *wait = telling->wake_outcome.wait;
    uint32_t told = 0;
    for (uint64_t i = 0; i < actor_table->moves.count; i++) {
        const struct sim_move *move = &actor_table->moves.moves[i];
        if (move->event < wait->store_event || move->event >= telling->wake_outcome.horizon ||
                sim_actor_table_event(actor_table, move->event)->object != wait->object ||
                sim_actor_table_part_of(actor_table, move->event) == wait->part) {
            continue;
        }
        if (told++ == MOVES_TOLD) {
            sim_page_put(&telling->line, " And so on.");
            return;
        }
        const struct sim_event *event = sim_actor_table_event(actor_table, move->event);
        sim_page_put(&telling->line, " At ");
        sim__put_step(telling, event->step);
        sim_page_put(&telling->line, " ");
        sim__put_who(telling, sim_actor_table_part_of(actor_table, move->event));
        sim_page_put(&telling->line, " moved that timer from ");
        sim_phrase_put_due(&telling->line, move->from_ns);
        sim_page_put(&telling->line, " to ");
        sim_phrase_put_due(&telling->line, event->argument);
        sim__put_at_event(telling, move->event);
        sim_page_put(&telling->line, ".");
    }
}

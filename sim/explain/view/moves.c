/*
 * moves.c -- the last turn of each timer, in one pass; a start after a start is a move.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/view/moves.h"

#include <stdlib.h>

#include "runtime/base/assert.h"
#include "runtime/base/probe.h"
#include "sim/base/heap.h"

/* A timer, and when it is due; an entry that was never used has object 0. */
struct timer {
    uint64_t deadline_ns;
    uint32_t object;
    bool runs;
};

/* An open hash table, at most half full. */
struct timers {
    struct timer *timers;
    uint64_t mask;
};

static struct timer *
timer_of(const struct timers *table, uint32_t object)
{
    uint64_t at = (object ^ object >> 15) * 0x9e3779b1u & table->mask;
    while (table->timers[at].object != 0 && table->timers[at].object != object) {
        at = (at + 1) & table->mask;
    }
    table->timers[at].object = object;
    return &table->timers[at];
}

static bool
is_turn(const struct sim_event *event)
{
    return event->object != 0 && (event->kind == RT_PROBE_ARM || event->kind == RT_PROBE_EXPIRE ||
                                         event->kind == RT_PROBE_DISARM);
}

static uint64_t
count_turns(const struct sim_recorder *recorder)
{
    uint64_t count = 0;
    for (uint64_t i = sim_recorder_first(recorder); i < recorder->count; i++) {
        count += is_turn(sim_recorder_event(recorder, i));
    }
    return count;
}

/* Follows all timers through the record. */
static void
collect(struct sim_moves *moves, const struct sim_recorder *recorder, const struct timers *table)
{
    for (uint64_t i = sim_recorder_first(recorder); i < recorder->count; i++) {
        const struct sim_event *event = sim_recorder_event(recorder, i);
        if (!is_turn(event)) {
            continue;
        }
        struct timer *timer = timer_of(table, event->object);
        bool starts = event->kind == RT_PROBE_ARM;
        if (starts && timer->runs) {
            moves->moves[moves->count++] = (struct sim_move){i, timer->deadline_ns};
        }
        timer->runs = starts;
        timer->deadline_ns = event->argument;
    }
}

void
sim_moves_make(struct sim_moves *moves, const struct sim_recorder *recorder)
{
    rt_assert(moves != NULL && recorder != NULL);
    uint64_t turns = count_turns(recorder);
    uint64_t size = 2;
    while (size < 2 * turns) {
        size *= 2;
    }
    struct timers table = {sim_heap_new((size_t)size, sizeof(*table.timers)), size - 1};
    *moves = (struct sim_moves){sim_heap_new((size_t)turns + 1, sizeof(*moves->moves)), 0};
    collect(moves, recorder, &table);
    free(table.timers);
}

void
sim_moves_free(struct sim_moves *moves)
{
    rt_assert(moves != NULL);
    free(moves->moves);
    *moves = (struct sim_moves){0};
}

static int
by_event(const void *left, const void *right)
{
    const struct sim_move *a = left;
    const struct sim_move *b = right;
    return a->event < b->event ? -1 : a->event > b->event;
}

const struct sim_move *
sim_moves_find(const struct sim_moves *moves, uint64_t event)
{
    struct sim_move key = {event, 0};
    return moves->count == 0 ? NULL
                             : bsearch(&key, moves->moves, (size_t)moves->count,
                                       sizeof(*moves->moves), by_event);
}

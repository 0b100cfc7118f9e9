/*
 * pct.c -- probabilistic concurrency testing: random priorities that change at d - 1 points.
 *
 *      begin:  priorities are random; d - 1 distinct steps out of 1 … k - 1 are change points
 *      pick:   the one with the highest priority; at the i-th change point drawn it first falls to
 *              priority i, below all that never fell
 *
 * A bug of depth d, one that needs d orderings of two steps each, is met with probability at least
 * 1 / (n k^(d-1)) for n actors and k choices; pct_meets_bugs_as_often_as_promised() holds it.
 *
 * After: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A randomized scheduler with probabilistic
 * guarantees of finding bugs", ASPLOS 2010. Deviations:
 *
 *   - k is the largest number of choices that a run of the sweep had so far. A run that is more
 *     than twice as long continues as a random walk (the fair tail).
 *   - Only choices count as steps: where one actor alone is runnable, nothing can change.
 *   - A new actor draws a priority among all that never fell.
 *   - An actor that yields because its quota is used up, or that has only read and has not moved
 *     (it spins), falls below all: otherwise it would run until the world itself intervenes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/search/learn/states.h"
#include "sim/search/ordering.h"

#define STREAM UINT32_C(0x70637421)
#define DEPTH_MAX 16u

#define TAIL_FROM(length) (2 * (length) + 16)

/* Priorities: those that never fell from RANDOM up, change point i at POINTS + i, those that spin
 * below SPINNING, the last lowest. */
#define RANDOM (UINT64_C(1) << 63)
#define POINTS (UINT64_C(1) << 62)
#define SPINNING (UINT64_C(1) << 61)

struct pct {
    struct sim_ordering ordering;
    uint32_t points; /* d - 1 */
    uint64_t length; /* k; 0: not known yet. */
    uint64_t choice; /* Of this run, from 0. */
    uint64_t spins;
    uint64_t at[DEPTH_MAX]; /* Change points; 0: none. */
    struct sim_priorities priorities;
    bool read;    /* In the last step something was read, … */
    bool wrote;   /* … written, … */
    bool yielded; /* … or the quota used up. */
    struct sim_states states;
};

static bool
is_point(const struct pct *pct, uint64_t choice, uint32_t *ret_which)
{
    for (uint32_t i = 0; i < pct->points; i++) {
        if (pct->at[i] == choice && choice != 0) {
            *ret_which = i;
            return true;
        }
    }
    return false;
}

/* Distinct, as far as there are so many. The points of the run before must not matter: which run
 * that was depends on the worker. */
static void
draw_points(struct pct *pct)
{
    memset(pct->at, 0, sizeof(pct->at));
    for (uint32_t i = 0; i < pct->points; i++) {
        uint32_t which = 0;
        if (pct->length < 2 || i + 1 >= pct->length) {
            continue;
        }
        uint64_t at = 0;
        do {
            at = 1 + sim_ordering_below(&pct->ordering, (uint32_t)(pct->length - 1));
        } while (is_point(pct, at, &which));
        pct->at[i] = at;
    }
}

static void
pct_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct pct *pct = (void *)strategy;
    sim_ordering_begin(&pct->ordering, seed, STREAM);
    sim_states_begin(&pct->states);
    pct->choice = 0;
    pct->spins = 0;
    pct->read = false;
    pct->wrote = false;
    pct->yielded = false;
    draw_points(pct);
}

/* ---- Picking. -------------------------------------------------------------------------------- */

/* The actor of the last step loses its priority if it spins, or has used up its quota. */
static void
demote_spinner(struct pct *pct)
{
    uint32_t actor = pct->states.stepping;
    const struct sim_standing *standing = sim_states_of(&pct->states, actor);
    const uint32_t place = pct->states.from.place;
    sim_states_end_step(&pct->states);
    if (actor == 0 || standing == NULL) {
        return;
    }
    bool spins = pct->read && !pct->wrote && standing->place == place;
    if ((spins || pct->yielded) && pct->priorities.run[actor] == pct->ordering.run) {
        pct->priorities.value[actor] = SPINNING - ++pct->spins;
    }
}

static uint32_t
pct_pick(struct sim_ordering *ordering, const uint16_t *actors, uint32_t count)
{
    struct pct *pct = (void *)ordering;
    uint64_t choice = pct->choice++;
    if (actors != ordering->described) {
        demote_spinner(pct);
    }
    if (choice >= TAIL_FROM(pct->length)) {
        return sim_ordering_below(ordering, count);
    }
    uint32_t best = sim_priority_highest(&pct->priorities, ordering, actors, count);
    uint32_t which = 0;
    if (is_point(pct, choice, &which)) {
        pct->priorities.value[actors[best]] = POINTS + which;
        best = sim_priority_highest(&pct->priorities, ordering, actors, count);
    }
    return best;
}

/* ---- Events. --------------------------------------------------------------------------------- */

static void
take_event(struct pct *pct, const struct sim_event *event)
{
    sim_states_event(&pct->states, event);
    if (sim_begins_transition(event->kind)) {
        pct->read = false;
        pct->wrote = false;
        pct->yielded = false;
        return;
    }
    uint32_t mode = sim_footprints[event->kind].object;
    bool own = event->object == pct->states.from.object;
    pct->yielded = pct->yielded || event->kind == RT_PROBE_YIELD;
    pct->read = pct->read || (mode == SIM_MODE_READ && !own);
    pct->wrote = pct->wrote || (mode > SIM_MODE_READ && !own);
}

SIM_STRATEGY_EVENTS(pct_events, pct, take_event)

static void
pct_init(void *memory, const struct sim_strategy_setting *setting)
{
    struct pct *pct = memory;
    const struct sim_fact *length = sim_facts_find(&setting->learned->facts, SIM_FACT_LENGTH, 0, 0);
    pct->ordering.pick = pct_pick;
    pct->priorities.bits = RANDOM;
    pct->points = (uint32_t)sim_search_param(setting->search, "d") - 1;
    pct->length = length != NULL && length->most < UINT32_MAX ? length->most : 0;
}

const struct sim_strategy_kind sim_strategy_pct = {
        .name = "pct",
        .about = "random priorities that change at d - 1 points",
        .params = {{"d", "depth of the bugs searched for", 3, 1, DEPTH_MAX}},
        .adaptive = true,
        .size = sizeof(struct pct),
        .ops = {.begin = pct_begin, .choose = sim_ordering_choose, .events = pct_events},
        .init = pct_init,
};

/*
 * urw.c -- a random walk that is uniform over interleavings.
 *
 * An even choice at each step favours orders in which short actors end early: one of 100 steps and
 * one of 1 interleave in 101 ways, and an even choice runs the 1 after 50 others with probability
 * 2^-50. Here each actor is drawn in proportion to its remaining steps, those of its descendants
 * that are not yet born included. Where counts are right and no actor ever waits, each interleaving
 * of n actors with k1 … kn steps has probability k1! … kn! / (k1 + … + kn)!
 * (urw_interleavings_are_equally_probable).
 *
 * After: URW, the base of SURW (Zhao, Wolff, Mathur, Roychoudhury, "Selectively uniform concurrency
 * testing", ASPLOS 2025). Deviations:
 *
 *   - Counts are means over all earlier runs (counts.h), not those of one first run, which often
 *     sees an early return. Before there are any, all actors weigh the same.
 *   - The draws of a run are derived from one number, and the numbers of consecutive seeds are
 *     evenly spread (spread.h): N runs of N equally probable orders make nearly all of them.
 *   - An actor that has made all its steps and is still runnable weighs as one with one step.
 *   - A blocked task is not drawn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/search/counts.h"
#include "sim/search/learn/states.h"
#include "sim/search/ordering.h"

#define STREAM UINT32_C(0x75727731)

struct urw {
    struct sim_ordering ordering;
    uint32_t stepping; /* In-run index. */
    struct sim_counts counts;
};

static void
urw_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct urw *urw = (void *)strategy;
    sim_ordering_begin(&urw->ordering, seed, STREAM);
    sim_counts_begin(&urw->counts);
    urw->stepping = 0;
}

static inline uint64_t
weight_of(const struct urw *urw, uint32_t actor)
{
    int64_t left = sim_counts_left(&urw->counts, actor);
    return left > 0 ? (uint64_t)left : SIM_COUNT_ONE;
}

static uint32_t
urw_pick(struct sim_ordering *ordering, const uint16_t *actors, uint32_t count)
{
    struct urw *urw = (void *)ordering;
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        total += weight_of(urw, actors[i]);
    }
    uint64_t drawn = sim_spread_peek(&urw->ordering.spread, total);
    uint32_t place = 0;
    uint64_t weight = weight_of(urw, actors[0]);
    while (drawn >= weight) {
        drawn -= weight;
        weight = weight_of(urw, actors[++place]);
    }
    rt_assert(place < count);
    sim_spread_narrow(&urw->ordering.spread, drawn, weight);
    return place;
}

static void
take_event(struct urw *urw, const struct sim_event *event)
{
    if (event->kind == SIM_EVENT_STEP) {
        urw->stepping = event->actor;
        sim_counts_made(&urw->counts, event->actor);
    } else if (event->kind == SIM_EVENT_ACTOR) {
        sim_counts_appear(&urw->counts, event->actor, (uint32_t)event->argument, urw->stepping);
    }
}

SIM_STRATEGY_EVENTS(urw_events, urw, take_event)

static void
urw_init(void *memory, const struct sim_strategy_setting *setting)
{
    struct urw *urw = memory;
    const struct sim_facts *facts = &setting->learned->facts;
    urw->ordering.pick = urw_pick;
    sim_counts_init(&urw->counts, facts);
    for (uint32_t i = 0; i < facts->count; i++) {
        const struct sim_fact *fact = &facts->entries[i];
        if (fact->kind == SIM_FACT_ACTOR) {
            sim_counts_add(&urw->counts, (uint32_t)fact->a, sim_counts_mean(fact));
        }
    }
}

const struct sim_strategy_kind sim_strategy_urw = {
        .name = "urw",
        .about = "actors in proportion to their remaining steps: even over interleavings",
        .adaptive = true,
        .size = sizeof(struct urw),
        .ops = {.begin = urw_begin, .choose = sim_ordering_choose, .events = urw_events},
        .init = urw_init,
};

/*
 * ordering.c -- from a place in the queue to the answer of a choice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/ordering.h"

#include "runtime/base/assert.h"

void
sim_ordering_begin(struct sim_ordering *ordering, uint64_t seed, uint32_t stream)
{
    sim_spread_begin(&ordering->spread, seed, stream);
    ordering->key = ordering->spread.key;
    ordering->drawn = 0;
    ordering->run++;
    ordering->place = 0;
}

/* A loop that polls its tasks itself shows no queue. */
static uint32_t
choose_described(struct sim_ordering *ordering, const struct sim_choice *choice)
{
    if (choice->describe == NULL) {
        return sim_choose_at_random(choice);
    }
    for (uint32_t i = 0; i < choice->n; i++) {
        struct sim_alternative alternative;
        choice->describe(choice, i, &alternative);
        ordering->described[i] = (uint16_t)alternative.actor;
    }
    return ordering->pick(ordering, ordering->described, choice->n);
}

uint32_t
sim_ordering_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    struct sim_ordering *ordering = (void *)strategy;
    if (choice->kind != SIM_KIND_RUN) {
        return sim_choose_at_random(choice);
    }
    const struct sim_queue *queue = choice->queue;
    if (queue->actors == NULL) {
        return choose_described(ordering, choice);
    }
    bool second = queue->count > SIM_ALTERNATIVES_MAX && queue->stride == 1;
    if (!second) {
        ordering->place = ordering->pick(ordering, queue->actors, queue->count);
        rt_assert(ordering->place < queue->count);
    }
    return sim_queue_alternative(choice, ordering->place);
}

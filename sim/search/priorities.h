/*
 * priorities.h -- a random priority for each actor of a run.
 *
 * Drawn at its first use, and at the first one after it was removed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_PRIORITIES_H
#define SIM_SEARCH_PRIORITIES_H

#include "sim/search/ordering.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_priorities {
    uint64_t value[SIM_INDICES];
    uint32_t run[SIM_INDICES]; /* The run in which it was drawn; 0: there is none. */
};

static inline uint64_t
sim_priority_of(struct sim_priorities *priorities, struct sim_ordering *ordering, uint32_t actor)
{
    if (priorities->run[actor] != ordering->run) {
        priorities->run[actor] = ordering->run;
        priorities->value[actor] = sim_ordering_draw(ordering);
    }
    return priorities->value[actor];
}

/* Removes it. */
static inline void
sim_priority_forget(struct sim_priorities *priorities, uint32_t actor)
{
    priorities->run[actor] = 0;
}

#ifdef __cplusplus
}
#endif
#endif

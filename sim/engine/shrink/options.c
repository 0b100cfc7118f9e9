/*
 * options.c -- options that were drawn for a run go back to their defaults.
 *
 * Only masks of faults and how often something happens: what else was asked for is the
 * user's, as parameters are, and another program is no smaller failure of this one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/engine/shrink/shrink_priv.h"

/* All at once, or the one called `only` (SIM_OPTIONS: all). False: none differs. */
static bool
put_back(struct sim__shrinker *shrinker, uint32_t only)
{
    rt_assert(only <= SIM_OPTIONS);
    struct sim_options usual;
    bool differs = false;
    sim_options_init(&usual, shrinker->plan->spec.scenario);
    sim__shrink_reset(shrinker);
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        uint64_t value = sim_option_get(&usual, i);
        if (sim__shrink_may_set(i) && (only == SIM_OPTIONS || only == i) &&
                sim_option_get(&shrinker->options, i) != value) {
            *sim_option_at(&shrinker->candidate_options, i) = value;
            differs = true;
        }
    }
    return differs;
}

void
sim__shrink_options(struct sim__shrinker *shrinker)
{
    rt_assert(shrinker->plan->spec.scenario != NULL);
    bool stay = shrinker->plan->options_stay;
    if (stay || !put_back(shrinker, SIM_OPTIONS) || sim__shrink_try(shrinker)) {
        return;
    }
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        if (put_back(shrinker, i)) {
            (void)sim__shrink_try(shrinker);
        }
    }
}

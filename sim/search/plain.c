/*
 * plain.c -- `random` and `baseline` (sim/core/decide/strategies.h) as strategies by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/decide/strategies.h"
#include "sim/search/strategy.h"

static void
init_random(void *memory, const struct sim_strategy_setting *setting)
{
    (void)setting;
    sim_random_init(memory);
}

static void
init_baseline(void *memory, const struct sim_strategy_setting *setting)
{
    (void)setting;
    sim_baseline_init(memory);
}

const struct sim_strategy_kind sim_strategy_random = {
        .name = "random",
        .about = "each choice by itself, from the seed",
        .size = sizeof(struct sim_random),
        .init = init_random,
};

const struct sim_strategy_kind sim_strategy_baseline = {
        .name = "baseline",
        .about = "first come first served, no delay, no fault, full length: one run",
        .size = sizeof(struct sim_baseline),
        .init = init_baseline,
};

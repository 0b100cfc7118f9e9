/*
 * plain.c -- `random` and `baseline` (sim/core/decide/strategies.h) as strategies by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/decide/strategies.h"
#include "sim/search/kinds.h"

static struct sim_strategy *
init_random(void *memory, const struct sim_strategy_setting *setting)
{
    struct sim_random *random = memory;
    (void)setting;
    sim_random_init(random);
    return &random->strategy;
}

static struct sim_strategy *
init_baseline(void *memory, const struct sim_strategy_setting *setting)
{
    struct sim_baseline *baseline = memory;
    (void)setting;
    sim_baseline_init(baseline);
    return &baseline->strategy;
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

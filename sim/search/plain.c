/*
 * plain.c -- `random` and `dullest` (sim/core/strategies.h) as strategies by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/strategies.h"
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
init_dullest(void *memory, const struct sim_strategy_setting *setting)
{
    struct sim_dullest *dullest = memory;
    (void)setting;
    sim_dullest_init(dullest);
    return &dullest->strategy;
}

const struct sim_strategy_kind sim_strategy_random = {
        .name = "random",
        .about = "each choice by itself, from the seed",
        .size = sizeof(struct sim_random),
        .init = init_random,
};

const struct sim_strategy_kind sim_strategy_dullest = {
        .name = "dullest",
        .about = "first come first served, no delay, no fault, full length: one run",
        .size = sizeof(struct sim_dullest),
        .init = init_dullest,
};

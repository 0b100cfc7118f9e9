/*
 * dullest.c -- the run in which nothing unusual happens.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/strategies.h"

static uint32_t
dullest_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    (void)strategy;
    (void)choice;
    return 0;
}

static const struct sim_strategy_ops dullest_ops = {
        .name = "dullest",
        .about = "first come first served, no delay, no fault, full length",
        .repeats = true,
        .choose = dullest_choose,
        .seek = sim_seek_nothing,
};

void
sim_dullest_init(struct sim_dullest *dullest)
{
    dullest->strategy = (struct sim_strategy){&dullest_ops};
}

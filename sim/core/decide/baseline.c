/*
 * baseline.c -- the run in which nothing unusual happens.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/decide/strategies.h"

static uint32_t
baseline_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    (void)strategy;
    (void)choice;
    return 0;
}

static const struct sim_strategy_ops baseline_ops = {
        .repeats = true,
        .choose = baseline_choose,
        .seek = sim_seek_nothing,
};

void
sim_baseline_init(struct sim_baseline *baseline)
{
    baseline->strategy = (struct sim_strategy){&baseline_ops};
}

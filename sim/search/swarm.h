/*
 * swarm.h -- options that a seed draws for its run.
 *
 * After Groce, Zhang, Eide, Chen, Regehr: "Swarm testing" (ISSTA 2012), where a feature is only in
 * or out. Runs that leave some kinds of trouble out altogether, and have others far more often,
 * reach states that runs with a bit of everything do not.
 *
 * Half of the runs are as they were declared. In the others each frequency is as declared, never,
 * 4 times rarer, 4 times more frequent, or one in two; each fault that is permitted is on or off;
 * and the fault-free phase begins early: always where something is more frequent than declared,
 * since a program under constant faults need not end, else in half.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sim/base/page.h"
#include "sim/core/decide/options.h"

/*
 * The options of the run with `seed`: a pure function of its arguments. `given` has bit 1 << i for
 * option i that stays as it is in `base`. No fault is on that is not in force with `base`, and no
 * parameter is touched. `base` and `ret_options` may be the same.
 */
void sim_swarm_draw(uint64_t seed, const struct sim_scenario *scenario,
        const struct sim_options *base, uint32_t given, struct sim_options *ret_options);

/* Adds in what `drawn` differs from `base`: "late_one_in=2, faults off: net"; nothing when they are
 * the same. */
void sim_swarm_text(struct sim_page *page, const struct sim_scenario *scenario,
        const struct sim_options *base, const struct sim_options *drawn);

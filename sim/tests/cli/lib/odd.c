/*
 * odd.c -- a library of one scenario, one of whose numbers is none that there is.
 *
 * Built with -DWRONG=.order=77 and the like.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#ifndef WRONG
#define WRONG .order = 77
#endif

static void
setup(struct sim_world *world)
{
    (void)world;
}
SIM_SCENARIO(scenario, .name = "odd/number", .about = "Is never reached.", .setup = setup, WRONG);

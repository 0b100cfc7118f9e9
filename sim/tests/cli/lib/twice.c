/*
 * twice.c -- a library whose scenario has a name that rewake itself uses.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

static void
setup(struct sim_world *world)
{
    (void)world;
}

SIM_SCENARIO(twice, .name = "canary/lost-wakeup", .about = "A name that is taken.", .setup = setup);

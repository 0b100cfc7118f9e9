/*
 * leaves.c -- a library whose constructor ends the process, as if all were well.
 *
 * Built with -DLEAVE=exit or -DLEAVE=_exit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <unistd.h>

#include "sim/rewake.h"

#ifndef LEAVE
#define LEAVE exit
#endif

__attribute__((constructor)) static void
leave(void)
{
    LEAVE(0);
}

static void
setup(struct sim_world *world)
{
    (void)world;
}
SIM_SCENARIO(scenario, .name = "leaves/never", .about = "Is never reached.", .setup = setup);

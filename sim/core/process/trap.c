/*
 * trap.c -- stopping under a debugger as a step is about to be taken.
 *
 * A condition on a breakpoint is asked by the debugger, with two switches of process
 * for each step. Here the run goes to the step before at its full speed, for the judge
 * can stop it there as well; from then on it is a loop with a trap compiled into it that
 * takes the steps (step.c). A run without a trap knows nothing of all this.
 *
 * Who debugs finds world->trap there and writes the next step it wants into it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <signal.h>

#include "runtime/base/assert.h"
#include "sim/core/world_priv.h"

struct sim_stop
sim__trap_stop(const struct sim_world *world)
{
    struct sim_stop stop = {UINT64_MAX, false};
    if (world->trap != NULL && world->trap->step != UINT64_MAX) {
        rt_assert(world->trap->step >= 1);
        stop.step = world->trap->step - 1;
    }
    return stop;
}

/* A frame of its own: the script of the debugger knows the stop by its name. */
__attribute__((noinline)) void
sim__trap(struct sim_world *world)
{
    if (world->step < world->trap->step) {
        return;
    }
    world->trap->step = UINT64_MAX;
#if defined(__x86_64__)
    /* Not raise(): the debugger would stand inside of the C library. */
    __asm__ volatile("int3");
#else
    (void)raise(SIGTRAP);
#endif
}

/*
 * trap.c -- stopping in a debugger before a step.
 *
 * A conditional breakpoint is evaluated by the debugger, with two switches of process for
 * each step. Here the run reaches the step before at full speed, as with a stop of the
 * judge; from then on a loop with a trap compiled into it takes the steps (step.c). A run
 * without a trap is not affected.
 *
 * The debugger finds world->trap there and writes the next step that it wants into it.
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

/* A separate frame: the script of the debugger recognizes the stop by its name. */
__attribute__((noinline)) void
sim__trap(struct sim_world *world)
{
    if (world->step < world->trap->step) {
        return;
    }
    world->trap->step = UINT64_MAX;
#if defined(__x86_64__)
    /* Not raise(): the debugger would stop inside of the C library. */
    __asm__ volatile("int3");
#else
    (void)raise(SIGTRAP);
#endif
}

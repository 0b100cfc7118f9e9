/*
 * fault.c -- fault `calls`: a call of the program fails, with one of its documented errors.
 *
 * One choice for each occasion: 0 succeeds, n fails with the n-th error. So a shrunk run has the
 * usual error where that is enough.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/thread/thread.h"

int
sim_thread_call_error(enum sim_call_fault call, const struct rt_site *site)
{
    struct sim_thread *thread = sim_thread_now;
    rt_assert(thread != NULL);
    struct sim_world *world = thread->actor.world;
    if ((world->faults & SIM_FAULT_CALLS) == 0) {
        return 0;
    }
    uint32_t answer = sim__perturb(&thread->actor, SIM_KIND_FAULT, 1 + sim_call_fault_count(call),
            world->options.fault_one_in);
    if (answer == 0) {
        return 0;
    }
    sim_world_event(world, SIM_EVENT_FAULT, thread->object, 0, site != NULL ? site->id : 0,
            sim_call_fault_argument(call, answer - 1));
    return sim_call_fault_error(call, answer - 1);
}

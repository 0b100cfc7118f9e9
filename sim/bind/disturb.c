/*
 * disturb.c -- what may happen to a task around its polls.
 *
 * A spurious wake is a freedom that every task must survive. Cancellation is a
 * fault: only where the scenario claims to survive it, at a suspension point or
 * between a wake and the poll that it led to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/bind/bind_priv.h"

static bool
drawn(struct sim_bound *bound, enum sim_kind kind, uint64_t one_in)
{
    if (one_in == 0) {
        return false;
    }
    return sim_actor_choose(&bound->actor, kind, 2, sim_odds_once_in(one_in)) != 0;
}

static bool
cancels(struct sim_bound *bound)
{
    const struct sim_world *world = bound->rt->world;
    return (world->faults & SIM_FAULT_CANCEL) != 0 &&
           drawn(bound, SIM_KIND_FAULT, world->options.fault_one_in);
}

static void
cancel(struct sim_bound *bound)
{
    sim_world_event(
            bound->rt->world, SIM_EVENT_FAULT, bound->task->object.id, 0, 0, SIM_FAULT_CANCEL);
    rt_task_cancel(bound->task);
}

void
sim__disturb(struct sim_bound *bound)
{
    struct sim_world *world = bound->rt->world;
    if (world->nudging || world->closing) {
        return;
    }
    if (cancels(bound)) {
        cancel(bound);
        sim_actor_finish(&bound->actor);
        return;
    }
    if (drawn(bound, SIM_KIND_SPURIOUS, world->options.spurious_one_in)) {
        sim_world_event(world, SIM_EVENT_SPURIOUS, bound->task->object.id, 0, 0, 0);
        rt_task_wake(bound->task);
    }
}

bool
sim__cancelled_instead(struct sim_bound *bound)
{
    if (!cancels(bound)) {
        return false;
    }
    cancel(bound);
    sim__after_poll(bound);
    sim__refresh(bound->rt);
    return true;
}

/*
 * reentrancy.c -- the reentrancy fault: inside a wake or a cleanup another task is woken, or
 * cancelled.
 *
 * Any task may have made a waker, and a cleanup is its user's code: both may call back into their
 * caller. The runtime promises to hold no lock while it calls either (W7, T9); this finds a
 * primitive that wakes a task while it iterates over its list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/bind/bind_priv.h"

struct targets {
    struct sim_bound *bound[SIM_ALTERNATIVES_MAX];
    uint32_t count;
};

/* A task that is not being polled: one that is must not be cancelled. */
static bool
is_target(const struct sim_bound *bound)
{
    if (bound == NULL || bound->actor.done || sim__has_left(bound)) {
        return false;
    }
    return bound->task->state == RT_TASK_SLEEPING || bound->task->state == RT_TASK_WOKEN;
}

static void
find_targets(const struct sim_rt *rt, struct targets *ret)
{
    ret->count = 0;
    for (uint32_t i = 0; i < rt->bound_count && ret->count < SIM_ALTERNATIVES_MAX; i++) {
        if (is_target(rt->bound[i])) {
            ret->bound[ret->count++] = rt->bound[i];
        }
    }
}

/* Its name is part of the numbers of its lines, and so of digests. */
static void
hurt(struct sim_bound *bound, bool cancels)
{
    struct sim_world *world = bound->rt->world;
    sim_world_event(world, SIM_EVENT_FAULT, bound->task->object.id, 0, 0, SIM_FAULT_REENTRANCY);
    if (cancels) {
        sim__cancel(bound);
    } else {
        rt_task_wake(bound->task);
    }
}

void
sim__reenter(void *argument)
{
    struct sim_rt *rt = argument;
    struct sim_world *world = rt->world;
    struct sim_actor *actor = world->current;
    if (rt->by_loop && rt->driver != world->stepping) {
        return; /* Tasks of another thread, or of a loop that blocks without expecting a wake. */
    }
    struct targets targets;
    find_targets(rt, &targets);
    uint64_t one_in = world->options.fault_one_in;
    if (targets.count == 0 || sim__perturb(actor, SIM_KIND_FAULT, 2, one_in) == 0) {
        return;
    }
    bool may_cancel = sim__may_cancel(world);
    uint32_t target = sim_actor_choose(actor, SIM_KIND_FAULT, targets.count, SIM_ODDS_EVEN);
    bool cancels = may_cancel && sim_actor_choose(actor, SIM_KIND_FAULT, 2, SIM_ODDS_EVEN) != 0;
    hurt(targets.bound[target], cancels);
}

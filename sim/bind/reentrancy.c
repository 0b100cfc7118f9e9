/*
 * reentrancy.c -- the worst that may happen inside a wake or a cleanup: somebody is woken, or
 * cancelled.
 *
 * A waker can be anybody's, and a cleanup is its user's code: both may come back into whatever
 * called them. The runtime promises to hold nothing while it calls either (W7, T9); a primitive
 * that is half-way through its own list when it wakes somebody is found here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/bind/bind_priv.h"

struct victims {
    struct sim_bound *bound[SIM_ALTERNATIVES_MAX];
    uint32_t count;
};

/* Whoever is not on the stack: a task that is being polled is nobody's to end. */
static bool
is_victim(const struct sim_bound *bound)
{
    if (bound == NULL || bound->actor.done || sim__has_left(bound)) {
        return false;
    }
    return bound->task->state == RT_TASK_SLEEPING || bound->task->state == RT_TASK_WOKEN;
}

static void
find_victims(const struct sim_rt *rt, struct victims *ret)
{
    ret->count = 0;
    for (uint32_t i = 0; i < rt->bound_count && ret->count < SIM_ALTERNATIVES_MAX; i++) {
        if (is_victim(rt->bound[i])) {
            ret->bound[ret->count++] = rt->bound[i];
        }
    }
}

static void
hurt(struct sim_bound *bound, bool mortally)
{
    struct sim_world *world = bound->rt->world;
    sim_world_event(world, SIM_EVENT_FAULT, bound->task->object.id, 0, 0, SIM_FAULT_REENTRANCY);
    if (mortally) {
        sim__cancel(bound);
    } else {
        rt_task_wake(bound->task);
    }
}

static void
act(void *argument)
{
    struct sim_rt *rt = argument;
    struct sim_world *world = rt->world;
    struct sim_actor *actor = world->current;
    if (rt->by_loop && rt->driver != world->stepping) {
        return; /* The tasks of another thread, or of a loop that sleeps and listens to nobody. */
    }
    struct victims victims;
    find_victims(rt, &victims);
    uint64_t one_in = world->options.fault_one_in;
    if (victims.count == 0 || sim__disturb_how(actor, SIM_KIND_FAULT, 2, one_in) == 0) {
        return;
    }
    bool may_cancel = sim__may_cancel(world);
    uint32_t who = sim_actor_choose(actor, SIM_KIND_FAULT, victims.count, SIM_ODDS_EVEN);
    bool mortally = may_cancel && sim_actor_choose(actor, SIM_KIND_FAULT, 2, SIM_ODDS_EVEN) != 0;
    hurt(victims.bound[who], mortally);
}

void
sim__reentrancy_init(struct sim_rt *rt)
{
    if ((rt->world->faults & SIM_FAULT_REENTRANCY) == 0) {
        return;
    }
    rt->reentrancy = (struct sim_reentrancy){.act = act, .argument = rt};
    sim_world_add_reentrancy(rt->world, &rt->reentrancy);
}

/*
 * perturb.c -- perturbations of a task around its polls.
 *
 * Every task must survive a spurious wake. Cancellation and migration to another waker are faults:
 * only where the scenario claims to survive them. A task is cancelled at a suspension point or
 * between a wake and the poll that follows; it gets another waker while it is blocked. All of this
 * is done by the task's thread: while a loop is blocked in its host, it is deferred.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/bind/bind_priv.h"

static bool
drawn(struct sim_bound *bound, enum sim_kind kind, uint64_t one_in)
{
    return sim__perturb(&bound->actor, kind, 2, one_in) != 0;
}

/* A program that restarts cancelled tasks ends only if the cancels stop. The end of a cancelled
 * task is progress, so SIM_INJECTED_MAX does not bound them. */
#define CANCELS_MAX 256u

bool
sim__may_cancel(const struct sim_world *world)
{
    return (world->faults & SIM_FAULT_CANCEL) != 0 && world->cancels < CANCELS_MAX;
}

static bool
strikes(struct sim_bound *bound, uint64_t fault)
{
    const struct sim_world *world = bound->rt->world;
    bool may = fault == SIM_FAULT_CANCEL ? sim__may_cancel(world) : (world->faults & fault) != 0;
    return may && drawn(bound, SIM_KIND_FAULT, world->options.fault_one_in);
}

static void
note(const struct sim_bound *bound, uint64_t fault)
{
    sim_world_event(bound->rt->world, SIM_EVENT_FAULT, bound->task->object.id, 0, 0, fault);
}

void
sim__cancel(struct sim_bound *bound)
{
    bound->rt->world->cancels++;
    rt_task_cancel(bound->task);
    sim_actor_finish(&bound->actor);
}

/* The same task, and the same actor, under another waker. */
static void
migrate(struct sim_bound *bound)
{
    struct sim_rt *rt = bound->rt;
    note(bound, SIM_FAULT_MIGRATE);
    rt->migrating = bound;
    rt_err err = rt_task_migrate(bound->task);
    rt->migrating = NULL;
    if (err != RT_OK) {
        return; /* After 2^32 times: not any more. */
    }
    rt_assert(bound->key.generation == bound->task->target.key.generation);
}

/* One of the faults strikes the blocked task. */
static bool
struck(struct sim_bound *bound)
{
    if (strikes(bound, SIM_FAULT_CANCEL)) {
        note(bound, SIM_FAULT_CANCEL);
        sim__cancel(bound);
        return true;
    }
    if (strikes(bound, SIM_FAULT_MIGRATE)) {
        migrate(bound);
        return true;
    }
    return false;
}

/* Its name is part of the numbers of its lines, and so of digests. */
static void
disturb(struct sim_bound *bound)
{
    struct sim_world *world = bound->rt->world;
    world->suspensions++;
    if (world->suspensions == world->options.cancel_at) {
        note(bound, SIM_FAULT_CANCEL);
        sim__cancel(bound);
        return;
    }
    if ((world->faults & (SIM_FAULT_CANCEL | SIM_FAULT_MIGRATE)) != 0 && struck(bound)) {
        return;
    }
    if (drawn(bound, SIM_KIND_SPURIOUS, world->options.spurious_one_in)) {
        sim_world_event(world, SIM_EVENT_SPURIOUS, bound->task->object.id, 0, 0, 0);
        rt_task_wake(bound->task);
    }
}

/*
 * A loop that has polled all woken tasks asks its host, and is blocked as soon as the step is over.
 * A wake is then one from outside, which a runtime notices only where it was set up to expect such
 * wakes (D5).
 */
static bool
is_out_of_reach(const struct sim_rt *rt)
{
    const struct rt_runtime *runtime = &rt->runtime;
    return rt->by_loop && !runtime->executor.running && runtime->foreign_handles == 0;
}

/* The loop has returned from its host, and the deferred fault is injected on its thread. */
void
sim__perturb_late(void *argument)
{
    struct sim_rt *rt = argument;
    struct sim_bound *late = rt->late;
    const struct sim_world *world = rt->world;
    if (late == NULL || rt->driver != world->stepping || world->spurious_polling ||
            world->closing) {
        return;
    }
    rt->late = NULL;
    if (!sim__has_left(late) && late->task->state == RT_TASK_SLEEPING) {
        disturb(late);
    }
}

void
sim__perturb_task(struct sim_bound *bound)
{
    struct sim_rt *rt = bound->rt;
    if (rt->world->spurious_polling || rt->world->closing) {
        return;
    }
    if (is_out_of_reach(rt)) {
        rt->late = bound;
    } else {
        disturb(bound);
    }
}

/* It is not polled before it is spawned again (T13): only a cancel is possible. */
void
sim__disturb_parked(struct sim_bound *bound)
{
    const struct sim_world *world = bound->rt->world;
    if (!world->spurious_polling && !world->closing && strikes(bound, SIM_FAULT_CANCEL)) {
        note(bound, SIM_FAULT_CANCEL);
        rt_task_cancel(bound->task);
    }
}

bool
sim__cancelled_instead(struct sim_bound *bound)
{
    if (!strikes(bound, SIM_FAULT_CANCEL)) {
        return false;
    }
    note(bound, SIM_FAULT_CANCEL);
    sim__cancel(bound);
    sim__after_poll(bound);
    sim__refresh(bound->rt);
    return true;
}

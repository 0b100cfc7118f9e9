/*
 * disturb.c -- what may happen to a task around its polls.
 *
 * A spurious wake is a freedom that every task must survive. Cancellation and another waker are
 * faults: only where the scenario claims to survive them. A task is cancelled at a suspension point
 * or between a wake and the poll that it led to; it gets another waker while it sleeps. All of it
 * is the doing of the task's own thread: under a loop that sleeps it waits until the loop is back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/bind/bind_priv.h"

static bool
drawn(struct sim_bound *bound, enum sim_kind kind, uint64_t one_in)
{
    return sim__disturb_how(&bound->actor, kind, 2, one_in) != 0;
}

/* A program that starts again what was cancelled reaches its end only if the cancels stop: a task
 * that was cancelled has finished, which is progress, so SIM_DISTURBED_MAX is no bound for them. */
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
        return; /* 2^32 times: it stays as it is. */
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
 * A loop that has polled everybody asks its host, and is asleep as soon as the step is over. Who
 * wakes a task then is somebody outside, for whom a runtime listens only where it was told that
 * there is such a one (D5).
 */
static bool
is_out_of_reach(const struct sim_rt *rt)
{
    const struct rt_runtime *runtime = &rt->runtime;
    return rt->by_loop && !runtime->executor.running && runtime->foreign_handles == 0;
}

/* The loop is back from its host. It is its own thread's doing now, as if a source had done it. */
static void
disturb_late(void *argument)
{
    struct sim_rt *rt = argument;
    struct sim_bound *late = rt->late;
    const struct sim_world *world = rt->world;
    if (late == NULL || rt->driver != world->stepping || world->nudging || world->closing) {
        return;
    }
    rt->late = NULL;
    if (!sim__has_left(late) && late->task->state == RT_TASK_SLEEPING) {
        disturb(late);
    }
}

void
sim__disturb_init(struct sim_rt *rt)
{
    rt->returned = (struct sim_returned){.returned = disturb_late, .argument = rt};
    sim_world_add_returned(rt->world, &rt->returned);
}

void
sim__disturb(struct sim_bound *bound)
{
    struct sim_rt *rt = bound->rt;
    if (rt->world->nudging || rt->world->closing) {
        return;
    }
    if (is_out_of_reach(rt)) {
        rt->late = bound;
    } else {
        disturb(bound);
    }
}

/* Nobody polls it before it is posted (T13): all that can happen to it is its end. */
void
sim__disturb_parked(struct sim_bound *bound)
{
    const struct sim_world *world = bound->rt->world;
    if (!world->nudging && !world->closing && strikes(bound, SIM_FAULT_CANCEL)) {
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

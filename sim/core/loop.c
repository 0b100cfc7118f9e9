/*
 * loop.c -- code on a fiber, as an actor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/loop.h"

#include "runtime/base/assert.h"
#include "sim/core/process/fiber.h"
#include "sim/core/world.h"
#include "sim/core/world_priv.h"

/* Calls in a row before which a loop is preempted at most. */
#define SWITCHES_MAX 4u

static const struct sim_odds switch_odds = {1, 8};

struct sim_loop {
    struct sim_actor actor;
    struct sim_fiber fiber;
    void (*fn)(struct sim_world *world, void *argument);
    void *argument;
    bool blocked;
    bool interrupted;    /* It was enabled by the oracle (judge/spurious_poll.h). */
    uint32_t reports;    /* While blocked in its host: how much may be reported spuriously. */
    uint32_t report_nth; /* While interrupted: which of that, from 1 on; 0: nothing. */
    uint32_t switches;   /* Calls of the host in a row before which it was preempted. */
    struct sim_waiting waits_for; /* While blocked. */
};

static struct sim_loop *
loop_of(const struct sim_actor *actor)
{
    return rt_container_of(actor, struct sim_loop, actor);
}

static void
loop_main(void *argument)
{
    struct sim_loop *loop = argument;
    loop->fn(loop->actor.world, loop->argument);
}

static void
loop_step(struct sim_actor *actor)
{
    struct sim_loop *loop = loop_of(actor);
    loop->blocked = false;
    if (!sim_fiber_resume(actor->world, &loop->fiber)) {
        sim_actor_finish(actor);
        sim__gain(actor->world, SIM_GAIN_RETURNED, actor->index);
        sim_world_event(actor->world, SIM_EVENT_DONE, 0, 0, 0, 0);
    }
}

static uint32_t
loop_waiting(const struct sim_actor *actor, struct sim_waiting *ret, uint32_t max)
{
    const struct sim_loop *loop = loop_of(actor);
    if (!loop->blocked || max == 0) {
        return 0;
    }
    ret[0] = loop->waits_for;
    return 1;
}

static bool
loop_in_host(const struct sim_actor *actor, struct sim_in_host *ret)
{
    const struct sim_loop *loop = loop_of(actor);
    *ret = (struct sim_in_host){.reports = loop->reports};
    return loop->blocked && loop->reports > 0;
}

static void
loop_interrupt(struct sim_actor *actor, uint32_t nth)
{
    struct sim_loop *loop = loop_of(actor);
    rt_assert(loop->blocked);
    loop->interrupted = true;
    loop->report_nth = nth;
    sim_actor_enable(actor);
}

static const struct sim_actor_ops loop_ops = {
        .kind = SIM_ACTOR_LOOP,
        .step = loop_step,
        .waiting = loop_waiting,
        .in_host = loop_in_host,
        .interrupt = loop_interrupt,
};

static struct sim_loop *
loop_new(struct sim_world *world, const char *name,
        void (*fn)(struct sim_world *world, void *argument), void *argument, bool waited_for)
{
    rt_assert(fn != NULL);
    struct sim_loop *loop = sim_new(world, struct sim_loop);
    loop->fn = fn;
    loop->argument = argument;
    sim_actor_init(&loop->actor, world, &loop_ops, NULL, name, waited_for);
    sim_fiber_init(&loop->fiber, world, loop_main, loop);
    sim_actor_enable(&loop->actor);
    return loop;
}

struct sim_loop *
sim_loop_new(struct sim_world *world, const char *name,
        void (*fn)(struct sim_world *world, void *argument), void *argument)
{
    return loop_new(world, name, fn, argument, true);
}

struct sim_loop *
sim_loop_new_background(struct sim_world *world, const char *name,
        void (*fn)(struct sim_world *world, void *argument), void *argument)
{
    return loop_new(world, name, fn, argument, false);
}

struct sim_loop *
sim_loop_current(struct sim_world *world)
{
    return world->fiber != NULL ? rt_container_of(world->fiber, struct sim_loop, fiber) : NULL;
}

struct sim_actor *
sim_loop_actor(struct sim_loop *loop)
{
    return &loop->actor;
}

void
sim_loop_pause(struct sim_world *world)
{
    struct sim_loop *loop = sim_loop_current(world);
    if (loop == NULL) {
        return;
    }
    sim_actor_enable(&loop->actor);
    sim_fiber_suspend(world);
}

struct sim_loop *
sim_loop_of(struct sim_actor *actor)
{
    rt_assert(actor->ops == &loop_ops);
    return loop_of(actor);
}

/* A guest's host function runs on the guest's stack, and cannot switch. */
static bool
can_switch(const struct sim_loop *loop)
{
    const struct sim_world *world = loop->actor.world;
    return world->inner == &loop->fiber.context && !world->current->ops->undivided;
}

/* Without another actor that could run meanwhile there is one alternative only. */
static bool
draw_switch(struct sim_loop *loop)
{
    const struct sim_world *world = loop->actor.world;
    bool alone = world->enabled.count == 0 && world->timed_count == 0;
    uint32_t n = alone || loop->switches == SWITCHES_MAX ? 1 : 2;
    bool switches = sim_actor_choose(&loop->actor, SIM_KIND_SWITCH, n, switch_odds) != 0;
    loop->switches = switches ? loop->switches + 1 : 0;
    return switches;
}

void
sim_loop_switch(struct sim_world *world, const char *call)
{
    struct sim_loop *loop = sim_loop_current(world);
    rt_assert(call != NULL);
    if (loop == NULL || !can_switch(loop) || !draw_switch(loop)) {
        return;
    }
    rt_probe_reason(call);
    sim_world_event(world, SIM_EVENT_SWITCH, 0, 0, 0, 0);
    sim_loop_pause(world);
}

void
sim_loop_block(
        struct sim_world *world, uint32_t object, const char *reason, const struct rt_site *await)
{
    sim_loop_block_in_host(world, object, reason, await, 0);
}

void
sim_loop_block_in_host(struct sim_world *world, uint32_t object, const char *reason,
        const struct rt_site *await, uint32_t reports)
{
    struct sim_loop *loop = sim_loop_current(world);
    if (loop == NULL) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST, world->current,
                await != NULL ? await->id : 0,
                "something blocked (%s) that is no loop: only a sim_loop can wait in the host",
                reason);
    }
    loop->blocked = true;
    loop->interrupted = false;
    loop->report_nth = 0;
    loop->reports = reports;
    loop->actor.asks_host |= reports > 0;
    loop->waits_for = (struct sim_waiting){object, await != NULL ? await->id : 0, reason};
    sim_fiber_suspend(world);
}

bool
sim_loop_was_interrupted(const struct sim_loop *loop)
{
    return loop->interrupted;
}

uint32_t
sim_loop_spurious_report(const struct sim_loop *loop)
{
    return loop->interrupted ? loop->report_nth : 0;
}

void
sim_loop_wake(struct sim_loop *loop)
{
    struct sim_world *world = loop->actor.world;
    if (world->on_loop_wake != NULL) {
        world->on_loop_wake(&loop->actor, loop->blocked && !loop->actor.enabled);
    }
    if (loop->blocked) {
        sim_actor_enable(&loop->actor);
    }
}

void
sim_sleep(struct sim_world *world, uint64_t ns)
{
    struct sim_loop *loop = sim_loop_current(world);
    if (loop != NULL) {
        uint64_t deadline_ns = sim_now(world) + ns;
        sim_actor_due(&loop->actor, deadline_ns < ns ? SIM_NEVER : deadline_ns);
    }
    sim_loop_block(world, 0, "its own clock", RT_HERE);
}

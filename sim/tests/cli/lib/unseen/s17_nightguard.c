/* Cause: guard_catch_up(), line 45: when the guard comes back from a noise he throws away all events that came meanwhile, as old noises; an alarm among them is thrown away, too, and the thief goes free; repair: look at the kind, and keep an alarm. */
/*
 * A museum at night, in ticks. Mice make noises, which the guard looks into; a thief sets off an
 * alarm, which he must hear.
 */
#include <sim/rewake.h>

enum { NOISE, ALARM };

#define LAST_TICK 40u

struct guard {
    struct rt_activity activity;
    struct rt_event events[8];
    struct rt_event heard;
    struct rt_tick_wait walk;
    uint32_t at;
    bool fixed;
    bool alarmed;
};

struct intruder {
    struct rt_activity activity;
    struct museum *museum;
    struct rt_tick_wait wait;
    uint32_t kind;
    uint64_t ticks;
    uint32_t at;
};

struct museum {
    struct sim_ticker *game;
    struct guard guard;
    struct intruder mouse;
    struct intruder thief;
    uint32_t tick;
};

/* Noises that were heard while the guard was busy are not worth another walk. */
static void
guard_catch_up(struct guard *guard)
{
    struct rt_event old;
    while (rt_event_pop(&guard->activity, &old)) {
        if (guard->fixed && old.kind == ALARM) {
            guard->alarmed = true;
        }
    }
}

static rt_poll
guard_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct guard *guard = rt_container_of(activity, struct guard, activity);
    RT_BEGIN(guard->at);
    while (!guard->alarmed) {
        RT_AWAIT_HERE(guard->at, rt_next_event(cx, &guard->heard));
        if (guard->heard.kind == ALARM) {
            guard->alarmed = true;
        } else {
            rt_tick_wait_init(&guard->walk, 4);
            RT_AWAIT_HERE(guard->at, rt_tick_wait_poll(&guard->walk, &activity->scope, cx));
            guard_catch_up(guard);
        }
    }
    RT_END(guard->at);
}

static rt_poll
intruder_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct intruder *intruder = rt_container_of(activity, struct intruder, activity);
    struct museum *museum = intruder->museum;
    RT_BEGIN(intruder->at);
    rt_tick_wait_init(&intruder->wait, intruder->ticks);
    RT_AWAIT_HERE(intruder->at, rt_tick_wait_poll(&intruder->wait, &activity->scope, cx));
    SIM_ALWAYS(rt_event_push(sim_ticker_ticker(museum->game),
                       rt_activity_id(&museum->guard.activity),
                       &(struct rt_event){.kind = intruder->kind}) != RT_E_FULL);
    RT_END(intruder->at);
}

static bool
update(struct sim_world *world, void *argument)
{
    struct museum *museum = argument;
    (void)world;
    if (++museum->tick < LAST_TICK) {
        return true;
    }
    /* Morning. */
    SIM_ALWAYS(museum->guard.alarmed);
    return false;
}

static void
intruder_new(struct museum *museum, struct intruder *intruder, const char *name, uint32_t kind,
        uint64_t ticks)
{
    intruder->museum = museum;
    intruder->kind = kind;
    intruder->ticks = ticks;
    rt_activity_init(&intruder->activity, intruder_poll, NULL, name);
    sim_ticker_spawn(museum->game, &intruder->activity);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    struct museum *museum = sim_new(world, struct museum);
    struct sim_ticker_options options = {.update = update, .argument = museum};
    struct guard *guard = &museum->guard;
    museum->game = sim_ticker_new(world, &options);
    guard->fixed = fixed;
    rt_activity_init(&guard->activity, guard_poll, NULL, "guard");
    rt_activity_lend_events(&guard->activity, guard->events, 8, RT_SINK_DROP_NEW);
    sim_ticker_spawn(museum->game, &guard->activity);
    intruder_new(museum, &museum->thief, "thief", ALARM, sim_range(world, 2, 15));
    intruder_new(museum, &museum->mouse, "mouse", NOISE, sim_range(world, 9, 12));
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s17/nightguard/broken", .about = "The first form.", .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s17/nightguard/fixed", .about = "The repaired form.", .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */

// SPDX-License-Identifier: Apache-2.0
/* Cause: tell_guard() line 52: an alarm that finds the guard's queue full of noises is taken as told;
 * the guard then waits for it forever. Repair: on RT_E_FULL keep it and tell it again in the next tick
 * (as with `insists`). */
#include <sim/rewake.h>

#define QUEUE 2
#define NOISES 4

enum { NOISE, ALARM };

struct castle {
    struct sim_world *world;
    struct sim_ticker *ticker;
    struct rt_activity guard;
    struct rt_event queue[QUEUE];
    struct rt_event heard;
    struct rt_tick_wait look;
    uint32_t at;
    uint32_t noises;
    uint32_t next_noise; /* Ticks. */
    uint32_t alarm_in;   /* Ticks; 0: it was raised. */
    bool alarm_told;
    bool insists;
    bool safe;
};

/* A noise makes him look for three ticks; he has done his duty when he has heard the alarm. */
static rt_poll
guard_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct castle *castle = rt_container_of(activity, struct castle, guard);
    RT_BEGIN(castle->at);
    for (;;) {
        RT_AWAIT_HERE(castle->at, rt_next_event(cx, &castle->heard));
        if (castle->heard.kind == ALARM) {
            break;
        }
        rt_tick_wait_init(&castle->look, 3);
        RT_AWAIT_HERE(castle->at, rt_tick_wait_poll(&castle->look, &activity->scope, cx));
    }
    castle->safe = true;
    RT_END(castle->at);
}

/* Whether the guard knows now, or will. */
static bool
tell_guard(struct castle *castle, uint32_t kind)
{
    struct rt_event event = {kind, 1, 0};
    rt_err err = rt_event_push(
            sim_ticker_ticker(castle->ticker), rt_activity_id(&castle->guard), &event);
    if (err == RT_E_FULL) {
        return !castle->insists;
    }
    SIM_ALWAYS(err == RT_OK);
    return true;
}

static bool
update(struct sim_world *world, void *argument)
{
    struct castle *castle = argument;
    if (castle->safe) {
        return false;
    }
    if (castle->noises < NOISES && --castle->next_noise == 0) {
        (void)tell_guard(castle, NOISE);
        castle->noises++;
        castle->next_noise = 4 - sim_pick(world, 4);
    }
    if (castle->alarm_in > 0) {
        castle->alarm_in--;
    }
    if (castle->alarm_in == 0 && !castle->alarm_told) {
        castle->alarm_told = tell_guard(castle, ALARM);
    }
    return true;
}

static void
begin(struct sim_world *world, bool insists)
{
    struct castle *castle = sim_new(world, struct castle);
    struct sim_ticker_options options = {.update = update, .argument = castle};
    castle->world = world;
    castle->insists = insists;
    castle->next_noise = 1;
    castle->alarm_in = 1 + (uint32_t)sim_pick(world, 12);
    castle->ticker = sim_ticker_new(world, &options);
    rt_activity_init(&castle->guard, guard_poll, NULL, "guard");
    rt_activity_lend_events(&castle->guard, castle->queue, QUEUE, RT_SINK_DROP_NEW);
    sim_ticker_spawn(castle->ticker, &castle->guard);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(guard_broken, .name = "s10/guard/broken", .about = "A guard, noises and an alarm.",
        .setup = setup_broken);
SIM_SCENARIO(guard_fixed, .name = "s10/guard/fixed", .about = "A guard, noises and an alarm.",
        .setup = setup_fixed);

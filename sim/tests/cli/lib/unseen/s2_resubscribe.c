// Cause: s2_resubscribe.c:45 the guard ends its subscription while it walks to the place of an alarm, and makes a new one afterwards: an alarm in between goes to nobody, and the guard parks for one that has been and gone.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define ALARMS 3
#define SINK 4
#define SIREN 1u
#define RINGS 1u

struct guard {
    struct rt_activity activity;
    struct rt_subscription subscription;
    struct rt_tick_wait walk;
    struct rt_event events[SINK];
    struct rt_event alarm;
    bool fixed;
    uint32_t seen;
    uint32_t at;
};

struct game {
    struct sim_ticker *ticker;
    struct guard guard;
    uint32_t tick, sent;
    uint32_t when[ALARMS];
};

static void listen(struct guard *guard)
{
    rt_subscribe(&guard->subscription, &guard->activity, &guard->activity.scope, SIREN,
            UINT64_C(1) << RINGS);
}

static rt_poll guard_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct guard *guard = rt_container_of(activity, struct guard, activity);
    RT_BEGIN(guard->at);
    listen(guard);
    for (guard->seen = 0;;) {
        RT_AWAIT_HERE(guard->at, rt_next_event(cx, &guard->alarm));
        if (++guard->seen == ALARMS)
            break;
        if (!guard->fixed)
            rt_unsubscribe(&guard->subscription);
        rt_tick_wait_init(&guard->walk, 3);
        RT_AWAIT_HERE(guard->at, rt_tick_wait_poll(&guard->walk, &activity->scope, cx));
        if (!guard->fixed)
            listen(guard);
    }
    RT_END(guard->at);
}

static bool update(struct sim_world *world, void *argument)
{
    struct game *game = argument;
    (void)world;
    game->tick++;
    while (game->sent < ALARMS && game->when[game->sent] <= game->tick) {
        struct rt_event alarm = {.kind = RINGS, .subject = SIREN, .value = game->sent++};
        SIM_ALWAYS(rt_event_post(sim_ticker_ticker(game->ticker), &alarm) == RT_OK);
    }
    return rt_activity_alive(&game->guard.activity); /* until the guard has seen all */
}

static void setup(struct sim_world *world, bool fixed)
{
    struct game *game = sim_new(world, struct game);
    struct guard *guard = &game->guard;
    game->ticker = sim_ticker_new(world, &(struct sim_ticker_options){.update = update, .argument = game});
    for (uint32_t i = 0; i < ALARMS; i++)
        game->when[i] = (i > 0 ? game->when[i - 1] : 3) + 6 - sim_pick(world, 6);
    guard->fixed = fixed;
    rt_subscription_init(&guard->subscription);
    rt_activity_init(&guard->activity, guard_poll, NULL, "guard");
    rt_activity_lend_events(&guard->activity, guard->events, SINK, RT_SINK_DROP_NEW);
    sim_ticker_spawn(game->ticker, &guard->activity);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/resubscribe/broken", .about = "A guard that is deaf while it walks.",
        .setup = setup_broken, .expect = SIM_VERDICT_LIVELOCK, .expect_also = SIM_VERDICT_TIME_LIMIT);
SIM_SCENARIO(fixed, .name = "set2/resubscribe/fixed", .about = "A guard that listens while it walks.",
        .setup = setup_fixed);

// Cause: s3_alarm.c:73 the game gives up an alarm that the guard's full sink refuses; the guard works off the noises, finds no alarm among them, and waits for one that was thrown away.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define SINK 2
#define TICKS 60

enum { NOISE, ALARM };

struct game {
    struct sim_ticker *ticker;
    struct guard *guard;
    uint64_t ticks;
    uint64_t alarm_at;
    bool alarm_waits; /* It has not been delivered yet. */
    bool fixed;
};

struct guard {
    struct rt_activity activity;
    struct rt_event events[SINK];
    struct rt_event event;
    struct rt_tick_wait look;
    uint32_t looked;
    bool left_post;
    uint32_t at;
};

static rt_poll
guard_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct guard *guard = rt_container_of(activity, struct guard, activity);
    RT_BEGIN(guard->at);
    for (;;) {
        RT_AWAIT_HERE(guard->at, rt_next_event(cx, &guard->event));
        if (guard->event.kind == ALARM) {
            break;
        }
        guard->looked++;
        rt_tick_wait_init(&guard->look, 2);
        RT_AWAIT_HERE(guard->at, rt_tick_wait_poll(&guard->look, &guard->activity.scope, cx));
    }
    guard->left_post = true;
    RT_END(guard->at);
}

static bool
tell(struct game *game, uint32_t kind)
{
    struct rt_event event = {.kind = kind, .subject = 1};
    rt_err err = rt_event_push(sim_ticker_ticker(game->ticker),
            rt_activity_id(&game->guard->activity), &event);
    return err == RT_OK;
}

static bool
game_update(struct sim_world *world, void *argument)
{
    struct game *game = argument;
    if (game->guard->left_post) {
        return false;
    }
    SIM_ALWAYS(game->ticks < TICKS);
    game->ticks++;
    for (uint32_t noises = sim_pick(world, 3); noises > 0 && game->ticks < TICKS / 3; noises--) {
        (void)tell(game, NOISE);
    }
    if (game->ticks == game->alarm_at) {
        game->alarm_waits = true;
    }
    if (game->alarm_waits) {
        bool told = tell(game, ALARM);
        game->alarm_waits = game->fixed && !told;
    }
    return true;
}

static void
setup(struct sim_world *world, bool fixed)
{
    struct game *game = sim_new(world, struct game);
    struct guard *guard = sim_new(world, struct guard);
    struct sim_ticker_options options = {.update = game_update, .argument = game};
    game->guard = guard;
    game->fixed = fixed;
    game->alarm_at = 3 + sim_pick(world, 6);
    game->ticker = sim_ticker_new(world, &options);
    rt_activity_init(&guard->activity, guard_poll, NULL, "guard");
    rt_activity_lend_events(&guard->activity, guard->events, SINK, RT_SINK_DROP_NEW);
    sim_ticker_spawn(game->ticker, &guard->activity);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_alarm/broken", .about = "A guard, noises and an alarm.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_alarm/fixed", .about = "A guard, noises and an alarm.",
        .setup = setup_fixed);

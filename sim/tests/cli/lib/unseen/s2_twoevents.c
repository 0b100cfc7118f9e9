// Cause: s2_twoevents.c:32 the door handles one event each time it is marked, and parks: of two events that come before one tick it is marked once, the second stays in its sink, and it is never polled for it.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define EVENTS 3
#define SINK 4

enum { PUSHED = 1 };

struct door {
    struct rt_activity activity;
    struct rt_event events[SINK];
    bool fixed;
    uint32_t handled;
};

struct game {
    struct sim_ticker *ticker;
    struct door door;
    uint32_t tick, sent;
    uint32_t when[EVENTS]; /* ticks at which the player pushes */
};

static rt_poll door_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct door *door = rt_container_of(activity, struct door, activity);
    struct rt_event event;
    while (rt_event_pop(activity, &event)) {
        door->handled++;
        if (!door->fixed)
            break;
    }
    return door->handled == EVENTS ? RT_READY : rt_cx_park(cx);
}

static bool update(struct sim_world *world, void *argument)
{
    struct game *game = argument;
    (void)world;
    game->tick++;
    while (game->sent < EVENTS && game->when[game->sent] <= game->tick) {
        struct rt_event event = {.kind = PUSHED, .value = game->sent++};
        rt_err err = rt_event_push(sim_ticker_ticker(game->ticker),
                rt_activity_id(&game->door.activity), &event);
        SIM_ALWAYS(err == RT_OK);
    }
    return rt_activity_alive(&game->door.activity); /* over when the door is open */
}

static void setup(struct sim_world *world, bool fixed)
{
    struct game *game = sim_new(world, struct game);
    struct door *door = &game->door;
    game->ticker = sim_ticker_new(world, &(struct sim_ticker_options){.update = update, .argument = game});
    for (uint32_t i = 0; i < EVENTS; i++)
        game->when[i] = (i > 0 ? game->when[i - 1] : 1) + 2 - sim_pick(world, 3);
    door->fixed = fixed;
    rt_activity_init(&door->activity, door_poll, NULL, "door");
    rt_activity_lend_events(&door->activity, door->events, SINK, RT_SINK_DROP_NEW);
    sim_ticker_spawn(game->ticker, &door->activity);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/twoevents/broken", .about = "One event for each mark.",
        .setup = setup_broken, .expect = SIM_VERDICT_LIVELOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/twoevents/fixed", .about = "All events at each mark.",
        .setup = setup_fixed);

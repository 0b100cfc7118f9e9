/*
 * g_sink.c -- A game: a door needs two keys, and each key that is put in is pushed to the door
 * as an event.
 *
 * Cause: The door's sink has room for one event and refuses new ones, so when both keys are put
 * in during one tick the second is dropped and the door waits for it forever.
 * Where: setup
 * Kind: event dropped
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define KEYS 2

static bool fixed;

struct game {
    struct sim_ticker *ticker;
    struct rt_activity door;
    struct rt_event mailbox[KEYS];
    struct rt_event event;
    uint32_t updates;
    uint32_t put_at[KEYS];
    uint32_t keys;
    uint32_t at;
};

static rt_poll
door_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct game *game = rt_container_of(activity, struct game, door);
    RT_BEGIN(game->at);
    while (game->keys < KEYS) {
        RT_AWAIT_HERE(game->at, rt_next_event(cx, &game->event));
        game->keys++;
    }
    RT_END(game->at);
}

static bool
update(struct sim_world *world, void *argument)
{
    struct game *game = argument;
    (void)world;
    game->updates++;
    for (uint32_t i = 0; i < KEYS; i++) {
        if (game->updates == game->put_at[i]) {
            struct rt_event key = {.kind = 1, .subject = i};
            (void)!rt_event_push(
                    sim_ticker_ticker(game->ticker), rt_activity_id(&game->door), &key);
        }
    }
    return game->keys < KEYS;
}

static void
setup(struct sim_world *world)
{
    struct game *game = sim_new(world, struct game);
    game->ticker =
            sim_ticker_new(world, &(struct sim_ticker_options){.update = update, .argument = game});
    game->put_at[0] = 4;
    game->put_at[1] = 8 - (uint32_t)sim_range(world, 0, 6);
    rt_activity_init(&game->door, door_poll, NULL, "door");
    rt_activity_lend_events(
            &game->door, game->mailbox, fixed ? KEYS : 1, RT_SINK_DROP_NEW); /* Where. */
    sim_ticker_spawn(game->ticker, &game->door);
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/g-sink/broken", .about = "A door that needs two keys.",
        .setup = setup_broken, .expect = SIM_VERDICT_TIME_LIMIT,
        .expect_also = SIM_VERDICT_LIVELOCK);
SIM_SCENARIO(form_fixed, .name = "unseen/g-sink/fixed", .about = "A door that needs two keys.",
        .setup = setup_fixed);

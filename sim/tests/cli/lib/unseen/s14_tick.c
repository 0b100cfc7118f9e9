/* A game in which a carrier takes deliveries, and rests now and then until it is called or has rested enough.
 * Cause: carrier_poll() (line 62): when the carrier has rested it throws away all events that came meanwhile, and
 * deliveries are among them. Repair: throw away nothing but calls. */
#include <sim/rewake.h>

enum { DELIVERY, CALL };

#define DELIVERIES 4
#define SINK 8
#define TICKS_MAX 80

struct carrier {
    struct rt_activity activity;
    struct rt_event events[SINK];
    struct rt_event event;
    struct rt_tick_wait rest;
    struct game *game;
    uint32_t delivered;
    uint32_t kept;
    uint32_t at;
};

struct game {
    struct sim_ticker *ticker;
    struct carrier carrier;
    uint64_t due[DELIVERIES]; /* The tick at which each delivery is announced. */
    uint64_t call;
    uint64_t tick;
    bool repaired;
};

static void
rested(struct carrier *carrier)
{
    struct rt_event event;
    while (rt_event_pop(&carrier->activity, &event)) {
        if (carrier->game->repaired && event.kind == DELIVERY) {
            carrier->kept++;
        }
    }
}

static rt_poll
carrier_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct carrier *carrier = rt_container_of(activity, struct carrier, activity);
    RT_BEGIN(carrier->at);
    while (carrier->delivered < DELIVERIES) {
        if (carrier->kept > 0) {
            carrier->kept--;
        } else {
            RT_AWAIT_HERE(carrier->at, rt_next_event(cx, &carrier->event));
            if (carrier->event.kind != DELIVERY) {
                continue;
            }
        }
        carrier->delivered++;
        SIM_PROGRESS();
        if (carrier->delivered % 2 == 0) {
            rt_tick_wait_init(&carrier->rest, 4);
            RT_AWAIT_HERE(carrier->at, rt_tick_wait_poll(&carrier->rest, &activity->scope, cx));
            rested(carrier);
        }
    }
    RT_END(carrier->at);
}

static bool
update(struct sim_world *world, void *argument)
{
    struct game *game = argument;
    struct rt_activity *carrier = &game->carrier.activity;
    (void)world;
    game->tick++;
    for (uint32_t i = 0; i < DELIVERIES; i++) {
        if (game->due[i] == game->tick && rt_activity_alive(carrier)) {
            struct rt_event event = {.kind = DELIVERY, .subject = i};
            SIM_ALWAYS(rt_event_push(sim_ticker_ticker(game->ticker), rt_activity_id(carrier), &event) == RT_OK);
        }
    }
    if (game->call == game->tick && rt_activity_alive(carrier)) {
        struct rt_event event = {.kind = CALL};
        SIM_ALWAYS(rt_event_push(sim_ticker_ticker(game->ticker), rt_activity_id(carrier), &event) == RT_OK);
    }
    if (game->tick >= TICKS_MAX) {
        SIM_ALWAYS(game->carrier.delivered == DELIVERIES);
    }
    return rt_activity_alive(carrier) && game->tick < TICKS_MAX;
}

static void
setup(struct sim_world *world, bool repaired)
{
    struct game *game = sim_new(world, struct game);
    struct sim_ticker_options options = {.update = update, .argument = game};
    game->repaired = repaired;
    uint64_t at = 1;
    for (uint32_t i = 0; i < DELIVERIES; i++) {
        at += 9 - sim_range(world, 0, 8);
        game->due[i] = at;
    }
    game->call = sim_range(world, 3, 30);
    game->ticker = sim_ticker_new(world, &options);
    game->carrier.game = game;
    rt_activity_init(&game->carrier.activity, carrier_poll, NULL, "carrier");
    rt_activity_lend_events(&game->carrier.activity, game->carrier.events, SINK, RT_SINK_DROP_NEW);
    sim_ticker_spawn(game->ticker, &game->carrier.activity);
}

static void
setup_broken(struct sim_world *world)
{
    setup(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup(world, true);
}

SIM_SCENARIO(tick_broken, .name = "s14_tick/broken", .about = "A carrier that rests.",
        .setup = setup_broken);
SIM_SCENARIO(tick_fixed, .name = "s14_tick/fixed", .about = "A carrier that rests, repaired.",
        .setup = setup_fixed);
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * s11_harbour.c -- a game: ships bring crates, a porter carries them off, one in each turn that he
 * has. A crate is an event in the porter's queue, which is short.
 *
 * Cause: harbour_unload() (line 50) takes a crate that the porter's full queue has refused as delivered
 */
#include <sim/rewake.h>

#define CRATES 8u
#define QUEUE 2u

struct porter {
    struct rt_activity activity;
    struct rt_event events[QUEUE];
    struct rt_tick_wait walk;
    uint32_t at;
    uint32_t carried;
};

struct harbour {
    struct sim_ticker *game;
    struct porter porter;
    struct rt_key porter_id;
    uint32_t at_sea, on_board;
    bool insists;
};

static rt_poll
porter_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct porter *porter = rt_container_of(activity, struct porter, activity);
    struct rt_event crate;
    RT_BEGIN(porter->at);
    while (porter->carried < CRATES) {
        RT_AWAIT_HERE(porter->at, rt_next_event(cx, &crate));
        rt_tick_wait_init(&porter->walk, 1);
        RT_AWAIT_HERE(porter->at, rt_tick_wait_poll(&porter->walk, &activity->scope, cx));
        porter->carried++;
        SIM_PROGRESS();
    }
    RT_END(porter->at);
}

static void
harbour_unload(struct harbour *harbour)
{
    struct rt_ticker *ticker = sim_ticker_ticker(harbour->game);
    while (harbour->on_board > 0) {
        struct rt_event crate = {.kind = 1, .subject = harbour->on_board};
        if (rt_event_push(ticker, harbour->porter_id, &crate) != RT_OK && harbour->insists) {
            break;
        }
        harbour->on_board--;
    }
}

/* Before each tick: ships come in. */
static bool
harbour_update(struct sim_world *world, void *argument)
{
    struct harbour *harbour = argument;
    uint32_t arriving = sim_pick(world, 3);
    if (harbour->at_sea > 0 && arriving == 0) {
        arriving = sim_pick(world, 2) == 0;
    }
    arriving = arriving < harbour->at_sea ? arriving : harbour->at_sea;
    harbour->at_sea -= arriving;
    harbour->on_board += arriving;
    harbour_unload(harbour);
    return rt_activity_alive(&harbour->porter.activity);
}

static void
setup_with(struct sim_world *world, bool insists)
{
    struct harbour *harbour = sim_new(world, struct harbour);
    struct porter *porter = &harbour->porter;
    struct sim_ticker_options options = {
            .name = "harbour", .update = harbour_update, .argument = harbour};
    harbour->game = sim_ticker_new(world, &options);
    harbour->at_sea = CRATES;
    harbour->insists = insists;
    rt_activity_init(&porter->activity, porter_poll, NULL, "porter");
    rt_activity_lend_events(&porter->activity, porter->events, QUEUE, RT_SINK_DROP_NEW);
    sim_ticker_spawn(harbour->game, &porter->activity);
    harbour->porter_id = rt_activity_id(&porter->activity);
}

static void
setup_broken(struct sim_world *world)
{
    setup_with(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_with(world, true);
}

SIM_SCENARIO(harbour_broken, .name = "s11_harbour/broken", .about = "Crates for a porter.",
        .setup = setup_broken);
SIM_SCENARIO(harbour_fixed, .name = "s11_harbour/fixed", .about = "Crates for a porter.",
        .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0

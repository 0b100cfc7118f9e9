/*
 * A courier in a game: letters are handed to it as events, and it walks a while with each.
 * Cause: post_office_update() (line 74) takes a letter for sent although rt_event_push() has refused it, as the courier's sink is full.
 */
#include <sim/rewake.h>

#define LETTERS 5u
#define TICKS 200u

enum { LETTER = 1 };

struct customer {
    struct rt_task task;
    struct rt_slot delivery;
    struct courier *courier;
};

struct courier {
    struct rt_activity activity;
    struct rt_event events[2];
    struct rt_event letter;
    struct rt_tick_wait walk;
    struct customer *customer;
    uint32_t at;
    uint32_t delivered;
};

struct post_office {
    struct sim_ticker *game;
    struct courier courier;
    uint32_t sent;
    uint64_t next_tick;
    uint64_t pause_max;
    bool fixed;
};

static rt_poll
courier_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct courier *courier = rt_container_of(activity, struct courier, activity);
    RT_BEGIN(courier->at);
    while (courier->delivered < LETTERS) {
        RT_AWAIT_HERE(courier->at, rt_next_event(cx, &courier->letter));
        rt_tick_wait_init(&courier->walk, 2);
        RT_AWAIT_HERE(courier->at, rt_tick_wait_poll(&courier->walk, &activity->scope, cx));
        courier->delivered++;
        SIM_PROGRESS();
    }
    rt_slot_wake(&courier->customer->delivery);
    RT_END(courier->at);
}

static rt_poll
customer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct customer *customer = rt_container_of(task, struct customer, task);
    if (customer->courier->delivered == LETTERS) {
        return RT_READY;
    }
    rt_slot_replace(&customer->delivery, cx, "the last letter");
    return RT_PENDING;
}

static bool
post_office_update(struct sim_world *world, void *argument)
{
    struct post_office *office = argument;
    struct rt_ticker *ticker = sim_ticker_ticker(office->game);
    struct courier *courier = &office->courier;
    if (ticker->tick >= office->next_tick && office->sent < LETTERS) {
        const struct rt_event letter = {.kind = LETTER, .value = office->sent};
        rt_err err = rt_event_push(ticker, rt_activity_id(&courier->activity), &letter);
        if (err == RT_OK || !office->fixed) {
            office->sent++;
        }
        office->next_tick = ticker->tick + 1 + office->pause_max - sim_range(world, 0, office->pause_max);
    }
    return rt_activity_alive(&courier->activity) && ticker->tick < TICKS;
}

static void
setup(struct sim_world *world, bool fixed)
{
    struct post_office *office = sim_new(world, struct post_office);
    struct courier *courier = &office->courier;
    struct customer *customer = sim_new(world, struct customer);
    const struct sim_ticker_options options = {.update = post_office_update, .argument = office};
    office->fixed = fixed;
    office->pause_max = 2;
    office->next_tick = 1;
    office->game = sim_ticker_new(world, &options);
    courier->customer = customer;
    customer->courier = courier;
    rt_slot_init(&customer->delivery);
    rt_activity_init(&courier->activity, courier_poll, NULL, "courier");
    rt_activity_lend_events(&courier->activity, courier->events, 2, RT_SINK_DROP_NEW);
    sim_ticker_spawn(office->game, &courier->activity);
    rt_task_init(&customer->task, customer_poll, NULL, "customer");
    sim_spawn(sim_rt_new(world, NULL), &customer->task);
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

SIM_SCENARIO(broken, .name = "s12-courier/broken", .about = "Five letters, one courier.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "s12-courier/fixed", .about = "Five letters, one courier.",
        .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0

/* A game in ticks: couriers walk to a gate and wait there until a porter opens it.
 * Cause: courier_poll() line 68: a courier looks at the gate, knocks for two ticks, and subscribes to its events
 * only then, so an event in between does not reach it; repair: subscribe before the look. */
#include <sim/rewake.h>

#define COURIERS 2
#define EVENTS 4
#define GATE 7u
#define TICKS_MAX 60

enum kind { KIND_OPENED, KIND_KNOCKED };

struct town {
    struct rt_ticker *ticker;
    bool open;
    unsigned knocks;
    unsigned delivered;
    bool porter_gone;
    uint32_t ticks;
    bool fixed;
};

static const struct rt_event gate_opened = {.kind = KIND_OPENED, .subject = GATE};

struct courier {
    struct rt_activity activity;
    struct town *town;
    uint32_t at;
    uint64_t distance;
    struct rt_tick_wait wait;
    struct rt_subscription gate;
    struct rt_event event;
    struct rt_event events[EVENTS];
};

struct porter {
    struct rt_activity activity;
    struct town *town;
    uint32_t at;
    uint64_t nap;
    struct rt_tick_wait wait;
};

static void
watch_gate(struct courier *courier)
{
    rt_subscribe(&courier->gate, &courier->activity, &courier->activity.scope, GATE,
            UINT64_C(1) << KIND_OPENED);
}

static rt_poll
courier_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct courier *courier = rt_container_of(activity, struct courier, activity);
    struct town *town = courier->town;
    RT_BEGIN(courier->at);
    rt_tick_wait_init(&courier->wait, courier->distance);
    RT_AWAIT_HERE(courier->at, rt_tick_wait_poll(&courier->wait, &activity->scope, cx));

    if (town->fixed) {
        watch_gate(courier);
    }
    if (!town->open) {
        town->knocks++;
        rt_tick_wait_init(&courier->wait, 2);
        RT_AWAIT_HERE(courier->at, rt_tick_wait_poll(&courier->wait, &activity->scope, cx));
        if (!town->fixed) {
            watch_gate(courier);
        }
        RT_AWAIT_HERE(courier->at, rt_next_event(cx, &courier->event));
        SIM_ALWAYS(courier->event.kind == KIND_OPENED && town->open);
    }

    rt_tick_wait_init(&courier->wait, 1);
    RT_AWAIT_HERE(courier->at, rt_tick_wait_poll(&courier->wait, &activity->scope, cx));
    town->delivered++;
    RT_END(courier->at);
}

static rt_poll
porter_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct porter *porter = rt_container_of(activity, struct porter, activity);
    RT_BEGIN(porter->at);
    rt_tick_wait_init(&porter->wait, porter->nap);
    RT_AWAIT_HERE(porter->at, rt_tick_wait_poll(&porter->wait, &activity->scope, cx));
    porter->town->open = true;
    SIM_ALWAYS(rt_event_post(porter->town->ticker, &gate_opened) == RT_OK);
    porter->town->porter_gone = true;
    RT_END(porter->at);
}

static bool
update(struct sim_world *world, void *argument)
{
    struct town *town = argument;
    (void)world;
    if (town->porter_gone && town->delivered == COURIERS) {
        return false;
    }
    return ++town->ticks < TICKS_MAX;
}

static void
check(struct sim_world *world, void *state)
{
    struct town *town = state;
    (void)world;
    SIM_ALWAYS(town->open);
    SIM_ALWAYS(town->delivered == COURIERS);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[COURIERS] = {"post", "milk"};
    struct town *town = sim_new(world, struct town);
    struct sim_ticker *game = sim_ticker_new(
            world, &(struct sim_ticker_options){.update = update, .argument = town});
    town->ticker = sim_ticker_ticker(game);
    town->fixed = fixed;
    sim_set_state(world, town);

    struct porter *porter = sim_new(world, struct porter);
    porter->town = town;
    porter->nap = sim_range(world, 1, 9);
    rt_activity_init(&porter->activity, porter_poll, NULL, "porter");
    sim_ticker_spawn(game, &porter->activity);
    for (unsigned i = 0; i < COURIERS; i++) {
        struct courier *courier = sim_new(world, struct courier);
        courier->town = town;
        courier->distance = sim_range(world, 2, 8);
        rt_subscription_init(&courier->gate);
        rt_activity_init(&courier->activity, courier_poll, NULL, names[i]);
        rt_activity_lend_events(&courier->activity, courier->events, EVENTS, RT_SINK_DROP_NEW);
        sim_ticker_spawn(game, &courier->activity);
    }
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

SIM_SCENARIO(broken, .name = "s13_gate/broken", .about = "Couriers at a gate, broken.",
        .setup = set_up_broken, .check = check, .expect = SIM_VERDICT_INVARIANT);
SIM_SCENARIO(fixed, .name = "s13_gate/fixed", .about = "Couriers at a gate.",
        .setup = set_up_fixed, .check = check);
/* SPDX-License-Identifier: Apache-2.0 */

/* Cause: report_crate(), line 47: the answer of rt_event_push() is ignored; when several harvesters are full in one tick the depot's sink has no space and refuses the event, and the depot counts too few crates and waits forever; repair: the crate is reported again in a later tick when the sink was full. */
/*
 * s16_harvest.c -- a game: harvesters fill crates, a depot counts them and then sends the waggon.
 */
#include <sim/rewake.h>

enum { CRATE = 1 };

#define HARVESTERS 3u
#define CRATES 2u /* Of each. */
#define DEPOT_EVENTS 2u

struct field {
    struct sim_world *world;
    struct rt_ticker *ticker;
    struct depot *depot;
    bool waggon_sent;
    unsigned ticks;
    bool fixed;
};

struct depot {
    struct rt_activity activity;
    struct field *field;
    struct rt_event memory[DEPOT_EVENTS];
    struct rt_event event;
    unsigned crates;
    uint32_t at;
};

struct harvester {
    struct rt_activity activity;
    struct field *field;
    struct rt_tick_wait work;
    uint32_t number;
    unsigned crates;
    uint32_t at;
};

/* Tells the depot; false: again in the next tick. */
static bool
report_crate(struct harvester *harvester)
{
    struct field *field = harvester->field;
    rt_err err = rt_event_push(field->ticker, rt_activity_id(&field->depot->activity),
            &(struct rt_event){.kind = CRATE, .subject = harvester->number});
    return err == RT_OK || !field->fixed;
}

static rt_poll
harvester_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct harvester *harvester = rt_container_of(activity, struct harvester, activity);
    struct rt_scope *scope = &activity->scope;
    RT_BEGIN(harvester->at);
    for (harvester->crates = 0; harvester->crates < CRATES; harvester->crates++) {
        rt_tick_wait_init(&harvester->work, sim_range(harvester->field->world, 2, 6));
        RT_AWAIT_HERE(harvester->at, rt_tick_wait_poll(&harvester->work, scope, cx));
        while (!report_crate(harvester)) {
            rt_tick_wait_init(&harvester->work, 1);
            RT_AWAIT_HERE(harvester->at, rt_tick_wait_poll(&harvester->work, scope, cx));
        }
    }
    RT_END(harvester->at);
}

static rt_poll
depot_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct depot *depot = rt_container_of(activity, struct depot, activity);
    RT_BEGIN(depot->at);
    while (depot->crates < HARVESTERS * CRATES) {
        RT_AWAIT_HERE(depot->at, rt_next_event(cx, &depot->event));
        if (depot->event.kind == CRATE) {
            depot->crates++;
        }
    }
    depot->field->waggon_sent = true;
    RT_END(depot->at);
}

/* The game ends when the waggon leaves, or in the evening. */
static bool
update(struct sim_world *world, void *argument)
{
    struct field *field = argument;
    (void)world;
    if (field->waggon_sent) {
        return false;
    }
    SIM_ALWAYS(++field->ticks < 100);
    return true;
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[HARVESTERS] = {"harvester 1", "harvester 2", "harvester 3"};
    struct field *field = sim_new(world, struct field);
    struct sim_ticker_options options = {.update = update, .argument = field};
    struct sim_ticker *game = sim_ticker_new(world, &options);
    struct depot *depot = sim_new(world, struct depot);
    field->world = world;
    field->ticker = sim_ticker_ticker(game);
    field->depot = depot;
    field->fixed = fixed;
    depot->field = field;
    rt_activity_init(&depot->activity, depot_poll, NULL, "depot");
    rt_activity_lend_events(&depot->activity, depot->memory, DEPOT_EVENTS, RT_SINK_DROP_NEW);
    sim_ticker_spawn(game, &depot->activity);
    for (uint32_t i = 0; i < HARVESTERS; i++) {
        struct harvester *harvester = sim_new(world, struct harvester);
        harvester->field = field;
        harvester->number = i;
        rt_activity_init(&harvester->activity, harvester_poll, NULL, names[i]);
        sim_ticker_spawn(game, &harvester->activity);
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

SIM_SCENARIO(broken, .name = "s16/harvest/broken", .about = "Crates are counted at the depot.",
        .setup = set_up_broken, .expect = SIM_VERDICT_INVARIANT);
SIM_SCENARIO(fixed, .name = "s16/harvest/fixed", .about = "Crates are counted at the depot.",
        .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */

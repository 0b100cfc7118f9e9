// Cause: s3_loads.c:43 the foreman counts how often it was marked and not what was brought: two haulers that arrive in one tick mark it once, it is polled once and counts one load, and waits for a mark that no hauler has left to give.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define HAULERS 3
#define TICKS 80

struct site {
    struct sim_ticker *ticker;
    struct foreman *foreman;
    uint64_t ticks;
    uint32_t stock;
    bool built;
    bool fixed;
};

struct foreman {
    struct rt_activity activity;
    struct site *site;
    struct rt_park park;
    struct rt_tick_wait work;
    uint32_t loads;
    uint32_t at;
};

struct hauler {
    struct rt_activity activity;
    struct site *site;
    struct rt_tick_wait way;
    uint64_t distance;
    uint32_t at;
};

static rt_poll
foreman_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct foreman *foreman = rt_container_of(activity, struct foreman, activity);
    RT_BEGIN(foreman->at);
    while ((foreman->site->fixed ? foreman->site->stock : foreman->loads) < HAULERS) {
        foreman->park = (struct rt_park){0};
        RT_AWAIT_HERE(foreman->at, rt_park_poll(&foreman->park, cx));
        foreman->loads++;
    }
    rt_tick_wait_init(&foreman->work, 3);
    RT_AWAIT_HERE(foreman->at, rt_tick_wait_poll(&foreman->work, &foreman->activity.scope, cx));
    foreman->site->built = true;
    RT_END(foreman->at);
}

static rt_poll
hauler_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct hauler *hauler = rt_container_of(activity, struct hauler, activity);
    struct site *site = hauler->site;
    RT_BEGIN(hauler->at);
    rt_tick_wait_init(&hauler->way, hauler->distance);
    RT_AWAIT_HERE(hauler->at, rt_tick_wait_poll(&hauler->way, &hauler->activity.scope, cx));
    site->stock++;
    SIM_ALWAYS(rt_mark_ready(
            sim_ticker_ticker(site->ticker), rt_activity_id(&site->foreman->activity)));
    RT_END(hauler->at);
}

static bool
site_update(struct sim_world *world, void *argument)
{
    struct site *site = argument;
    (void)world;
    if (site->built) {
        return false;
    }
    SIM_ALWAYS(site->ticks < TICKS);
    site->ticks++;
    return true;
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[HAULERS] = {"hauler A", "hauler B", "hauler C"};
    struct site *site = sim_new(world, struct site);
    struct foreman *foreman = sim_new(world, struct foreman);
    struct sim_ticker_options options = {.update = site_update, .argument = site};
    site->foreman = foreman;
    site->fixed = fixed;
    site->ticker = sim_ticker_new(world, &options);
    foreman->site = site;
    rt_activity_init(&foreman->activity, foreman_poll, NULL, "foreman");
    sim_ticker_spawn(site->ticker, &foreman->activity);
    for (uint32_t i = 0; i < HAULERS; i++) {
        struct hauler *hauler = sim_new(world, struct hauler);
        hauler->site = site;
        hauler->distance = 3 + 4 * i + sim_pick(world, 9);
        rt_activity_init(&hauler->activity, hauler_poll, NULL, names[i]);
        sim_ticker_spawn(site->ticker, &hauler->activity);
    }
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_loads/broken", .about = "A foreman and three haulers.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_loads/fixed", .about = "A foreman and three haulers.",
        .setup = setup_fixed);

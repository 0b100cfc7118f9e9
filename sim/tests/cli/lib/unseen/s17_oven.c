/* Cause: oven_set(), line 48: the loop is woken only for the first timer; one that is set while another, later one runs does not shorten the sleep of the loop, so its dish stays in the oven until the later one is due, and burns; repair: notify whenever the new timer is the earliest. */
/*
 * An oven with its own timers: a loop sleeps until the earliest one is due. Cooks (threads) set a
 * timer for their dish and come back when it should be done.
 */
#include <sim/rewake.h>

#define DISHES 2

struct dish {
    struct oven *oven;
    const char *name;
    uint64_t due;
    uint64_t comes_ns; /* When its cook comes, and … */
    uint64_t bakes_ns; /* … how long it bakes. */
    bool inside;
    bool done;
};

struct oven {
    struct rt_host *host;
    struct rt_pollable bell;
    struct dish *dishes[DISHES];
    uint32_t taken_out;
    bool fixed;
};

static uint64_t
oven_earliest(const struct oven *oven)
{
    uint64_t earliest = RT_NEVER;
    for (uint32_t i = 0; i < DISHES; i++) {
        const struct dish *dish = oven->dishes[i];
        if (dish->inside && dish->due < earliest) {
            earliest = dish->due;
        }
    }
    return earliest;
}

/* Called by any thread. */
static void
oven_set(struct oven *oven, struct dish *dish, uint64_t due)
{
    uint64_t earliest = oven_earliest(oven);
    dish->due = due;
    dish->inside = true;
    if (earliest == RT_NEVER || (oven->fixed && due < earliest)) {
        rt_host_notify(oven->host);
    }
}

static void
oven_take_out(struct oven *oven)
{
    uint64_t now = rt_host_now(oven->host);
    for (uint32_t i = 0; i < DISHES; i++) {
        struct dish *dish = oven->dishes[i];
        if (dish->inside && dish->due <= now) {
            dish->inside = false;
            dish->done = true;
            oven->taken_out++;
            SIM_PROGRESS();
        }
    }
}

static void
oven_main(struct sim_world *world, void *argument)
{
    struct oven *oven = argument;
    (void)world;
    while (oven->taken_out < DISHES) {
        struct rt_pollable until = {0};
        struct rt_pollable *list[] = {&oven->bell, &until};
        uint32_t ready[2], count = 1;
        uint64_t earliest = oven_earliest(oven);
        if (earliest != RT_NEVER) {
            SIM_ALWAYS(rt_subscribe_instant(oven->host, earliest, &until) == RT_OK);
            count = 2;
        }
        SIM_ALWAYS(rt_host_poll(oven->host, list, count, ready, &count) == RT_OK);
        rt_pollable_drop(&until);
        oven_take_out(oven);
    }
    rt_pollable_drop(&oven->bell);
}

/* Comes back some time after the dish should have been taken out. */
static void
cook_main(struct sim_world *world, void *argument)
{
    struct dish *dish = argument;
    sim_sleep(world, dish->comes_ns);
    oven_set(dish->oven, dish, rt_host_now(dish->oven->host) + dish->bakes_ns);
    sim_sleep(world, dish->bakes_ns + 10 * RT_MS);
    while (!dish->done) {
        sim_sleep(world, 5 * RT_MS);
    }
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[DISHES] = {"cake", "roast"};
    static const char *const cooks[DISHES] = {"baker", "chef"};
    struct oven *oven = sim_new(world, struct oven);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    oven->host = sim_host_seam(host);
    oven->fixed = fixed;
    SIM_ALWAYS(rt_host_subscribe(oven->host, RT_SUBSCRIBE_NOTIFY, 0, &oven->bell) == RT_OK);
    for (uint32_t i = 0; i < DISHES; i++) {
        struct dish *dish = sim_new(world, struct dish);
        oven->dishes[i] = dish;
        dish->oven = oven;
        dish->name = names[i];
        dish->comes_ns = sim_range(world, (i + 1) * RT_MS, 4 * RT_MS);
        dish->bakes_ns = (i + 1) * 60 * RT_MS;
        (void)sim_loop_new(world, cooks[i], cook_main, dish);
    }
    (void)sim_loop_new(world, "oven", oven_main, oven);
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

SIM_SCENARIO(broken, .name = "s17/oven/broken", .about = "The first form.", .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s17/oven/fixed", .about = "The repaired form.", .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */

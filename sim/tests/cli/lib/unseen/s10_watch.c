// SPDX-License-Identifier: Apache-2.0
/* Cause: loop_remove(), line 40: the last watch moves into the gap, but keeps its old index, so
 * that its own removal takes out another one. repair: set the index of the moved watch. */
#include <sim/rewake.h>

#define WATCHES 4
#define EVENTS 2 /* Of each source. */

struct watch {
    struct rt_pollable pollable;
    struct sim_source *source;
    uint32_t index; /* In the loop's list. */
    uint32_t events;
};

struct event_loop {
    struct rt_host *host;
    struct rt_pollable *list[WATCHES];
    struct watch *watches[WATCHES];
    uint32_t count;
    uint32_t open;
    bool renumbers;
    struct watch all[WATCHES];
};

static void
loop_add(struct event_loop *loop, struct watch *watch)
{
    watch->index = loop->count++;
    loop->watches[watch->index] = watch;
    loop->list[watch->index] = &watch->pollable;
}

static void
loop_remove(struct event_loop *loop, struct watch *watch)
{
    uint32_t gap = watch->index;
    uint32_t last = --loop->count;
    loop->watches[gap] = loop->watches[last];
    loop->list[gap] = loop->list[last];
    if (loop->renumbers) {
        loop->watches[gap]->index = gap;
    }
}

static void
on_ready(struct event_loop *loop, struct watch *watch)
{
    if (sim_source_take(watch->source) != RT_OK) {
        return;
    }
    watch->events++;
    SIM_PROGRESS();
    if (watch->events == EVENTS) {
        loop_remove(loop, watch);
        loop->open--;
    }
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct event_loop *loop = argument;
    (void)world;
    for (uint32_t i = 0; i < WATCHES; i++) {
        struct watch *watch = &loop->all[i];
        SIM_ALWAYS(sim_source_subscribe(watch->source, &watch->pollable) == RT_OK);
        loop_add(loop, watch);
    }
    while (loop->open > 0) {
        uint32_t ready[WATCHES];
        struct watch *called[WATCHES];
        uint32_t count = 0;
        SIM_ALWAYS(loop->count > 0);
        SIM_ALWAYS(rt_host_poll(loop->host, loop->list, loop->count, ready, &count) == RT_OK);
        for (uint32_t i = 0; i < count; i++) {
            called[i] = loop->watches[ready[i]];
        }
        for (uint32_t i = 0; i < count; i++) {
            on_ready(loop, called[i]);
        }
    }
    for (uint32_t i = 0; i < WATCHES; i++) {
        rt_pollable_drop(&loop->all[i].pollable);
    }
}

static void
begin(struct sim_world *world, bool renumbers)
{
    static const char *const names[WATCHES] = {"keyboard", "mouse", "modem", "printer"};
    struct event_loop *loop = sim_new(world, struct event_loop);
    struct sim_host *host = sim_host_new(world, "desk", SIM_PROFILE_DEFAULT);
    loop->host = sim_host_seam(host);
    loop->renumbers = renumbers;
    loop->open = WATCHES;
    for (uint32_t i = 0; i < WATCHES; i++) {
        loop->all[i].source = sim_source_new(host, names[i]);
        for (uint32_t j = 0; j < EVENTS; j++) {
            sim_source_event_in(loop->all[i].source, (WATCHES - i) * RT_MS, 5 * RT_MS);
        }
    }
    (void)sim_loop_new(world, "loop", loop_main, loop);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(watch_broken, .name = "watch/broken", .about = "A loop watches four sources.",
        .setup = setup_broken);
SIM_SCENARIO(
        watch_fixed, .name = "watch/fixed", .about = "The same, repaired.", .setup = setup_fixed);

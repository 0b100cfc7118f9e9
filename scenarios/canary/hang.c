/*
 * hang.c -- a canary: a loop without an end inside one poll.
 *
 * A place in a table is looked for by double hashing. The second hash is the stride, and
 * somebody forgot that it may be 0: then only one place is ever looked at, and if that is
 * taken, the poll never returns. No step ends, so nothing inside the run can notice; the
 * parent sees a step counter that stands still, and kills the worker.
 *
 * Each hang costs the patience of the parent, 10 s (`--hang 1s` makes it less), and after ten
 * of them a sweep gives up. So this canary, unlike the others, sings seldom: in about one run
 * of 256.
 *
 * Must end in: hang.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define PLACES 64u

struct table {
    struct rt_task task;
    struct sim_world *world;
    bool taken[PLACES];
    volatile uint32_t probes; /* Volatile: a loop without effects may be taken for one that ends. */
};

static uint32_t
table_find_free(struct table *table, uint32_t hash, uint32_t stride)
{
    uint32_t place = hash;
    while (table->taken[place]) {
        place = (place + stride) % PLACES;
        table->probes = table->probes + 1;
    }
    return place;
}

static rt_poll
insert_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct table *table = rt_container_of(task, struct table, task);
    uint32_t hash = sim_pick(table->world, PLACES);
    uint32_t stride = (sim_pick(table->world, PLACES) + 1) % PLACES;
    (void)cx;
    table->taken[table_find_free(table, hash, stride)] = true;
    return RT_READY;
}

/* A quarter of the places is taken. */
static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct table *table = sim_new(world, struct table);
    table->world = world;
    for (uint32_t i = 0; i < PLACES / 4; i++) {
        table->taken[i] = true;
    }
    rt_task_init(&table->task, insert_poll, NULL, "insert");
    sim_spawn(rt, &table->task);
}

SIM_SCENARIO(canary_hang, .name = "canary/hang",
        .about = "A poll probes one place of a table forever; seldom, for it takes long to notice.",
        .setup = setup, .expect = SIM_VERDICT_HANG);

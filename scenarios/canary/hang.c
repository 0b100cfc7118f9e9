/*
 * hang.c -- a canary: a loop without an end inside one poll.
 *
 * A free place in a table is searched by double hashing. The second hash is the stride, and a
 * correct program would exclude 0: with that stride only one place is probed, and if it is taken,
 * the poll never returns. No step ends, so no check inside the run can notice; the parent process
 * sees a step counter that stands still, and kills the worker.
 *
 * Each hang takes the parent's time limit, 10 s (`--hang 1s` shortens it), and after ten of them a
 * sweep stops. So this canary fails rarely, in about one run of 256, while most of the others fail
 * in many.
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
        .about = "A poll probes one place of a table forever; rarely, as detecting it takes long.",
        .setup = setup, .expect = SIM_VERDICT_HANG);

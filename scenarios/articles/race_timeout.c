/*
 * race_timeout.c -- "any mode of concurrency you might want" (S1): a race under a timeout.
 *
 * Two mirrors have the same page. A reader asks both, takes the first complete answer, and drops
 * the other request; after a limit it drops both. A dropped request, in whatever stage, leaves
 * nothing: no wait, no pollable, no wake of the reader.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenarios/articles/client.h"

static const struct page mirrors[2] = {
        {"GET near", "It was a dark and stormy night.", 8, 1 * RT_MS, 20 * RT_MS},
        {"GET far", "It was a dark and stormy night.", 16, 5 * RT_MS, 15 * RT_MS},
};

static const uint64_t patiences_ns[4] = {RT_NEVER, 60 * RT_MS, 30 * RT_MS, 10 * RT_MS};

struct reader {
    struct rt_task task;
    struct rt_timeout timeout;
    struct rt_race race;
    struct rt_child children[2];
    struct fetch fetches[2];
    bool done;
};

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    RT_AWAIT(rt_timeout_poll(&reader->timeout, cx));
    reader->done = true;
    return RT_READY;
}

static void
reader_cleanup(struct rt_task *task)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    rt_timeout_drop(&reader->timeout);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct reader *reader = sim_new(world, struct reader);
    for (uint32_t i = 0; i < 2; i++) {
        fetch_init(&reader->fetches[i], sim_rt_host(rt), &mirrors[i]);
        reader->children[i].future = &reader->fetches[i].future;
    }
    SIM_ALWAYS(rt_race_init(&reader->race, reader->children, 2) == RT_OK);
    uint64_t patience_ns = patiences_ns[sim_pick(world, 4)];
    rt_timeout_init(&reader->timeout, &reader->race.future, patience_ns);
    rt_task_init(&reader->task, reader_poll, reader_cleanup, "reader");
    sim_spawn(rt, &reader->task);
    sim_set_state(world, reader);
}

/* A page in time is complete, and there is one winner. */
static void
check(struct sim_world *world, void *state)
{
    const struct reader *reader = state;
    (void)world;
    if (reader->done && !reader->timeout.expired) {
        SIM_ALWAYS(fetch_has_page(&reader->fetches[reader->race.winner]));
    }
    SIM_SOMETIMES(reader->done && reader->timeout.expired);
    SIM_SOMETIMES(reader->done && !reader->timeout.expired && reader->race.winner == 1);
}

/* It assumes that the host has capacity for a pollable. */
SIM_SCENARIO(seed1_race_timeout, .name = "articles/s1/race-timeout",
        .about = "Two mirrors of one page race, under a timeout.", .setup = setup, .check = check,
        .survives = SIM_FAULT_ALL & ~SIM_FAULT_CAPACITY);

/*
 * bench_queue.c -- whole simulated runs of a queue with room for one item.
 *
 * A producer sends ten messages to a consumer; each run is a world made again, judged by all
 * default oracles. Two forms: over a channel of capacity 1 (sync/channel.h), and by hand over two
 * slots, which is what the simulator itself costs. The same program takes shuttle 7.8 us (128,000 a
 * second).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/sync/channel.h"
#include "runtime/tests/bench/stopwatch.h"
#include "sim/core/site.h"
#include "sim/core/strategies.h"
#include "sim/core/world.h"
#include "sim/judge/judge.h"
#include "sim/rewake.h"

#define RUNS 500u
#define MESSAGES 10u

/* ---- Over a channel. ------------------------------------------------------------------------- */

struct channel_story {
    struct rt_task producer;
    struct rt_task consumer;
    struct rt_channel channel;
    uint64_t ring[1];
    struct rt_send send;
    struct rt_recv recv;
    uint64_t out;
    uint64_t in;
    uint32_t sent;
    uint32_t received;
};

static rt_poll
send_all(struct rt_task *task, struct rt_cx *cx)
{
    struct channel_story *story = rt_container_of(task, struct channel_story, producer);
    while (story->sent < MESSAGES) {
        RT_AWAIT(rt_send_poll(&story->send, cx));
        story->sent++;
        story->out++;
        rt_send_init(&story->send, &story->channel, &story->out);
    }
    return RT_READY;
}

static rt_poll
receive_all(struct rt_task *task, struct rt_cx *cx)
{
    struct channel_story *story = rt_container_of(task, struct channel_story, consumer);
    while (story->received < MESSAGES) {
        RT_AWAIT(rt_recv_poll(&story->recv, cx));
        SIM_ALWAYS(story->in == story->received);
        story->received++;
        rt_recv_init(&story->recv, &story->channel, &story->in);
    }
    return RT_READY;
}

static void
setup_channel(struct sim_world *world)
{
    struct sim_rt_options options = {.capacity = 4};
    struct sim_rt *rt = sim_rt_new(world, &options);
    struct channel_story *story = sim_new(world, struct channel_story);
    struct rt_channel_config config = {
            .ring = story->ring, .item_size = sizeof(story->ring[0]), .capacity = 1};
    rt_channel_init(&story->channel, &config);
    rt_send_init(&story->send, &story->channel, &story->out);
    rt_recv_init(&story->recv, &story->channel, &story->in);
    rt_task_init(&story->producer, send_all, NULL, "producer");
    rt_task_init(&story->consumer, receive_all, NULL, "consumer");
    sim_spawn(rt, &story->producer);
    sim_spawn(rt, &story->consumer);
}

static const struct sim_scenario channel = {.name = "bench/channel", .setup = setup_channel};

/* ---- By hand. -------------------------------------------------------------------------------- */

struct story {
    struct rt_task producer;
    struct rt_task consumer;
    struct rt_slot space; /* The producer, waiting for room. */
    struct rt_slot items; /* The consumer, waiting for an item. */
    bool full;
    uint32_t sent;
    uint32_t received;
};

static rt_poll
produce(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, producer);
    while (story->sent < MESSAGES) {
        if (story->full) {
            rt_slot_replace(&story->space, cx, "room for an item");
            return RT_PENDING;
        }
        story->full = true;
        story->sent++;
        (void)rt_slot_wake(&story->items);
    }
    return RT_READY;
}

static rt_poll
consume(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, consumer);
    while (story->received < MESSAGES) {
        if (!story->full) {
            rt_slot_replace(&story->items, cx, "an item");
            return RT_PENDING;
        }
        story->full = false;
        story->received++;
        (void)rt_slot_wake(&story->space);
    }
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.capacity = 4};
    struct sim_rt *rt = sim_rt_new(world, &options);
    struct story *story = sim_new(world, struct story);
    rt_slot_init(&story->space);
    rt_slot_init(&story->items);
    rt_task_init(&story->producer, produce, NULL, "producer");
    rt_task_init(&story->consumer, consume, NULL, "consumer");
    sim_spawn(rt, &story->producer);
    sim_spawn(rt, &story->consumer);
}

static const struct sim_scenario queue = {.name = "bench/queue", .setup = setup};

/* ---- Measuring. ------------------------------------------------------------------------------ */

static struct sim_world world;
static struct sim_random random_strategy;

struct form {
    const struct sim_scenario *scenario;
    bool events;
    uint64_t seed;
};

/* ns a run. */
static double
round_of(void *argument)
{
    struct form *form = argument;
    struct sim_case what = {.scenario = form->scenario, .strategy = &random_strategy.strategy};
    struct sim_outcome outcome;
    sim_options_init(&what.options, form->scenario);
    double start_ns = stopwatch_now_ns();
    for (uint32_t i = 0; i < RUNS; i++) {
        what.seed = form->seed++;
        sim_judge(&world, &what, (struct sim_recording){form->events, false}, &outcome);
        if (outcome.verdict != SIM_VERDICT_PASS) {
            (void)printf("seed %llu: %s\n", (unsigned long long)what.seed, outcome.message);
            exit(1);
        }
    }
    return (stopwatch_now_ns() - start_ns) / RUNS;
}

/* The target counts whole runs as a sweep makes them that looks for nothing but a verdict. */
static void
measure(const char *what, const struct sim_scenario *scenario, bool events)
{
    struct form form = {.scenario = scenario, .events = events};
    struct stopwatch_figure figure = stopwatch_measure(round_of, &form);
    stopwatch_row(what, figure);
    (void)printf("  %.0f runs a second, at least 800000%s\n", 1e9 / figure.median,
            1e9 / figure.median < 800000 ? ": MISSED" : "");
}

int
main(void)
{
    sim_sites_init();
    sim_random_init(&random_strategy);
    struct sim_world_memory memory = {
            .record = {.events = calloc(65536, sizeof(struct sim_event)),
                    .events_capacity = 65536,
                    .hashes = calloc(65536, sizeof(uint64_t)),
                    .hashes_capacity = 65536},
            .tape = {NULL, 0, 0},
    };
    if (memory.record.events == NULL || memory.record.hashes == NULL ||
            sim_world_init(&world, &memory, NULL, 0xa5) != RT_OK) {
        return 1;
    }
    stopwatch_head("a one-slot queue of 10 messages, whole runs: default options and oracles; ns");
    measure("a channel of 1, no events", &channel, false);
    measure("a channel of 1, events and digest", &channel, true);
    measure("by hand over two slots, no events", &queue, false);
    measure("by hand over two slots, events and digest", &queue, true);
    return 0;
}

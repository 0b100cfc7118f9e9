/*
 * bench_queue.c -- whole simulated runs of a queue with a capacity of one item.
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
#include "sim/core/decide/strategies.h"
#include "sim/core/record/site.h"
#include "sim/core/world.h"
#include "sim/judge/judge.h"
#include "sim/rewake.h"

#define RUNS 500u
#define MESSAGES 10u

/* ---- Over a channel. ------------------------------------------------------------------------- */

struct channel_pair {
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
    struct channel_pair *pair = rt_container_of(task, struct channel_pair, producer);
    while (pair->sent < MESSAGES) {
        RT_AWAIT(rt_send_poll(&pair->send, cx));
        pair->sent++;
        pair->out++;
        rt_send_init(&pair->send, &pair->channel, &pair->out);
    }
    return RT_READY;
}

static rt_poll
receive_all(struct rt_task *task, struct rt_cx *cx)
{
    struct channel_pair *pair = rt_container_of(task, struct channel_pair, consumer);
    while (pair->received < MESSAGES) {
        RT_AWAIT(rt_recv_poll(&pair->recv, cx));
        SIM_ALWAYS(pair->in == pair->received);
        pair->received++;
        rt_recv_init(&pair->recv, &pair->channel, &pair->in);
    }
    return RT_READY;
}

static void
setup_channel(struct sim_world *world)
{
    struct sim_rt_options options = {.capacity = 4};
    struct sim_rt *rt = sim_rt_new(world, &options);
    struct channel_pair *pair = sim_new(world, struct channel_pair);
    struct rt_channel_config config = {
            .ring = pair->ring, .item_size = sizeof(pair->ring[0]), .capacity = 1};
    rt_channel_init(&pair->channel, &config);
    rt_send_init(&pair->send, &pair->channel, &pair->out);
    rt_recv_init(&pair->recv, &pair->channel, &pair->in);
    rt_task_init(&pair->producer, send_all, NULL, "producer");
    rt_task_init(&pair->consumer, receive_all, NULL, "consumer");
    sim_spawn(rt, &pair->producer);
    sim_spawn(rt, &pair->consumer);
}

static const struct sim_scenario channel = {.name = "bench/channel", .setup = setup_channel};

/* ---- By hand. -------------------------------------------------------------------------------- */

struct pair {
    struct rt_task producer;
    struct rt_task consumer;
    struct rt_slot space; /* The producer, waiting for space. */
    struct rt_slot items; /* The consumer, waiting for an item. */
    bool full;
    uint32_t sent;
    uint32_t received;
};

static rt_poll
produce(struct rt_task *task, struct rt_cx *cx)
{
    struct pair *pair = rt_container_of(task, struct pair, producer);
    while (pair->sent < MESSAGES) {
        if (pair->full) {
            rt_slot_replace(&pair->space, cx, "space for an item");
            return RT_PENDING;
        }
        pair->full = true;
        pair->sent++;
        (void)rt_slot_wake(&pair->items);
    }
    return RT_READY;
}

static rt_poll
consume(struct rt_task *task, struct rt_cx *cx)
{
    struct pair *pair = rt_container_of(task, struct pair, consumer);
    while (pair->received < MESSAGES) {
        if (!pair->full) {
            rt_slot_replace(&pair->items, cx, "an item");
            return RT_PENDING;
        }
        pair->full = false;
        pair->received++;
        (void)rt_slot_wake(&pair->space);
    }
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.capacity = 4};
    struct sim_rt *rt = sim_rt_new(world, &options);
    struct pair *pair = sim_new(world, struct pair);
    rt_slot_init(&pair->space);
    rt_slot_init(&pair->items);
    rt_task_init(&pair->producer, produce, NULL, "producer");
    rt_task_init(&pair->consumer, consume, NULL, "consumer");
    sim_spawn(rt, &pair->producer);
    sim_spawn(rt, &pair->consumer);
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

/* The target counts whole runs of a sweep that needs only verdicts. */
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
    if (memory.record.events == NULL || memory.record.hashes == NULL) {
        return 1;
    }
    sim_world_init(&world, &memory, NULL, 0xa5);
    stopwatch_head("a one-slot queue of 10 messages, whole runs: default options and oracles; ns");
    measure("a channel of 1, no events", &channel, false);
    measure("a channel of 1, events and digest", &channel, true);
    measure("by hand over two slots, no events", &queue, false);
    measure("by hand over two slots, events and digest", &queue, true);
    return 0;
}

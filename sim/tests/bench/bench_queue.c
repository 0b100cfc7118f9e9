/*
 * bench_queue.c -- whole simulated runs of a queue with room for one item.
 *
 * A producer sends ten messages to a consumer; each run is a world made anew, judged by all default
 * oracles. The same program takes shuttle 7.8 us (128,000 a second).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/tests/bench/stopwatch.h"
#include "sim/decide/strategies.h"
#include "sim/judge/judge.h"
#include "sim/rewake.h"
#include "sim/trace/site.h"
#include "sim/world/world.h"

#define RUNS 100000u
#define MESSAGES 10u

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

static struct sim_world world;
static struct sim_random random_strategy;

static double
time_runs(uint32_t runs, bool events, double *ret_steps)
{
    struct sim_case what = {.scenario = &queue, .strategy = &random_strategy.strategy};
    struct sim_outcome outcome;
    uint64_t steps = 0;
    sim_options_init(&what.options, &queue);
    double start = stopwatch_now_ns();
    for (uint32_t i = 0; i < runs; i++) {
        what.seed = i;
        sim_judge(&world, &what, (struct sim_recording){events, false}, &outcome);
        steps += outcome.steps;
        if (outcome.verdict != SIM_VERDICT_PASS) {
            (void)printf("seed %u: %s\n", i, outcome.message);
            exit(1);
        }
    }
    *ret_steps = (double)steps / runs;
    return (stopwatch_now_ns() - start) / runs;
}

static void
measure(bool events)
{
    double rounds[STOPWATCH_ROUNDS];
    double steps;
    (void)time_runs(RUNS / 10, events, &steps);
    for (uint32_t i = 0; i < STOPWATCH_ROUNDS; i++) {
        rounds[i] = time_runs(RUNS, events, &steps);
    }
    struct stopwatch_figure figure = stopwatch_figure(rounds, STOPWATCH_ROUNDS);
    (void)printf(
            "%-42s %7.0f (%.0f-%.0f) ns a run, %.1f steps, %.0f runs a second, target 800000\n",
            events ? "10 messages, events and digest" : "10 messages, no events", figure.median,
            figure.low, figure.high, steps, 1e9 / figure.median);
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
    (void)printf("medians of %u rounds of %u runs, smallest-largest; default options and oracles\n",
            STOPWATCH_ROUNDS, RUNS);
    measure(false);
    measure(true);
    return 0;
}

/*
 * bench_cover.c -- the cost of finding what a run has covered.
 *
 * Rounds with and without are taken in turn, over the same seeds, so that what else the machine
 * does falls on both; the figure is the median of the pairs' ratios.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/tests/bench/stopwatch.h"
#include "sim/core/decide/strategies.h"
#include "sim/core/record/site.h"
#include "sim/core/world.h"
#include "sim/judge/judge.h"
#include "sim/rewake.h"
#include "sim/search/cover/observe.h"

#define PAIRS 301u
#define MESSAGES 10u

/* ---- Two scenarios: nothing but steps, and a channel. ---------------------------------------- */

struct yielder {
    struct rt_task task;
    uint32_t left;
};

static rt_poll
yielder_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct yielder *yielder = rt_container_of(task, struct yielder, task);
    if (yielder->left == 0) {
        return RT_READY;
    }
    yielder->left--;
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
setup_yields(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    for (uint32_t i = 0; i < 2; i++) {
        struct yielder *yielder = sim_new(world, struct yielder);
        rt_task_init(&yielder->task, yielder_poll, NULL, "yielder");
        yielder->left = 100;
        sim_spawn(rt, &yielder->task);
    }
}

struct pair {
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
    struct pair *pair = rt_container_of(task, struct pair, producer);
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
    struct pair *pair = rt_container_of(task, struct pair, consumer);
    while (pair->received < MESSAGES) {
        RT_AWAIT(rt_recv_poll(&pair->recv, cx));
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
    struct pair *pair = sim_new(world, struct pair);
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

static const struct sim_scenario yields = {.name = "bench/yields", .setup = setup_yields};
static const struct sim_scenario channel = {.name = "bench/channel", .setup = setup_channel};

/* ---- Measuring. ------------------------------------------------------------------------------ */

static struct sim_world world;
static struct sim_random random_strategy;
static struct sim_cover cover;
static struct sim_element elements[SIM_COVER_ELEMENTS_MAX];
static volatile uint64_t sink;

/* ns a run. */
static double
round_of(const struct sim_scenario *scenario, uint64_t seed, uint32_t runs, bool with,
        uint64_t *ret_events)
{
    struct sim_case what = {.scenario = scenario, .strategy = &random_strategy.strategy};
    struct sim_outcome outcome;
    struct sim_cover_run run;
    sim_options_init(&what.options, scenario);
    double start_ns = stopwatch_now_ns();
    for (uint32_t i = 0; i < runs; i++) {
        what.seed = seed + i;
        sim_judge(&world, &what, (struct sim_recording){true, false}, &outcome);
        if (with) {
            (void)sim_cover_run(&cover, &world.recorder, elements, SIM_COVER_ELEMENTS_MAX, &run);
            sink += run.order_hash;
        }
        *ret_events += outcome.events;
    }
    return (stopwatch_now_ns() - start_ns) / runs;
}

static void
measure(const char *what, const struct sim_scenario *scenario, uint32_t runs)
{
    double percent[PAIRS];
    double per_event[PAIRS];
    for (uint32_t i = 0; i < PAIRS; i++) {
        uint64_t events = 0;
        double without_ns = round_of(scenario, i, runs, false, &events);
        double with_ns = round_of(scenario, i, runs, true, &events);
        percent[i] = 100 * (with_ns / without_ns - 1);
        per_event[i] = (with_ns - without_ns) * runs * 2 / (double)events;
    }
    char text[96];
    (void)snprintf(text, sizeof(text), "%s, percent of a run", what);
    stopwatch_say(text, stopwatch_figure(percent, PAIRS), 20);
    (void)snprintf(text, sizeof(text), "%s, ns an event", what);
    stopwatch_say(text, stopwatch_figure(per_event, PAIRS), 0);
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
    stopwatch_head("coverage of a run, beside the run itself with events and digest");
    measure("2 tasks x 100 yields", &yields, 50);
    measure("10 messages over a channel of 1", &channel, 150);
    return 0;
}

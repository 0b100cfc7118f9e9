/*
 * bench_thread.c -- what a step costs of a thread.
 *
 * A bare loop of the same shape (an indirect call, a random pick of one of two) runs beside them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/tests/bench/stopwatch.h"
#include "sim/core/decide/strategies.h"
#include "sim/core/record/site.h"
#include "sim/core/world.h"
#include "sim/judge/judge.h"
#include "sim/rewake.h"
#include "sim/thread/thread.h"
#include "sim/atomic/entry.h"

/* ---- Scenarios. ------------------------------------------------------------------------------ */

static uint32_t counter;
static void *
adds(void *argument)
{
    for (int i = 0; i < 100; i++) {
        (void)__tsan_atomic32_fetch_add(&counter, 1, 5);
    }
    return argument;
}
static void
two_by_100(struct sim_world *world)
{
    for (int i = 0; i < 2; i++) {
        const struct sim_thread_start start = {.fn = adds};
        (void)sim_thread_spawn(world, &start);
    }
}
static const struct sim_scenario long_two = {.name = "bench/2x100", .setup = two_by_100};

/* ---- Measuring. ------------------------------------------------------------------------------ */

static struct sim_world world;
static struct sim_random random_strategy;

/* What a round makes runs of. */
struct load {
    const struct sim_scenario *scenario;
    bool events;
    bool per_step; /* ns a step, not a run. */
    uint32_t runs;
};

static double
round_of(void *argument)
{
    const struct load *load = argument;
    struct sim_case what = {.scenario = load->scenario, .strategy = &random_strategy.strategy};
    struct sim_outcome outcome;
    uint64_t steps = 0;
    sim_options_init(&what.options, load->scenario);
    double start_ns = stopwatch_now_ns();
    for (uint32_t i = 0; i < load->runs; i++) {
        what.seed = i;
        sim_judge(&world, &what, (struct sim_recording){load->events, false}, &outcome);
        steps += outcome.steps;
        if (outcome.verdict != SIM_VERDICT_PASS) {
            (void)printf(
                    "seed %u: %s: %s\n", i, sim_verdict_name(outcome.verdict), outcome.message);
            exit(1);
        }
    }
    double took_ns = stopwatch_now_ns() - start_ns;
    return took_ns / (load->per_step ? (double)steps : load->runs);
}

static struct stopwatch_figure
say(const char *what, struct load load, double target)
{
    struct stopwatch_figure figure = stopwatch_measure(round_of, &load);
    stopwatch_say(what, figure, target);
    return figure;
}

static void *
array(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

int
main(void)
{
    sim_sites_init();
    sim_random_init(&random_strategy);
    struct sim_world_memory memory = {
            .record = {.events = array(65536, sizeof(struct sim_event)),
                    .events_capacity = 65536,
                    .hashes = array(65536, sizeof(uint64_t)),
                    .hashes_capacity = 65536},
            /* As in a sweep of `random`: the seed says the deviations again. */
            .tape = {NULL, 0, 0},
    };
    sim_world_init(&world, &memory, NULL, 0xa5);
    stopwatch_head("the simulator: default options and oracles, probes compiled in; ns");
    (void)say("adds no events",
            (struct load){&long_two, false, true, 100}, 32);
    (void)say("adds events", (struct load){&long_two, true, true, 100}, 37);
    return 0;
}

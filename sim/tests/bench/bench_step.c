/*
 * bench_step.c -- what a step, an empty run and a short run cost.
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

/* ---- Scenarios. ------------------------------------------------------------------------------ */

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
yielders(struct sim_world *world, uint32_t tasks, uint32_t yields)
{
    struct sim_rt_options options = {.capacity = tasks};
    struct sim_rt *rt = sim_rt_new(world, &options);
    for (uint32_t i = 0; i < tasks; i++) {
        struct yielder *yielder = sim_new(world, struct yielder);
        rt_task_init(&yielder->task, yielder_poll, NULL, "yielder");
        yielder->left = yields;
        sim_spawn(rt, &yielder->task);
    }
}

static void
two_by_100(struct sim_world *world)
{
    yielders(world, 2, 100);
}

static void
sixtyfour_by_100(struct sim_world *world)
{
    yielders(world, 64, 100);
}

static void
two_by_4(struct sim_world *world)
{
    yielders(world, 2, 4);
}

static void
nothing(struct sim_world *world)
{
    (void)world;
}

static const struct sim_scenario long_two = {.name = "bench/2x100", .setup = two_by_100};
static const struct sim_scenario long_many = {.name = "bench/64x100", .setup = sixtyfour_by_100};
static const struct sim_scenario short_two = {.name = "bench/2x4", .setup = two_by_4};
static const struct sim_scenario empty = {.name = "bench/empty", .setup = nothing};

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

/* ---- The bare loop: two states, a random pick, an indirect call. ----------------------------- */

struct bare {
    uint32_t (*step)(struct bare *bare);
    uint32_t left;
};

static uint32_t
bare_step(struct bare *bare)
{
    return bare->left-- > 1;
}

static volatile uint64_t bare_sink;

static double
time_bare(void *argument)
{
    (void)argument;
    double start = stopwatch_now_ns();
    uint64_t steps = 0;
    for (uint32_t run = 0; run < 1000; run++) {
        struct bare tasks[2] = {{bare_step, 100}, {bare_step, 100}};
        uint64_t key = sim_stream_key(run, 1);
        uint32_t alive = 2;
        while (alive > 0) {
            uint64_t draw = sim_stream_draw(key, (uint32_t)steps++);
            uint32_t pick = alive == 2 ? (uint32_t)(draw >> 63) : (tasks[0].left == 0);
            alive -= tasks[pick].step(&tasks[pick]) == 0;
        }
    }
    bare_sink = steps;
    return (stopwatch_now_ns() - start) / (double)steps;
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
    stopwatch_say("bare loop, a step", stopwatch_measure(time_bare, NULL), 0);
    struct stopwatch_figure two = say("2 tasks x 100 yields, a step, no events",
            (struct load){&long_two, false, true, 100}, 20);
    (void)say("2 tasks x 100 yields, a step, events and digest",
            (struct load){&long_two, true, true, 100}, 30);
    struct stopwatch_figure many = say("64 tasks x 100 yields, a step, no events",
            (struct load){&long_many, false, true, 3}, 20 * 1.2);
    (void)say("64 tasks x 100 yields, a step, events and digest",
            (struct load){&long_many, true, true, 3}, 30 * 1.2);
    (void)say("an empty run, no events", (struct load){&empty, false, false, 10000}, 150);
    (void)say("an empty run, events and digest", (struct load){&empty, true, false, 10000}, 150);
    (void)say("a run of 2 tasks and 10 steps, events and digest",
            (struct load){&short_two, true, false, 1000}, 2000);
    (void)printf("  64 tasks cost %.2f times as much a step as 2; at most 1.2\n",
            many.median / two.median);
    return 0;
}

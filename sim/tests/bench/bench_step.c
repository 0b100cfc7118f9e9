/*
 * bench_step.c -- what a step, an empty run and a short run cost.
 *
 * Every figure is the median of several rounds, with the smallest and largest beside it. A bare
 * loop of the same shape (an indirect call, a random pick of one of two) runs in the same round,
 * for the ratio.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/tests/bench/stopwatch.h"
#include "sim/decide/strategies.h"
#include "sim/judge/judge.h"
#include "sim/rewake.h"
#include "sim/trace/site.h"
#include "sim/world/world.h"

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

/* ns a run, and *ret_steps its steps. */
static double
time_runs(const struct sim_scenario *scenario, bool events, uint32_t runs, double *ret_steps)
{
    struct sim_case what = {.scenario = scenario, .strategy = &random_strategy.strategy};
    struct sim_outcome outcome;
    uint64_t steps = 0;
    sim_options_init(&what.options, scenario);
    double start = stopwatch_now_ns();
    for (uint32_t i = 0; i < runs; i++) {
        what.seed = i;
        sim_judge(&world, &what, (struct sim_recording){events, false}, &outcome);
        steps += outcome.steps;
        if (outcome.verdict != SIM_VERDICT_PASS) {
            (void)printf(
                    "seed %u: %s: %s\n", i, sim_verdict_name(outcome.verdict), outcome.message);
            exit(1);
        }
    }
    double ns = (stopwatch_now_ns() - start) / runs;
    *ret_steps = (double)steps / runs;
    return ns;
}

static struct stopwatch_figure
measure(const struct sim_scenario *scenario, bool events, uint32_t runs, bool per_step)
{
    double rounds[STOPWATCH_ROUNDS];
    double steps;
    (void)time_runs(scenario, events, runs / 10 + 1, &steps);
    for (uint32_t i = 0; i < STOPWATCH_ROUNDS; i++) {
        rounds[i] = time_runs(scenario, events, runs, &steps);
        rounds[i] /= per_step ? steps : 1;
    }
    return stopwatch_figure(rounds, STOPWATCH_ROUNDS);
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
time_bare(void)
{
    double start = stopwatch_now_ns();
    uint64_t steps = 0;
    for (uint32_t run = 0; run < 5000; run++) {
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
measure_bare(void)
{
    double rounds[STOPWATCH_ROUNDS];
    for (uint32_t i = 0; i < STOPWATCH_ROUNDS; i++) {
        rounds[i] = time_bare();
    }
    return stopwatch_figure(rounds, STOPWATCH_ROUNDS);
}

static void
say(const char *what, struct stopwatch_figure figure, const char *unit, double target)
{
    (void)printf("%-58s %9.1f  %9.1f-%-9.1f %-7s target %g\n", what, figure.median, figure.low,
            figure.high, unit, target);
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
    if (sim_world_init(&world, &memory, NULL, 0xa5) != RT_OK) {
        return 1;
    }
    (void)printf("medians of %u rounds, smallest-largest; default options, all default oracles on, "
                 "probes compiled in\n",
            STOPWATCH_ROUNDS);
    struct stopwatch_figure bare = measure_bare();
    struct stopwatch_figure silent = measure(&long_two, false, 5000, true);
    struct stopwatch_figure loud = measure(&long_two, true, 5000, true);
    struct stopwatch_figure many = measure(&long_many, false, 200, true);
    struct stopwatch_figure many_loud = measure(&long_many, true, 200, true);
    struct stopwatch_figure none = measure(&empty, false, 200000, false);
    struct stopwatch_figure none_loud = measure(&empty, true, 200000, false);
    struct stopwatch_figure whole = measure(&short_two, true, 100000, false);
    say("bare loop, ns a step", bare, "ns", 0);
    say("2 tasks x 100 yields, no events, ns a step", silent, "ns", 20);
    say("2 tasks x 100 yields, events and digest, ns a step", loud, "ns", 30);
    say("64 tasks x 100 yields, no events, ns a step", many, "ns", 20 * 1.2);
    say("64 tasks x 100 yields, events and digest, ns a step", many_loud, "ns", 30 * 1.2);
    say("empty run, no events, ns", none, "ns", 150);
    say("empty run, events and digest, ns", none_loud, "ns", 150);
    say("whole run of 2 tasks and 10 steps, events and digest, ns", whole, "ns", 2000);
    (void)printf("%-58s %9.0f  runs a second, target 500000\n", "", 1e9 / whole.median);
    (void)printf("%-58s %9.2f  (64 tasks against 2, no events; target 1.2)\n", "",
            many.median / silent.median);
    return 0;
}

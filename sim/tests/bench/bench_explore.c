/*
 * bench_explore.c -- how many runs a second a walk over all schedules makes.
 *
 * Two tasks of seven steps have C(14, 7) = 3,432 schedules; a round makes them all, some of them
 * several times over. Once with actors of the world and nothing else, which is what other tools
 * measure, and once with tasks of the runtime, its executor, timers, reactor and host.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/tests/bench/stopwatch.h"
#include "sim/core/memory/checkpoint.h"
#include "sim/core/record/site.h"
#include "sim/core/world.h"
#include "sim/judge/judge.h"
#include "sim/rewake.h"
#include "sim/search/strategy.h"

#define TASKS 2u
#define STEPS 7u
#define SCHEDULES 3432u

/* ---- Scenarios. ------------------------------------------------------------------------------ */

struct yielder {
    struct rt_task task;
    uint32_t left;
};

static rt_poll
yielder_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct yielder *yielder = rt_container_of(task, struct yielder, task);
    if (--yielder->left == 0) {
        return RT_READY;
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
tasks(struct sim_world *world)
{
    const struct sim_rt_options options = {.capacity = TASKS, .timer_levels = 1, .timer_bits = 1};
    struct sim_rt *rt = sim_rt_new(world, &options);
    for (uint32_t i = 0; i < TASKS; i++) {
        struct yielder *yielder = sim_new(world, struct yielder);
        rt_task_init(&yielder->task, yielder_poll, NULL, "yielder");
        yielder->left = STEPS;
        sim_spawn(rt, &yielder->task);
    }
}

struct walker {
    struct sim_actor actor;
    uint32_t left;
};

static void
walker_step(struct sim_actor *actor)
{
    struct walker *walker = rt_container_of(actor, struct walker, actor);
    if (--walker->left == 0) {
        sim_actor_finish(actor);
    } else {
        sim_actor_enable(actor);
    }
}

static const struct sim_actor_ops walker_ops = {.kind = SIM_ACTOR_OTHER, .step = walker_step};

static void
actors(struct sim_world *world)
{
    for (uint32_t i = 0; i < TASKS; i++) {
        struct walker *walker = sim_new(world, struct walker);
        walker->left = STEPS;
        sim_actor_init(&walker->actor, world, &walker_ops, NULL, "walker", true);
        sim_actor_enable(&walker->actor);
    }
}

static const struct sim_scenario of_tasks = {.name = "bench/tasks", .setup = tasks};
static const struct sim_scenario of_actors = {.name = "bench/actors", .setup = actors};

/* ---- Measuring. ------------------------------------------------------------------------------ */

static struct sim_world world;
static struct sim_checkpoints checkpoints;
static struct sim_tape tape;

struct load {
    const struct sim_scenario *scenario;
    bool setup_once; /* What setup made is kept. */
    bool reuse;      /* … and what a run has in common with the one before. */
    bool judged;     /* Recorded, with a tape, and by way of the judge. */
};

/* ns a run. */
static double
round_of(void *argument)
{
    const struct load *load = argument;
    static _Alignas(64) uint8_t memory[SIM_STRATEGY_BYTES_MAX];
    const struct sim_strategy_kind *kind = &sim_strategy_exhaustive;
    char error[SIM_STRATEGY_ERROR_MAX];
    struct sim_search search;
    struct sim_space space;
    struct sim_outcome outcome;
    const char *text = load->reuse ? "exhaustive:resume=1" : "exhaustive:resume=0";
    if (!sim_search_parse(text, &search, error)) {
        (void)printf("%s %s\n", text, error);
        exit(1);
    }
    memset(memory, 0, kind->size);
    struct sim_strategy *exhaustive =
            sim_strategy_make(memory, &(struct sim_strategy_setting){.search = &search});
    struct sim_case what = {.scenario = load->scenario, .strategy = exhaustive};
    sim_options_init(&what.options, load->scenario);
    what.options.spurious_one_in = 0;
    what.options.audit_one_in = 0;
    world.checkpoints = load->setup_once || load->reuse ? &checkpoints : NULL;
    sim_checkpoints_drop(&checkpoints);
    world.decider.tape = load->judged ? tape : (struct sim_tape){NULL, 0, 0};
    double start_ns = stopwatch_now_ns();
    while (kind->more(exhaustive)) {
        if (load->judged) {
            sim_judge(&world, &what, (struct sim_recording){true, false}, &outcome);
        } else {
            sim_world_run(&world, what.scenario, &what.options, 0, what.strategy,
                    (struct sim_recording){false, false}, &outcome);
        }
        if (outcome.verdict != SIM_VERDICT_PASS) {
            (void)printf("%s: %s\n", sim_verdict_name(outcome.verdict), outcome.message);
            exit(1);
        }
    }
    double took_ns = stopwatch_now_ns() - start_ns;
    kind->space(exhaustive, &space);
    if (space.runs != SCHEDULES) {
        (void)printf("%llu runs, not %u\n", (unsigned long long)space.runs, SCHEDULES);
        exit(1);
    }
    return took_ns / SCHEDULES;
}

static void
say(const char *what, struct load load, double target)
{
    struct stopwatch_figure figure = stopwatch_measure(round_of, &load);
    stopwatch_say(what, figure, target);
    (void)printf("      %.2f million runs a second in the median, %.2f in the best round\n",
            1e3 / figure.median, 1e3 / figure.low);
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
    tape = (struct sim_tape){array(1024, sizeof(struct sim_deviation)), 0, 1024};
    struct sim_world_memory memory = {
            .record = {.events = array(65536, sizeof(struct sim_event)),
                    .events_capacity = 65536,
                    .hashes = array(65536, sizeof(uint64_t)),
                    .hashes_capacity = 65536},
            .tape = tape,
    };
    sim_world_init(&world, &memory, NULL, 0xa5);
    sim_checkpoints_init(&checkpoints, SIM_CHECKPOINTS_SIZE);
    const struct sim_scenario *const both[] = {&of_actors, &of_tasks};
    for (uint32_t i = 0; i < 2; i++) {
        stopwatch_head(
                i == 0 ? "all 3,432 schedules of 2 actors x 7 steps, on one processor; ns a run"
                       : "the same of 2 tasks of the whole runtime");
        say("each run set up again", (struct load){.scenario = both[i]}, 0);
        say("set up once", (struct load){both[i], true, false, false}, 555);
        say("beginnings made once", (struct load){both[i], true, true, false}, 333);
        say("beginnings made once, recorded and judged", (struct load){both[i], true, true, true},
                0);
    }
    return 0;
}

/*
 * bench_search.c -- what a strategy costs a step beside `random`, and what a second worker brings.
 *
 * Four tasks take 50 steps each, and in each touch one of four cells: all are always runnable, and
 * a third of the pairs conflict. Events are recorded for all strategies, as in a sweep. Rounds of a
 * strategy and of `random` alternate, so that both see the same machine load. First nothing is
 * learned; then the statistics are those of 64 runs.
 *
 * The sweeps are of the same program, with all that belongs to them: processes, judging, teaching.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "runtime/tests/bench/stopwatch.h"
#include "sim/core/record/site.h"
#include "sim/core/world.h"
#include "sim/engine/sweep/trials.h"
#include "sim/rewake.h"
#include "sim/search/learn/observe.h"
#include "sim/search/strategy.h"

#define TASKS 4u
#define STEPS 50u
#define CELLS 4u
#define RUNS 20u /* Of a round. */
#define ROUNDS 101u
#define TAUGHT_RUNS 64u
#define FACTS (1u << 15)
#define SWEEP_RUNS 20000u
#define SWEEPS 15u

/* ---- The program. ---------------------------------------------------------------------------- */

struct toucher {
    struct rt_task task;
    struct sim_cell *cells;
    uint32_t number;
    uint32_t left;
};

static rt_poll
toucher_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct toucher *toucher = rt_container_of(task, struct toucher, task);
    struct sim_cell *cell = &toucher->cells[(toucher->number + toucher->left) % CELLS];
    if (toucher->left % 2 == 0) {
        sim_cell_set(cell, toucher->left);
    } else {
        (void)sim_cell_get(cell);
    }
    if (--toucher->left == 0) {
        return RT_READY;
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct sim_cell *cells = sim_alloc(world, CELLS * sizeof(struct sim_cell));
    for (uint32_t i = 0; i < CELLS; i++) {
        sim_cell_init(world, &cells[i], NULL, 0);
    }
    for (uint32_t i = 0; i < TASKS; i++) {
        struct toucher *toucher = sim_new(world, struct toucher);
        rt_task_init(&toucher->task, toucher_poll, NULL, "toucher");
        toucher->cells = cells;
        toucher->number = i;
        toucher->left = STEPS;
        sim_spawn(rt, &toucher->task);
    }
}

static const struct sim_scenario touching = {
        .name = "bench/touching", .setup = setup, .declared = true};

/* ---- A step. --------------------------------------------------------------------------------- */

static struct sim_world world;
static struct sim_learned learned;

struct load {
    const struct sim_strategy_kind *kind;
    struct sim_search search;
    struct sim_strategy *strategy;
    uint64_t seed;
};

/* ns a step. */
static double
round_of(void *argument)
{
    struct load *load = argument;
    struct sim_options options;
    struct sim_outcome outcome;
    uint64_t steps = 0;
    sim_options_init(&options, &touching);
    double start_ns = stopwatch_now_ns();
    for (uint32_t i = 0; i < RUNS; i++) {
        if (load->kind->more != NULL && !load->kind->more(load->strategy)) {
            break;
        }
        sim_world_run(&world, &touching, &options, ++load->seed, load->strategy,
                (struct sim_recording){true, false}, &outcome);
        steps += outcome.steps;
    }
    return steps > 0 ? (stopwatch_now_ns() - start_ns) / (double)steps : 0;
}

static void *
array(size_t count, size_t size)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 64, count * size) != 0) {
        abort();
    }
    memset(memory, 0, count * size);
    return memory;
}

/* `memory`: of SIM_STRATEGY_BYTES_MAX. */
static void
load_init(struct load *load, uint32_t index, void *memory)
{
    *load = (struct load){.kind = sim_strategy_at(index), .seed = 1};
    sim_search_init(&load->search, index);
    const struct sim_strategy_setting setting = {&load->search, &learned, 1, false};
    memset(memory, 0, sim_strategy_size(index));
    load->strategy = sim_strategy_make(memory, &setting);
}

struct beside {
    struct stopwatch_figure its;
    struct stopwatch_figure random;
};

/* The memory of strategies: on separate pages, as in a worker. */
_Alignas(4096) static unsigned char memory_of_one[SIM_STRATEGY_BYTES_MAX];
_Alignas(4096) static unsigned char memory_of_random[4096];

static struct beside
measure_step(uint32_t index)
{
    double its[ROUNDS];
    double random[ROUNDS];
    struct load load;
    struct load other;
    load_init(&load, index, memory_of_one);
    load_init(&other, sim_strategy_find("random"), memory_of_random);
    (void)round_of(&load);
    (void)round_of(&other);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        its[i] = round_of(&load);
        random[i] = round_of(&other);
    }
    return (struct beside){stopwatch_figure(its, ROUNDS), stopwatch_figure(random, ROUNDS)};
}

/* Twice random, but for those that reduce and those that mutate. */
static bool
has_target(const char *name)
{
    return strcmp(name, "dpor") != 0 && strcmp(name, "guided") != 0;
}

static void
say_steps(const char *about)
{
    char what[64];
    stopwatch_head(about);
    for (uint32_t i = 0; i < sim_strategy_count(); i++) {
        const char *name = sim_strategy_at(i)->name;
        struct beside figure = measure_step(i);
        (void)snprintf(what, sizeof(what), "%s, %.2f times random; %.2f in the best rounds", name,
                figure.its.median / figure.random.median, figure.its.low / figure.random.low);
        stopwatch_say(what, figure.its, has_target(name) ? 2 * figure.random.median : 0);
    }
}

/* Learns the program's footprints from runs of `random`. */
static void
teach(void)
{
    struct load load;
    struct sim_options options;
    struct sim_outcome outcome;
    load_init(&load, sim_strategy_find("random"), memory_of_random);
    sim_options_init(&options, &touching);
    for (uint32_t i = 0; i < TAUGHT_RUNS; i++) {
        sim_world_run(&world, &touching, &options, i + 1, load.strategy,
                (struct sim_recording){true, false}, &outcome);
        sim_observe(&learned.facts, &world, i);
    }
    learned.runs = TAUGHT_RUNS;
}

/* ---- A sweep. -------------------------------------------------------------------------------- */

struct sweep {
    struct sim_pool pool;
    struct sim_trials_plan plan;
};

/* Thousands of runs a second. */
static double
sweep_of(void *argument)
{
    struct sweep *sweep = argument;
    struct sim_trial trial;
    double start_ns = stopwatch_now_ns();
    if (!sim_trial_run(&sweep->pool, &sweep->plan, 1, &trial) || trial.failed) {
        (void)printf("the sweep failed: %s\n", sweep->pool.error);
        exit(1);
    }
    return (double)trial.runs * 1e6 / (stopwatch_now_ns() - start_ns);
}

/* Processor time, ns: of this process, or of those that it has waited for. */
static double
used_ns(int who)
{
    struct rusage usage;
    (void)getrusage(who, &usage);
    return ((double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec) * 1e9 +
           ((double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_usec) * 1e3;
}

/* *ret_share: of all processor time, how much was the parent's, which merges. It is what workers
 * cannot share, and says how far they bring it on a machine that others use as well. */
static struct stopwatch_figure
measure_sweep(uint32_t index, uint32_t jobs, double *ret_share)
{
    struct sweep sweep = {.plan = {.spec.scenario = &touching,
                                  .spec.how = SIM_HOW_SEARCH,
                                  .runs_max = SWEEP_RUNS}};
    sim_options_init(&sweep.plan.spec.options, &touching);
    sim_search_init(&sweep.plan.spec.search, index);
    sim_pool_init(&sweep.pool, jobs, SIM_HANG_MS);
    double parent_ns = used_ns(RUSAGE_SELF);
    double workers_ns = used_ns(RUSAGE_CHILDREN);
    struct stopwatch_figure figure = stopwatch_measure_few(sweep_of, &sweep, SWEEPS);
    sim_pool_fini(&sweep.pool);
    parent_ns = used_ns(RUSAGE_SELF) - parent_ns;
    workers_ns = used_ns(RUSAGE_CHILDREN) - workers_ns;
    *ret_share = parent_ns / (parent_ns + workers_ns);
    return figure;
}

static void
say_sweep(const char *name)
{
    char what[64];
    uint32_t index = sim_strategy_find(name);
    if (index >= sim_strategy_count()) {
        return;
    }
    double share;
    struct stopwatch_figure one = measure_sweep(index, 1, &share);
    struct stopwatch_figure two = measure_sweep(index, 2, &share);
    (void)snprintf(what, sizeof(what), "%s, 1 worker", name);
    stopwatch_say(what, one, 0);
    (void)snprintf(what, sizeof(what), "%s, 2 workers", name);
    stopwatch_say(what, two, 0);
    (void)printf(
            "      %.2f times one worker in the median, %.2f in the best rounds; at least 1.8%s\n",
            two.median / one.median, two.high / one.high,
            two.median < 1.8 * one.median ? ": MISSED" : "");
    (void)printf("      %.1f %% of the processor time is the parent's\n", share * 100);
}

int
main(void)
{
    sim_sites_init();
    struct sim_world_memory memory = {
            .record = {.events = array(65536, sizeof(struct sim_event)),
                    .events_capacity = 65536,
                    .hashes = array(65536, sizeof(uint64_t)),
                    .hashes_capacity = 65536},
            .tape = {array(4096, sizeof(struct sim_deviation)), 0, 4096},
    };
    sim_world_init(&world, &memory, NULL, 0xa5);
    sim_facts_init(&learned.facts, array(1, sim_facts_size(FACTS)), FACTS);
    sim_corpus_init(&learned.corpus, array(1, sizeof(struct sim_corpus_memory)));
    say_steps("a step of 4 tasks that touch 4 cells, events recorded, nothing learned; ns");
    teach();
    say_steps("the same, 64 runs learned from");
    stopwatch_head("a sweep of 20,000 of these runs, 200 steps each; thousands of runs a second");
    say_sweep("random");
    say_sweep("portfolio");
    return 0;
}

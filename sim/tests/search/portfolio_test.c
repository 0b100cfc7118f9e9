/*
 * portfolio_test.c -- a strategy that learns makes the same runs on any number of workers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/engine/sweep/sweep.h"
#include "sim/rewake.h"

#define RUNS 10000u
#define FIRST 5u
#define TASKS 4u

/* ---- The scenario: tasks that pass a baton on, and yield in between. ------------------------- */

struct runner {
    struct rt_task task;
    struct course *course;
    uint32_t laps;
    uint32_t number;
};

struct course {
    struct rt_slot baton;
    uint32_t passed;
    struct runner runners[TASKS];
};

static rt_poll
runner_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct runner *runner = rt_container_of(task, struct runner, task);
    struct course *course = runner->course;
    if (runner->laps++ < 3) {
        rt_slot_wake(&course->baton);
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    if (runner->number == 0 && course->passed < TASKS - 1) {
        rt_slot_replace(&course->baton, cx, "the others");
        return RT_PENDING;
    }
    course->passed++;
    rt_slot_wake(&course->baton);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct course *course = sim_new(world, struct course);
    rt_slot_init(&course->baton);
    for (uint32_t i = 0; i < TASKS; i++) {
        course->runners[i].course = course;
        course->runners[i].number = i;
        rt_task_init(&course->runners[i].task, runner_poll, NULL, "runner");
        sim_spawn(rt, &course->runners[i].task);
    }
}

static const struct sim_scenario scenario = {
        .name = "test/course", .about = "A test.", .setup = setup};

/* The same in two loops that poll their tasks themselves: who runs is asked of the world, and
 * again of each loop in the midst of its step. */
static void
loop_run(struct sim_world *world, void *argument)
{
    struct sim_rt *rt = argument;
    struct rt_executor *executor = sim_rt_executor(rt);
    struct rt_run_result result;
    (void)world;
    SIM_ALWAYS(rt_run_until_stalled(executor, UINT64_MAX, &result) == RT_OK);
}

static void
loops_setup(struct sim_world *world)
{
    static const struct sim_rt_options options = {.by_loop = true};
    for (uint32_t l = 0; l < 3; l++) {
        struct sim_rt *rt = sim_rt_new(world, &options);
        struct course *course = sim_new(world, struct course);
        rt_slot_init(&course->baton);
        course->passed = TASKS;
        for (uint32_t i = 0; i < TASKS; i++) {
            course->runners[i].course = course;
            rt_task_init(&course->runners[i].task, runner_poll, NULL, "runner");
            sim_spawn(rt, &course->runners[i].task);
        }
        (void)sim_loop_new(world, "loop", loop_run, rt);
    }
}

static const struct sim_scenario loops = {
        .name = "test/loops", .about = "A test.", .setup = loops_setup};

/* ---- Who hears of each run. ------------------------------------------------------------------ */

struct run {
    uint64_t digest;
    uint32_t arm;
    uint32_t fresh;
};

struct heard {
    struct sim_sink sink;
    uint32_t count;
    struct run runs[RUNS];
};

static bool
on_batch(struct sim_sink *sink, const struct sim_merged *batch)
{
    struct heard *heard = (struct heard *)(void *)sink;
    EXPECT_EQ(batch->index, heard->count);
    EXPECT_EQ(batch->kept_count, batch->runs);
    for (uint32_t i = 0; i < batch->kept_count; i++) {
        const struct sim_kept *kept = &batch->kept[i];
        EXPECT_EQ(kept->outcome.seed, FIRST + heard->count);
        EXPECT_EQ(kept->arm, batch->results[i].arm);
        heard->runs[heard->count++] =
                (struct run){kept->outcome.digest, kept->arm, batch->results[i].fresh};
    }
    return true;
}

static bool
on_failure(struct sim_sink *sink, const struct sim_new_failure *failure)
{
    (void)sink;
    return failure->same;
}

static bool
on_replica(struct sim_sink *sink, const struct sim_run_spec *again)
{
    (void)sink;
    (void)again;
    return false;
}

static bool
on_tick(struct sim_sink *sink, uint64_t runs, const struct sim_sweep_totals *totals)
{
    (void)sink;
    return runs == totals->runs;
}

static struct heard *
sweep_of(const struct sim_scenario *which, struct sim_pool *pool, const char *strategy,
        uint64_t runs, uint32_t check_percent)
{
    char error[SIM_STRATEGY_ERROR_MAX];
    struct heard *heard = calloc(1, sizeof(*heard));
    EXPECT(heard != NULL);
    heard->sink = (struct sim_sink){
            .batch = on_batch, .failure = on_failure, .replica = on_replica, .tick = on_tick};
    struct sim_sweep_plan plan = {
            .spec.scenario = which,
            .spec.seed = FIRST,
            .runs = runs,
            .spec.how = SIM_HOW_SEARCH,
            .keep_all = true,
            .check_percent = check_percent,
            .deadline_ms = UINT64_MAX,
    };
    struct sim_sweep_result result;
    sim_options_init(&plan.spec.options, which);
    EXPECT(sim_search_parse(strategy, &plan.spec.search, error));
    sim_sweep_run(pool, &plan, &heard->sink, &result);
    EXPECT(result.totals.runs == runs || result.end == SIM_SWEEP_EXHAUSTED);
    EXPECT_EQ(result.unequal, 0);
    return heard;
}

static struct heard *
sweep(struct sim_pool *pool, const char *strategy, uint64_t runs, uint32_t check_percent)
{
    return sweep_of(&scenario, pool, strategy, runs, check_percent);
}

/*
 * Goal: the same seed, strategy and options give the same run on any number of jobs, after any
 * other sweep in the same workers.
 * Method: the digest, the strategy and the new coverage of each of 10,000 runs, with 1, 2 and 5
 * workers, and a second time with the same workers.
 */
TEST(portfolio_runs_are_the_same_on_any_number_of_workers)
{
    static const uint32_t jobs[] = {1, 2, 5};
    struct heard *first = NULL;
    for (uint32_t i = 0; i < 3; i++) {
        struct sim_pool pool;
        sim_pool_init(&pool, jobs[i], 10000);
        for (uint32_t again = 0; again < (i == 1 ? 2 : 1); again++) {
            struct heard *heard = sweep(&pool, "portfolio", RUNS, 0);
            EXPECT_EQ(heard->count, RUNS);
            if (first == NULL) {
                first = heard;
                continue;
            }
            EXPECT(memcmp(first->runs, heard->runs, sizeof(first->runs)) == 0);
            free(heard);
        }
        sim_pool_fini(&pool);
    }
    free(first);
}

static void
expect_same_runs(
        struct sim_pool *pools, const struct sim_scenario *which, const char *name, uint64_t runs)
{
    struct heard *first = sweep_of(which, &pools[0], name, runs, 0);
    for (uint32_t i = 1; i < 3; i++) {
        struct heard *heard = sweep_of(which, &pools[i], name, runs, 0);
        EXPECT_EQ(heard->count, first->count);
        EXPECT(memcmp(first->runs, heard->runs, sizeof(first->runs)) == 0);
        free(heard);
    }
    free(first);
}

/* What a strategy keeps in memory from run to run depends on which runs its process made: the same
 * as above, for each strategy alone, and where loops choose as well. */
TEST(every_strategy_makes_the_same_runs_on_any_number_of_workers)
{
    static const uint32_t jobs[] = {1, 2, 5};
    struct sim_pool pools[3];
    for (uint32_t i = 0; i < 3; i++) {
        sim_pool_init(&pools[i], jobs[i], 10000);
    }
    for (uint32_t s = 0; s < sim_strategy_count(); s++) {
        const char *name = sim_strategy_at(s)->name;
        uint64_t runs = strcmp(name, "baseline") == 0 ? 1 : 200;
        expect_same_runs(pools, &scenario, name, runs);
        expect_same_runs(pools, &loops, name, runs);
    }
    for (uint32_t i = 0; i < 3; i++) {
        sim_pool_fini(&pools[i]);
    }
}

/* Every strategy's runs replay from their tapes, in a process with another past, another arena,
 * another fill of new memory. */
TEST(every_strategy_replays_from_its_tape)
{
    struct sim_pool pool;
    sim_pool_init(&pool, 2, 10000);
    for (uint32_t i = 0; i < sim_strategy_count(); i++) {
        const char *name = sim_strategy_at(i)->name;
        uint64_t runs = strcmp(name, "baseline") == 0 ? 1 : 60;
        free(sweep(&pool, name, runs, 100));
    }
    sim_pool_fini(&pool);
}

/*
 * sweep_test.c -- sweeps over processes: the same for any number of workers, whatever dies.
 *
 * The scenarios here are not registered: a job names its scenario by pointer, and a fork
 * keeps pointers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/tests/test.h"
#include "sim/engine/sweep/sweep.h"
#include "sim/engine/worker/shared.h"
#include "sim/rewake.h"

struct job {
    struct rt_task task;
    struct sim_world *world;
};

static void (*act)(struct sim_world *world);

static rt_poll
job_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)cx;
    act(rt_container_of(task, struct job, task)->world);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct job *job = sim_new(world, struct job);
    job->world = world;
    rt_task_init(&job->task, job_poll, NULL, "job");
    sim_spawn(rt, &job->task);
}

static const struct sim_scenario scenario = {
        .name = "test/sweep", .about = "A test.", .setup = setup};

/* What a sweep reported, as numbers that can be compared. */
struct heard {
    struct sim_sink sink;
    uint64_t runs;
    uint64_t next_index;
    uint64_t kept;
    uint64_t tapes;
    uint64_t last_seed;
    uint32_t failures;
    uint64_t failure_seed;
    struct sim_outcome failure;
    bool same;
    bool ordered;
    bool refuse;
};

static bool
hear_batch(struct sim_sink *sink, const struct sim_merged *batch)
{
    struct heard *heard = (struct heard *)(void *)sink;
    heard->ordered = heard->ordered && batch->index == heard->next_index;
    heard->next_index += batch->runs;
    heard->runs += batch->runs;
    heard->kept += batch->kept_count;
    for (uint32_t i = 0; i < batch->kept_count; i++) {
        uint64_t seed = batch->kept[i].outcome.seed;
        heard->ordered = heard->ordered && seed > heard->last_seed;
        heard->last_seed = seed;
        heard->tapes += batch->kept[i].tape_length;
    }
    return !heard->refuse;
}

static bool
hear_failure(struct sim_sink *sink, const struct sim_new_failure *failure)
{
    struct heard *heard = (struct heard *)(void *)sink;
    if (heard->failures++ == 0) {
        heard->failure_seed = failure->seen->seed;
        heard->failure = failure->outcome;
        heard->same = failure->same;
    }
    return true;
}

static bool
on_replica(struct sim_sink *sink, const struct sim_run_spec *again)
{
    (void)sink;
    return again->how == SIM_HOW_STRICT ? again->tape != NULL : again->how != SIM_HOW_SEARCH;
}

static bool
hear_tick(struct sim_sink *sink, uint64_t runs, const struct sim_sweep_totals *totals)
{
    (void)sink;
    return runs == totals->runs;
}

static void
sweep(uint32_t jobs, uint64_t runs, struct sim_sweep_plan *plan, struct heard *heard,
        struct sim_sweep_result *result)
{
    struct sim_pool pool;
    bool refuse = heard->refuse;
    *heard = (struct heard){
            .sink = {.batch = hear_batch,
                    .failure = hear_failure,
                    .replica = on_replica,
                    .tick = hear_tick},
            .ordered = true,
            .refuse = refuse,
    };
    plan->spec.scenario = &scenario;
    plan->spec.seed = 1;
    plan->runs = runs;
    plan->deadline_ms = UINT64_MAX;
    sim_options_init(&plan->spec.options, &scenario);
    sim_pool_init(&pool, jobs, 300);
    sim_sweep_run(&pool, plan, &heard->sink, result);
    sim_pool_fini(&pool);
}

static void
decide(struct sim_world *world)
{
    SIM_ALWAYS(sim_pick(world, 64) != 17);
}

/*
 * Goal: it makes no difference which worker did which run.
 * Method: a scenario that fails in some runs, with 1 and with 3 workers; everything a sink hears.
 */
TEST(sweep_by_one_and_by_three_workers_is_the_same)
{
    struct heard one = {.refuse = false};
    struct heard three = {.refuse = false};
    struct sim_sweep_result result;
    struct sim_sweep_result result3;
    struct sim_sweep_plan plan = {.spec.how = SIM_HOW_RANDOM};
    act = decide;
    sweep(1, 2000, &plan, &one, &result);
    sweep(3, 2000, &plan, &three, &result3);
    EXPECT_EQ(result.end, SIM_SWEEP_COMPLETE);
    EXPECT(one.ordered);
    EXPECT(three.ordered);
    EXPECT_EQ(one.runs, 2000);
    EXPECT_EQ(three.runs, 2000);
    EXPECT(result.failures > 5);
    EXPECT(result.totals.digest == result3.totals.digest);
    EXPECT_EQ(memcmp(&result.totals, &result3.totals, sizeof(result.totals)), 0);
    EXPECT_EQ(one.kept, result.failures);
    EXPECT_EQ(one.kept, three.kept);
    EXPECT_EQ(one.tapes, three.tapes);
    EXPECT_EQ(one.failures, 1);
    EXPECT_EQ(one.failure_seed, three.failure_seed);
    EXPECT_EQ(one.failure_seed, 1 + result.first_failure);
    EXPECT(one.same);
}

TEST(sweep_stops_at_the_first_failure_in_order)
{
    struct heard one = {.refuse = false};
    struct heard three = {.refuse = false};
    struct sim_sweep_result result;
    struct sim_sweep_result result3;
    struct sim_sweep_plan plan = {.spec.how = SIM_HOW_RANDOM, .fail_fast = true};
    act = decide;
    sweep(1, 2000, &plan, &one, &result);
    sweep(3, 2000, &plan, &three, &result3);
    EXPECT_EQ(result.end, SIM_SWEEP_STOPPED_AT_FAILURE);
    EXPECT_EQ(result.totals.runs, result.first_failure + 1);
    EXPECT_EQ(result.failures, 1);
    EXPECT_EQ(memcmp(&result.totals, &result3.totals, sizeof(result.totals)), 0);
}

/* A mapping holds the results of one job; --record all wants them all, in order. */
TEST(sweep_that_keeps_every_run_loses_none)
{
    struct heard heard = {.refuse = false};
    struct sim_sweep_result result;
    struct sim_sweep_plan plan = {.spec.how = SIM_HOW_RANDOM, .keep_all = true};
    act = decide;
    sweep(2, 1500, &plan, &heard, &result);
    EXPECT_EQ(heard.kept, 1500);
    EXPECT_EQ(heard.last_seed, 1500);
    EXPECT(heard.ordered);
}

TEST(sweep_ends_when_its_sink_says_so)
{
    struct heard heard = {.refuse = true};
    struct sim_sweep_result result;
    struct sim_sweep_plan plan = {.spec.how = SIM_HOW_RANDOM};
    act = decide;
    sweep(2, 100000, &plan, &heard, &result);
    EXPECT_EQ(result.end, SIM_SWEEP_SINK);
    EXPECT(heard.runs <= SIM_JOB_RUNS_MAX);
}

static void
die_sometimes(struct sim_world *world)
{
    if (sim_pick(world, 4) == 3) {
        _exit(9);
    }
}

/* Each death is one run with a verdict; the runs after it in the batch are there all the same. */
TEST(sweep_whose_runs_die_has_a_verdict_for_each)
{
    struct heard heard = {.refuse = false};
    struct sim_sweep_result result;
    struct sim_sweep_plan plan = {.spec.how = SIM_HOW_RANDOM};
    act = die_sometimes;
    sweep(2, 60, &plan, &heard, &result);
    EXPECT_EQ(result.end, SIM_SWEEP_COMPLETE);
    EXPECT_EQ(result.totals.runs, 60);
    EXPECT(result.totals.verdicts[SIM_VERDICT_CRASH] > 2);
    EXPECT_EQ(result.totals.verdicts[SIM_VERDICT_PASS] + result.totals.verdicts[SIM_VERDICT_CRASH],
            60);
    EXPECT_EQ(heard.failures, 1);
    EXPECT(heard.same);
    EXPECT_EQ(heard.failure.verdict, SIM_VERDICT_CRASH);
    EXPECT_STR(heard.failure.message, "exit(9) was called inside the run");
    EXPECT_STR(heard.failure.actor_name, "job");
}

static void
hang(struct sim_world *world)
{
    volatile bool for_ever = sim_pick(world, 2) == 1;
    while (for_ever) {
    }
}

TEST(sweep_with_a_hang_kills_it_and_goes_on)
{
    struct heard heard = {.refuse = false};
    struct sim_sweep_result result;
    struct sim_sweep_plan plan = {.spec.how = SIM_HOW_RANDOM};
    act = hang;
    sweep(1, 6, &plan, &heard, &result);
    EXPECT_EQ(result.totals.runs, 6);
    EXPECT(result.totals.verdicts[SIM_VERDICT_HANG] > 0);
    EXPECT(result.totals.verdicts[SIM_VERDICT_PASS] > 0);
    EXPECT_EQ(heard.failure.verdict, SIM_VERDICT_HANG);
    EXPECT(heard.same);
}

static void
ask_address(struct sim_world *world)
{
    if (((uintptr_t)sim_alloc(world, 16) >> 44 & 1) != 0) {
        sim_log(world, "far");
    }
}

TEST(sweep_checked_by_a_replica_finds_what_depends_on_an_address)
{
    struct heard heard = {.refuse = false};
    struct sim_sweep_result result;
    struct sim_sweep_plan plan = {.spec.how = SIM_HOW_RANDOM, .check_percent = 100};
    act = ask_address;
    sweep(1, 5, &plan, &heard, &result);
    EXPECT_EQ(result.checked, 5);
    EXPECT_EQ(result.unequal, 5);
    act = decide;
    sweep(2, 200, &plan, &heard, &result);
    EXPECT_EQ(result.checked, 200);
    EXPECT_EQ(result.unequal, 0);
    plan.check_percent = 30;
    sweep(2, 200, &plan, &heard, &result);
    EXPECT(result.checked > 30);
    EXPECT(result.checked < 90);
}

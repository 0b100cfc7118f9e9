/*
 * budget_test.c -- what replays may cost, and what they do cost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/worker/single.h"
#include "sim/tests/lab.h"

#define STEPS 1000u
#define MANY_STEPS 900000u /* Of a run that is not over before its parent has asked the time. */
#define LONG_MS 100000u

static void
pauses_main(struct sim_world *world, void *argument)
{
    const uint32_t *steps = argument;
    for (uint32_t i = 0; i < *steps; i++) {
        SIM_PROGRESS();
        sim_loop_pause(world);
    }
}

static void
pauses_new(struct sim_world *world, uint32_t steps)
{
    uint32_t *count = sim_new(world, uint32_t);
    *count = steps;
    (void)sim_loop_new(world, "looper", pauses_main, count);
}

static void
pauses_setup(struct sim_world *world)
{
    pauses_new(world, STEPS);
}

static void
long_pauses_setup(struct sim_world *world)
{
    pauses_new(world, MANY_STEPS);
}

static const struct sim_scenario pauses = {.name = "test/pauses", .setup = pauses_setup};
static const struct sim_scenario long_pauses = {.name = "test/long", .setup = long_pauses_setup};

/* Replays the run until it may not. */
static void
study(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        void *analysis)
{
    (void)outcome;
    (void)analysis;
    while (sim_world_may_replay(world)) {
        struct sim_outcome ignored;
        sim_world_run(world, what->scenario, &what->options, what->seed, what->strategy,
                (struct sim_recording){false, false}, &ignored);
    }
}

static bool
run_of(const struct sim_scenario *scenario, struct sim_budget *budget, bool studies)
{
    struct sim_options options;
    struct sim_single single;
    sim_options_init(&options, scenario);
    const struct sim_run_spec candidate = {.scenario = scenario,
            .options = options,
            .seed = 1,
            .how = SIM_HOW_BASELINE,
            .analyze = studies ? study : NULL};
    sim_single_init(&single, NULL, &sim_shared_for_candidates, 2000);
    single.budget = budget;
    bool ran = sim_single_run(&single, &candidate) != NULL;
    sim_single_fini(&single);
    return ran;
}

static bool
run_once(struct sim_budget *budget, bool studies)
{
    return run_of(&pauses, budget, studies);
}

/* A run costs its steps, and no other thing. */
TEST(budget_is_charged_with_the_steps_of_a_run)
{
    struct sim_budget budget;
    sim_budget_init(&budget, LONG_MS, 100000);
    EXPECT(run_once(&budget, false));
    ck_assert_uint_ge(budget.steps, STEPS);
    ck_assert_uint_le(budget.steps, STEPS + 10);
    EXPECT_EQ(budget.cut_count, 0);
}

/* A study is stopped when its stage has no steps left, by at most the replay under way; the stage
 * is named, once, and the next one has its own share. */
TEST(budget_ends_a_study_and_names_the_stage)
{
    struct sim_budget budget;
    sim_budget_init(&budget, LONG_MS, 100000);
    sim_budget_stage(&budget, "studying", 50);
    EXPECT(run_once(&budget, true));
    EXPECT(!sim_budget_left(&budget));
    ck_assert_uint_ge(budget.steps, 50000);
    ck_assert_uint_le(budget.steps, 50000 + 2 * STEPS);
    EXPECT_EQ(budget.cut_count, 1);
    EXPECT_STR(budget.cuts[0], "studying");
    EXPECT(!budget.by_clock);
    sim_budget_stage(&budget, "comparing", 100);
    EXPECT(sim_budget_left(&budget));
}

/* A machine that others use is slow: it is not the clock that ends an explanation there. */
TEST(budget_outlasts_the_time_that_was_asked_for)
{
    struct sim_budget budget;
    sim_budget_init(&budget, LONG_MS, 100000);
    budget.begun_ms -= 5 * LONG_MS; /* As if so long ago. */
    sim_budget_stage(&budget, "comparing", 100);
    EXPECT(sim_budget_left(&budget));
    budget.begun_ms -= (SIM_BUDGET_PATIENCE - 5) * LONG_MS;
    sim_budget_stage(&budget, "comparing", 100);
    EXPECT(!sim_budget_left(&budget));
    EXPECT(budget.by_clock);
}

/* The clock is the last resort: what is under way when the time is up is abandoned, and it is said
 * why. */
TEST(budget_of_time_ends_what_steps_do_not)
{
    struct sim_budget budget;
    sim_budget_init(&budget, 0, UINT64_MAX / 4);
    EXPECT(!sim_budget_left(&budget));
    EXPECT(budget.by_clock);
    EXPECT(!run_of(&long_pauses, &budget, false));
    EXPECT(sim_budget_left(NULL));
}

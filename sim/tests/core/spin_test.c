/*
 * spin_test.c -- a step that waits for the clock by reading it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/lab.h"

/* Waits in one step until an hour has passed. */
static void
wait_main(struct sim_world *world, void *argument)
{
    uint64_t from_ns = sim_now(world);
    (void)argument;
    while (sim_now(world) < from_ns + 20 * RT_MS) {
    }
    SIM_ALWAYS(sim_now(world) < from_ns + 21 * RT_MS);
}

/* As often as it is free; then once more. */
static void
count_main(struct sim_world *world, void *argument)
{
    (void)argument;
    sim_loop_pause(world);
    uint64_t from_ns = sim_now(world);
    for (uint32_t i = 1; i < SIM_CLOCK_CALLS; i++) {
        SIM_ALWAYS(sim_now(world) == from_ns);
    }
    SIM_ALWAYS(sim_now(world) == from_ns + 1);
    SIM_ALWAYS(sim_now(world) == from_ns + 3);
    sim_loop_pause(world);
    from_ns = sim_now(world);
    SIM_ALWAYS(sim_now(world) == from_ns);
}

static void
endless_main(struct sim_world *world, void *argument)
{
    (void)argument;
    sim_loop_pause(world);
    while (sim_now(world) != SIM_NEVER) {
    }
}

/* Work that is always late, as a timer that is due again before its callback returns. */
static void
late_main(struct sim_world *world, void *argument)
{
    uint64_t due_ns = 0;
    (void)argument;
    while (due_ns <= sim_now(world)) {
        due_ns += RT_MS;
        sim_work(world, RT_MS);
    }
}

static void
mock_main(struct sim_world *world, void *argument)
{
    (void)argument;
    for (uint32_t i = 0; i < 2 * SIM_CLOCK_CALLS; i++) {
        SIM_ALWAYS(sim_now(world) == 0);
    }
}

#define SETUP(which) \
    static void which##_setup(struct sim_world *world) \
    { \
        (void)sim_loop_new(world, "looper", which##_main, NULL); \
    } \
    static const struct sim_scenario which##_scenario = { \
            .name = "test/" #which, .setup = which##_setup}

SETUP(wait);
SETUP(count);
SETUP(endless);
SETUP(late);

static void
mock_setup(struct sim_world *world)
{
    sim_mock_time(world);
    (void)sim_loop_new(world, "looper", mock_main, NULL);
}

static const struct sim_scenario mock_scenario = {.name = "test/mock", .setup = mock_setup};

static struct sim_outcome
run(const struct sim_scenario *scenario)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xcd);
    struct sim_outcome outcome = lab_run(&lab, scenario, 1, true);
    lab_fini(&lab);
    return outcome;
}

/* The clock moves for a step that waits for it, in as many calls as the rule says. */
TEST(spin_on_the_clock_ends_when_its_time_is_reached)
{
    struct sim_outcome outcome = run(&wait_scenario);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_PASS);
    EXPECT(outcome.sim_ns > 20 * RT_MS);
}

/* SIM_CLOCK_CALLS calls in one step cost nothing, and each step begins at zero. */
TEST(spin_on_the_clock_costs_what_the_rule_says)
{
    EXPECT_EQ(run(&count_scenario).verdict, SIM_VERDICT_PASS);
}

/* An endless wait reaches the limit of virtual time, within its step. */
TEST(spin_on_the_clock_without_end_is_a_time_limit)
{
    const struct sim_scenario *const scenarios[] = {&endless_scenario, &late_scenario};
    for (uint32_t i = 0; i < 2; i++) {
        struct sim_outcome outcome = run(scenarios[i]);
        EXPECT_EQ(outcome.verdict, SIM_VERDICT_TIME_LIMIT);
        EXPECT_EQ(outcome.oracle, SIM_ORACLE_LIMIT);
        EXPECT_STR(outcome.actor_name, "looper");
        EXPECT(sim_outcome_spins(&outcome));
        EXPECT_EQ(outcome.steps, 2 - i);
    }
}

/* A clock that only the test moves is not moved. */
TEST(spin_on_a_mock_clock_moves_nothing)
{
    EXPECT_EQ(run(&mock_scenario).verdict, SIM_VERDICT_PASS);
}

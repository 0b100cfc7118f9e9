/*
 * mock_test.c -- a clock that only the test moves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/lab.h"

#include "runtime/tests/test.h"
#include "sim/rewake.h"

struct moved {
    struct sim_rt *rt;
    struct sim_source *source;
    bool mock;
};

/* Many steps without a nanosecond; then to the source's event, and past it by sim_advance. */
static void
moves_it(struct sim_world *world, void *argument)
{
    struct moved *moved = argument;
    for (int i = 0; i < 20; i++) {
        sim_loop_pause(world);
    }
    SIM_ALWAYS(sim_now(world) == 0);
    SIM_ALWAYS(sim_source_events(moved->source) == 0);
    SIM_ALWAYS(sim_advance_to_next(world));
    uint64_t came_ns = sim_now(world);
    SIM_ALWAYS(came_ns >= 5);
    sim_advance(world, 0);
    SIM_ALWAYS(sim_now(world) == came_ns);
    sim_advance(world, 100);
    SIM_ALWAYS(sim_now(world) == came_ns + 100);
    sim_work(world, 7);
    sim_loop_pause(world);
    SIM_ALWAYS(sim_now(world) == came_ns + 107);
    while (sim_source_events(moved->source) == 0) {
        if (!sim_advance_to_next(world)) {
            sim_loop_pause(world); /* It is due, and has not had its step. */
        }
    }
}

static void
set_up(struct sim_world *world, bool mock, void (*fn)(struct sim_world *world, void *argument))
{
    struct moved *moved = sim_new(world, struct moved);
    struct sim_rt_options options = {.by_loop = true};
    if (mock) {
        sim_mock_time(world);
    }
    moved->rt = sim_rt_new(world, &options);
    moved->source = sim_source_new(sim_rt_host(moved->rt), "bell");
    sim_source_event_in(moved->source, 5, 9);
    (void)sim_loop_new(world, "test", fn, moved);
}

static void
by_hand(struct sim_world *world)
{
    set_up(world, true, moves_it);
}

/*
 * Goal: under mock time the clock moves by exactly the argument of sim_advance, and else not.
 * Method: 200 seeds with strategy and slow steps as usual; a loop that reads the clock.
 * Holds M13.
 */
TEST(mock_time_moves_by_advance_only)
{
    static const struct sim_scenario scenario = {.name = "test/mock", .setup = by_hand};
    struct lab lab;
    lab_init(&lab, NULL, 0x5a);
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct sim_outcome outcome = lab_run(&lab, &scenario, seed, false);
        EXPECT_EQ(outcome.verdict, SIM_VERDICT_PASS);
    }
    lab_fini(&lab);
}

static void
slept_for(struct sim_world *world, void *argument)
{
    bool *steps = argument;
    steps[0] = true;
    sim_sleep(world, 1000);
    SIM_ALWAYS(sim_now(world) == 1000);
    steps[1] = true;
}

static void
wakes_it(struct sim_world *world, void *argument)
{
    const bool *steps = argument;
    while (!steps[0]) {
        sim_loop_pause(world);
    }
    SIM_ALWAYS(sim_advance_to_next(world));
    SIM_ALWAYS(sim_now(world) == 1000);
    while (!steps[1]) {
        sim_loop_pause(world);
    }
    SIM_ALWAYS(!sim_advance_to_next(world));
    SIM_ALWAYS(sim_now(world) == 1000);
}

static void
two_loops(struct sim_world *world)
{
    bool *steps = sim_zalloc(world, 2 * sizeof(bool));
    sim_mock_time(world);
    (void)sim_loop_new(world, "waiter", slept_for, steps);
    (void)sim_loop_new(world, "test", wakes_it, steps);
}

/*
 * Goal: the next due time is reached exactly; without one the clock does not move.
 * Method: one loop sleeps, the other advances; 100 seeds.
 * Holds M13.
 */
TEST(mock_time_advances_to_the_next_due_time)
{
    static const struct sim_scenario scenario = {.name = "test/next", .setup = two_loops};
    struct lab lab;
    lab_init(&lab, NULL, 0x5a);
    for (uint64_t seed = 0; seed < 100; seed++) {
        EXPECT_EQ(lab_run(&lab, &scenario, seed, false).verdict, SIM_VERDICT_PASS);
    }
    lab_fini(&lab);
}

static void
sleeps(struct sim_world *world, void *argument)
{
    (void)argument;
    sim_sleep(world, 1000);
    SIM_ALWAYS(sim_now(world) == 1000);
}

static void
nobody_moves_it(struct sim_world *world)
{
    set_up(world, true, sleeps);
}

/*
 * Goal: when no actor is enabled, the clock moves to the next due time, and the run continues.
 * Method: a loop that sleeps and advances nothing.
 * Holds M13.
 */
TEST(mock_time_moves_by_itself_when_all_is_quiet)
{
    static const struct sim_scenario scenario = {.name = "test/quiet", .setup = nobody_moves_it};
    struct lab lab;
    lab_init(&lab, NULL, 0x5a);
    struct sim_outcome outcome = lab_run(&lab, &scenario, 3, false);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_PASS);
    EXPECT_EQ(outcome.sim_ns, 1000);
    lab_fini(&lab);
}

static void
advances(struct sim_world *world, void *argument)
{
    (void)argument;
    sim_advance(world, 1);
}

static void
without_mock_time(struct sim_world *world)
{
    set_up(world, false, advances);
}

static void
in_setup(struct sim_world *world)
{
    sim_mock_time(world);
    sim_advance(world, 1);
}

/* Goal: without mock time the clock cannot be advanced, nor outside of a loop.
 * Method: both, and the verdict. */
TEST(mock_time_misused_is_a_broken_contract)
{
    static const struct sim_scenario unasked = {.name = "test/u", .setup = without_mock_time};
    static const struct sim_scenario no_loop = {.name = "test/n", .setup = in_setup};
    struct lab lab;
    lab_init(&lab, NULL, 0x5a);
    EXPECT_EQ(lab_run(&lab, &unasked, 1, false).verdict, SIM_VERDICT_CONTRACT);
    EXPECT_EQ(lab_run(&lab, &no_loop, 1, false).verdict, SIM_VERDICT_CONTRACT);
    lab_fini(&lab);
}

/*
 * world_test.c -- the step rule, on actors without a runtime.
 *
 * The file begins with the smallest world: two actors that count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "sim/tests/lab.h"

/* ---- A kind of actor that counts down. ------------------------------------------------------- */

struct counter {
    struct sim_actor actor;
    uint32_t left;
    uint64_t pause_ns; /* Between two steps; 0: it stays enabled. */
};

static void
counter_step(struct sim_actor *actor)
{
    struct counter *counter = rt_container_of(actor, struct counter, actor);
    counter->left--;
    if (counter->left == 0) {
        sim_actor_finish(actor);
    } else if (counter->pause_ns != 0) {
        sim_actor_due(actor, sim_now(actor->world) + counter->pause_ns);
    } else {
        sim_actor_enable(actor);
    }
}

static const struct sim_actor_ops counter_ops = {.kind = SIM_ACTOR_OTHER, .step = counter_step};

static struct counter *
counter_new(struct sim_world *world, const char *name, uint32_t steps, uint64_t pause_ns)
{
    struct counter *counter = sim_new(world, struct counter);
    counter->left = steps;
    counter->pause_ns = pause_ns;
    sim_actor_init(&counter->actor, world, &counter_ops, NULL, name, true);
    sim_actor_enable(&counter->actor);
    return counter;
}

static void
two_counters(struct sim_world *world)
{
    (void)counter_new(world, "a", 3, 0);
    (void)counter_new(world, "b", 2, 0);
}

static const struct sim_scenario two = {
        .name = "test/two",
        .about = "Two actors that count.",
        .setup = two_counters,
};

/* Goal: the baseline run is first come, first served, and a new kind of actor needs no change of
 * the world.
 * Method: the trace. */
TEST(baseline_run_steps_actors_in_the_order_of_enabling)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    struct sim_outcome outcome = lab_run(&lab, &two, 1, true);
    char *text = lab_events(&lab);
    EXPECT_STR(text, "0 1 actor 0 24766077467\n"
                     "0 2 actor 0 22016135590\n"
                     "1 1 step 0 0\n"
                     "2 2 step 0 100\n"
                     "3 1 step 0 200\n"
                     "4 2 step 0 300\n"
                     "5 1 step 0 400\n"
                     "5 0 end 0 0\n");
    free(text);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_PASS);
    EXPECT_EQ(outcome.steps, 5);
    EXPECT_EQ(outcome.sim_ns, 500);
    EXPECT_EQ(outcome.deviations, 0);
    lab_fini(&lab);
}

/* Goal: every order of steps can happen.
 * Method: of a's 3 and b's 2 steps there are 10 orders; 500 seeds have them all. */
TEST(random_run_has_every_order_of_two_actors)
{
    struct lab lab;
    bool met[32] = {false};
    uint32_t orders = 0;
    lab_init(&lab, NULL, 0);
    for (uint64_t seed = 0; seed < 500; seed++) {
        (void)lab_run(&lab, &two, seed, false);
        uint32_t order = 0;
        for (uint64_t i = 0; i < lab.world.recorder.count; i++) {
            const struct sim_event *event = sim_recorder_event(&lab.world.recorder, i);
            order = event->kind == SIM_EVENT_STEP ? order * 2 + (event->actor == 2) : order;
        }
        ck_assert_uint_lt(order, 32);
        orders += !met[order];
        met[order] = true;
    }
    EXPECT_EQ(orders, 10);
    lab_fini(&lab);
}

/* Goal: a run does not depend on addresses, uninitialized memory or earlier runs.
 * Method: two worlds, at other addresses, with another fill byte; one of them has run something
 * else before. Digests and tapes agree for 200 seeds, and differ between seeds. */
TEST(run_depends_on_its_seed_and_on_nothing_else)
{
    struct lab here;
    struct lab there;
    uint64_t before = 0;
    uint32_t changes = 0;
    lab_init(&here, NULL, 0x00);
    lab_init(&there, (void *)(uintptr_t)0x600000000000, 0xff);
    EXPECT(here.world.arena.base != there.world.arena.base);
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct sim_outcome a = lab_run(&here, &two, seed, false);
        (void)lab_run(&there, &two, seed * 77 + 5, seed % 2 == 0);
        struct sim_outcome b = lab_run(&there, &two, seed, false);
        EXPECT(a.digest != 0);
        EXPECT(a.digest == b.digest);
        EXPECT_EQ(a.deviations, b.deviations);
        changes += a.digest != before;
        before = a.digest;
    }
    EXPECT(changes > 100);
    lab_fini(&here);
    lab_fini(&there);
}

/* Goal: recording does not change the run.
 * Method: the same seed with events off takes the same steps and decisions. */
TEST(recording_changes_nothing)
{
    struct lab lab;
    struct sim_options options;
    lab_init(&lab, NULL, 1);
    sim_options_init(&options, &two);
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct sim_outcome loud = lab_run(&lab, &two, seed, false);
        uint64_t hash = lab.world.decider.hash;
        struct sim_outcome silent;
        sim_world_run(&lab.world, &two, &options, seed, &lab.random.strategy,
                (struct sim_recording){false, false}, &silent);
        EXPECT(lab.world.decider.hash == hash);
        EXPECT_EQ(silent.steps, loud.steps);
        EXPECT_EQ(silent.deviations, loud.deviations);
        EXPECT_EQ(silent.digest, 0);
    }
    lab_fini(&lab);
}

/* Goal: a tape that a run wrote, run strictly, is the run.
 * Method: 100 seeds, digest for digest. */
TEST(strict_replay_of_a_written_tape_has_the_same_digest)
{
    struct lab lab;
    struct sim_options options;
    struct sim_deviation copy[64];
    lab_init(&lab, NULL, 7);
    sim_options_init(&options, &two);
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct sim_outcome first = lab_run(&lab, &two, seed, false);
        struct sim_tape tape = {copy, lab.world.decider.tape.count, 64};
        ck_assert_uint_le(tape.count, 64);
        memcpy(copy, lab.world.decider.tape.entries, tape.count * sizeof(copy[0]));
        struct sim_replay replay;
        struct sim_outcome again;
        sim_replay_init(&replay, &tape, false, NULL);
        sim_world_run(&lab.world, &two, &options, seed, &replay.strategy,
                (struct sim_recording){true, true}, &again);
        EXPECT(sim_replay_mismatch(&replay) == NULL);
        EXPECT(again.digest == first.digest);
    }
    lab_fini(&lab);
}

/* ---- Time. ----------------------------------------------------------------------------------- */

static void
waiters(struct sim_world *world)
{
    (void)counter_new(world, "slow", 2, 5000);
    (void)counter_new(world, "fast", 3, 1000);
    (void)counter_new(world, "twin", 3, 1000);
}

static const struct sim_scenario sleepy = {
        .name = "test/sleepy",
        .about = "Three actors that wait.",
        .setup = waiters,
};

/* Goal: when no actor is enabled, the clock moves to the next due time; equal times go by index.
 * Holds M13. Method: the trace. */
TEST(clock_moves_when_nobody_is_enabled)
{
    struct lab lab;
    lab_init(&lab, NULL, 0);
    struct sim_outcome outcome = lab_run(&lab, &sleepy, 0, true);
    char *text = lab_events(&lab);
    EXPECT(strstr(text, "1 1 step 0 0\n"
                        "2 2 step 0 100\n"
                        "3 3 step 0 200\n"
                        "3 0 clock 0 1100\n"
                        "4 2 step 0 1100\n"
                        "5 3 step 0 1200\n"
                        "5 0 clock 0 2100\n") != NULL);
    free(text);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_PASS);
    EXPECT_EQ(outcome.sim_ns, 5100);
    lab_fini(&lab);
}

static void
stuck(struct sim_world *world)
{
    struct counter *counter = counter_new(world, "stuck", 2, 0);
    sim_actor_disable(&counter->actor);
}

/* Goal: nothing to wait for is a deadlock, not a hang.
 * Method: one actor that is never enabled. */
TEST(stall_with_nothing_left_to_wake_is_a_deadlock)
{
    static const struct sim_scenario scenario = {.name = "test/stuck", .setup = stuck};
    struct lab lab;
    lab_init(&lab, NULL, 0);
    struct sim_outcome outcome = lab_run(&lab, &scenario, 0, false);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_DEADLOCK);
    EXPECT_EQ(outcome.oracle, SIM_ORACLE_STALL);
    EXPECT_STR(outcome.actor_name, "stuck");
    lab_fini(&lab);
}

static void
endless(struct sim_world *world)
{
    (void)counter_new(world, "endless", UINT32_MAX, 0);
}

static void
far(struct sim_world *world)
{
    (void)counter_new(world, "far", 2, UINT64_C(3600000000001));
}

/* Goal: each limit has a verdict.
 * Method: an actor that steps forever; one that sleeps for more than an hour. */
TEST(limits_end_a_run_with_their_own_verdicts)
{
    static const struct sim_scenario spinning = {.name = "test/endless", .setup = endless};
    static const struct sim_scenario sleeping = {.name = "test/far", .setup = far};
    struct lab lab;
    lab_init(&lab, NULL, 0);
    struct sim_outcome outcome = lab_run(&lab, &spinning, 0, false);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_LIVELOCK);
    EXPECT_EQ(outcome.steps, 10000);
    struct sim_options options;
    sim_options_init(&options, &spinning);
    options.steps_max = 50;
    sim_world_run(&lab.world, &spinning, &options, 0, &lab.random.strategy,
            (struct sim_recording){true, false}, &outcome);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_STEP_LIMIT);
    outcome = lab_run(&lab, &sleeping, 0, false);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_TIME_LIMIT);
    lab_fini(&lab);
}

/* ---- Many. ----------------------------------------------------------------------------------- */

static void
crowd(struct sim_world *world)
{
    for (uint32_t i = 0; i < 300; i++) {
        (void)counter_new(world, "one of many", 2, 0);
    }
}

/* Goal: of more than 64 enabled actors one is chosen in two steps, and each is stepped.
 * Method: 300 actors; the run passes, and its first step is not always among the first 64. */
TEST(crowd_of_300_is_chosen_from_in_blocks)
{
    static const struct sim_scenario scenario = {.name = "test/crowd", .setup = crowd};
    struct lab lab;
    bool beyond = false;
    lab_init(&lab, NULL, 0);
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct sim_outcome outcome = lab_run(&lab, &scenario, seed, false);
        EXPECT_EQ(outcome.verdict, SIM_VERDICT_PASS);
        EXPECT_EQ(outcome.steps, 600);
        for (uint64_t i = 0; i < lab.world.recorder.count && !beyond; i++) {
            const struct sim_event *event = sim_recorder_event(&lab.world.recorder, i);
            beyond = event->kind == SIM_EVENT_STEP && event->step == 1 && event->actor > 64;
        }
    }
    EXPECT(beyond);
    lab_fini(&lab);
}

/* Goal: the simulator itself starves no actor.
 * Method: two actors, one that never ends, under a strategy that always prefers the newest. */
static uint32_t
newest(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    (void)strategy;
    return choice->kind == SIM_KIND_RUN ? choice->n - 1 : 0;
}

static void
rivals(struct sim_world *world)
{
    (void)counter_new(world, "patient", 1, 0);
    struct counter *other = counter_new(world, "pushy", 5000, 0);
    other->actor.background = true;
    other->actor.foreground = false;
    world->foreground--;
}

TEST(actor_passed_over_too_often_is_taken_without_asking)
{
    static const struct sim_strategy_ops ops = {.choose = newest};
    static const struct sim_scenario scenario = {.name = "test/rivals", .setup = rivals};
    struct sim_strategy strategy = {&ops};
    struct sim_options options;
    struct sim_outcome outcome;
    struct lab lab;
    lab_init(&lab, NULL, 0);
    sim_options_init(&options, &scenario);
    sim_world_run(&lab.world, &scenario, &options, 0, &strategy,
            (struct sim_recording){false, false}, &outcome);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_PASS);
    ck_assert_uint_lt(outcome.steps, 300);
    lab_fini(&lab);
}

/* ---- Loops. ---------------------------------------------------------------------------------- */

static void
loop_main(struct sim_world *world, void *argument)
{
    uint32_t *log = argument;
    for (uint32_t i = 0; i < 3; i++) {
        log[0] = log[0] * 10 + log[1];
        sim_loop_pause(world);
    }
    sim_sleep(world, 1000);
}

static void
loops(struct sim_world *world)
{
    uint32_t *shared = sim_alloc(world, 8 * sizeof(uint32_t));
    memset(shared, 0, 8 * sizeof(uint32_t));
    sim_set_state(world, shared);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t *mine = shared + 2 * i;
        mine[1] = i + 1;
        (void)sim_loop_new(world, i == 0 ? "first" : "second", loop_main, mine);
    }
}

static void
loops_check(struct sim_world *world, void *state)
{
    const uint32_t *shared = state;
    (void)world;
    SIM_ALWAYS(shared[0] == 111);
    SIM_ALWAYS(shared[2] == 222);
}

/* Goal: a loop runs beside another, and switches where it waits.
 * Method: two loops over 50 seeds; both end, time has passed, and both orders of their first steps
 * happen. */
TEST(loops_on_fibers_take_turns_and_end)
{
    static const struct sim_scenario scenario = {
            .name = "test/loops", .setup = loops, .check = loops_check};
    struct lab lab;
    lab_init(&lab, NULL, 0x5a);
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct sim_outcome outcome = lab_run(&lab, &scenario, seed, false);
        EXPECT_EQ(outcome.verdict, SIM_VERDICT_PASS);
        EXPECT_EQ(outcome.steps, 10);
        EXPECT(outcome.sim_ns >= 1000);
    }
    lab_fini(&lab);
}

static void
failing_loop(struct sim_world *world, void *argument)
{
    (void)argument;
    sim_loop_pause(world);
    SIM_ALWAYS(1 + 1 == 3);
}

static void
fails_on_fiber(struct sim_world *world)
{
    (void)sim_loop_new(world, "loser", failing_loop, NULL);
}

/* Goal: a verdict inside a fiber ends the run, and does not affect the next one.
 * Method: fail twice in a row; the line is reported. Holds SIM_ALWAYS. */
TEST(verdict_on_a_fiber_ends_the_run)
{
    static const struct sim_scenario scenario = {.name = "test/loser", .setup = fails_on_fiber};
    struct lab lab;
    lab_init(&lab, NULL, 0);
    for (uint32_t i = 0; i < 2; i++) {
        struct sim_outcome outcome = lab_run(&lab, &scenario, i, false);
        EXPECT_EQ(outcome.verdict, SIM_VERDICT_INVARIANT);
        EXPECT_STR(outcome.actor_name, "loser");
        EXPECT_STR(outcome.message, "SIM_ALWAYS(1 + 1 == 3) does not hold");
        EXPECT(outcome.site != 0);
    }
    lab_fini(&lab);
}

/* ---- Stopping for the judge. ----------------------------------------------------------------- */

/* Goal: a run can be stopped at any step, in the same state as the first time.
 * Method: for each step of a run, stop there and compare the time and the number of actors left. */
TEST(run_stops_at_any_step_as_it_was)
{
    struct lab lab;
    struct sim_options options;
    lab_init(&lab, NULL, 0);
    sim_options_init(&options, &two);
    for (uint64_t step = 0; step < 5; step++) {
        bool reached = sim_world_run_to(&lab.world, &two, &options, 11, &lab.random.strategy,
                (struct sim_recording){false, false}, (struct sim_stop){step, false});
        EXPECT(reached);
        EXPECT_EQ(lab.world.step, step);
        EXPECT_EQ(lab.world.now_ns, step * 100);
        sim_world_drop(&lab.world);
    }
    EXPECT(!sim_world_run_to(&lab.world, &two, &options, 11, &lab.random.strategy,
            (struct sim_recording){false, false}, (struct sim_stop){99, false}));
    sim_world_drop(&lab.world);
    lab_fini(&lab);
}

/* A run that stops at each step has the same end as one that does not. */
TEST(run_that_stops_at_each_step_ends_at_its_limit)
{
    static const struct sim_scenario spinning = {.name = "test/endless", .setup = endless};
    struct lab lab;
    struct sim_options options;
    lab_init(&lab, NULL, 0);
    sim_options_init(&options, &spinning);
    bool goes_on = sim_world_run_to(&lab.world, &spinning, &options, 0, &lab.random.strategy,
            (struct sim_recording){false, false}, (struct sim_stop){0, false});
    while (goes_on && lab.world.step < 20000) {
        goes_on = sim_world_continue(&lab.world, (struct sim_stop){lab.world.step + 1, false});
    }
    EXPECT_EQ(lab.world.step, 10000);
    EXPECT_EQ(lab.world.outcome.verdict, SIM_VERDICT_LIVELOCK);
    sim_world_drop(&lab.world);
    lab_fini(&lab);
}

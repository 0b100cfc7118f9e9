/*
 * liveness_test.c -- the fault-free phase: what it must find, and what it must not accuse.
 *
 * Opens with a program that one disturbance drives round in circles; after it come the ones that
 * take long after they became free of faults and are in order: much work, a long timer, nothing
 * amiss.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/tests/lab.h"

#define MANY 150000u

struct story {
    struct rt_task task;
    struct rt_task ticker;
    struct rt_sleep nap;
    struct rt_sleep tick;
    struct sim_world *world;
    uint32_t turns;
    uint32_t wanted;
    bool confused;
    uint32_t picked[100];
    bool disturbed[100];
};

static struct story *
story_new(struct sim_world *world, rt_poll_fn poll)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct story *story = sim_new(world, struct story);
    story->world = world;
    rt_sleep_init(&story->nap, RT_MS);
    rt_task_init(&story->task, poll, NULL, "client");
    sim_spawn(rt, &story->task);
    sim_set_state(world, story);
    return story;
}

/* ---- One that does not recover. -------------------------------------------------------------- */

/* Ten naps; after a disturbed one, no nap counts. */
static rt_poll
confused_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, task);
    while (story->turns < 10) {
        RT_AWAIT(rt_sleep_poll(&story->nap, cx));
        rt_sleep_init(&story->nap, RT_MS);
        story->confused = story->confused || sim_inject(story->world, 2);
        story->turns += !story->confused;
        SIM_PROGRESS();
    }
    return RT_READY;
}

static void
confused(struct sim_world *world)
{
    (void)story_new(world, confused_poll);
}

static const struct sim_scenario confused_story = {.name = "test/confused", .setup = confused};

/* Judged with its default options, but that no step is slow. */
static struct sim_outcome
end_of(const struct sim_scenario *scenario, uint64_t converge_steps)
{
    struct lab lab;
    struct sim_options options;
    lab_init(&lab, NULL, 0);
    sim_options_init(&options, scenario);
    options.converge_steps = converge_steps;
    options.slow_one_in = 0; /* To the next deadline, however far that is: no time to be busy. */
    struct sim_outcome outcome = lab_judge_with(&lab, scenario, &options, 1, false);
    lab_fini(&lab);
    return outcome;
}

/*
 * Goal: what faults have left behind is found, within the default limits, and said as such.
 * Method: every nap is counted as progress, so that no other limit but that on steps would meet it.
 */
TEST(liveness_of_a_client_that_does_not_recover_is_livelock)
{
    struct sim_outcome outcome = end_of(&confused_story, 0);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_LIVELOCK);
    EXPECT_EQ(outcome.oracle, SIM_ORACLE_LIVENESS);
    EXPECT_EQ(outcome.steps, SIM_FAULT_FREE_AFTER + SIM_CONVERGE_STEPS);
    EXPECT_STR(outcome.actor_name, "client");
    EXPECT(strstr(outcome.message, "'client' was polled") != NULL);
    EXPECT(strstr(outcome.message, "without any faults it ends after") != NULL);
}

/* Goal: a claim is held against who makes it, without a control. */
TEST(liveness_within_a_claimed_number_of_steps_is_demanded)
{
    struct sim_outcome outcome = end_of(&confused_story, 50);
    EXPECT_EQ(outcome.oracle, SIM_ORACLE_LIVENESS);
    EXPECT_EQ(outcome.steps, SIM_FAULT_FREE_AFTER + 50);
    EXPECT(strstr(outcome.message, "without any faults") == NULL);
}

/* ---- Those that only take long. -------------------------------------------------------------- */

/* So many turns, of which each gets on. */
static rt_poll
busy_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, task);
    (void)sim_inject(story->world, 2);
    if (story->turns++ == story->wanted) {
        return RT_READY;
    }
    SIM_PROGRESS();
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
busy(struct sim_world *world)
{
    story_new(world, busy_poll)->wanted = MANY;
}

/* The user of the program decides how much there is to do: nothing, where it is 0. */
static void
generous(struct sim_world *world)
{
    story_new(world, busy_poll)->wanted = sim_pick(world, 64) == 0 ? 0 : MANY;
}

static void
expect_whole(const struct sim_scenario *scenario)
{
    struct sim_outcome outcome = end_of(scenario, 0);
    struct sim_outcome unbounded = end_of(scenario, UINT32_MAX);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_PASS);
    EXPECT(outcome.steps > SIM_FAULT_FREE_AFTER + SIM_CONVERGE_STEPS);
    EXPECT_EQ(outcome.digest, unbounded.digest);
}

/*
 * Goal: no task is accused of having much to do.
 * Method: more steps than the bound, disturbed all the way to the faults ended; the run that is
 * excused is the one without a bound, digest and all.
 */
TEST(liveness_of_much_work_is_no_livelock)
{
    static const struct sim_scenario scenario = {.name = "test/busy", .setup = busy};
    expect_whole(&scenario);
}

/* Goal: the control has as much to do as the run. Method: how much that is, is a decision. */
TEST(liveness_of_work_that_a_decision_made_is_no_livelock)
{
    static const struct sim_scenario scenario = {.name = "test/generous", .setup = generous};
    expect_whole(&scenario);
}

/* Once perturbed it tries again after 100 s, in which the ticker takes 200,000 steps: more than a
 * run may take to settle. */
static rt_poll
patient_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, task);
    RT_AWAIT(rt_sleep_poll(&story->nap, cx));
    if (!story->confused && sim_inject(story->world, 1)) {
        story->confused = true;
        rt_sleep_init(&story->nap, 100 * RT_SECOND);
        RT_AWAIT(rt_sleep_poll(&story->nap, cx));
    }
    return RT_READY;
}

static rt_poll
ticker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, ticker);
    for (;;) {
        RT_AWAIT(rt_sleep_poll(&story->tick, cx));
        rt_sleep_init(&story->tick, RT_MS);
        SIM_PROGRESS();
    }
}

static void
patient(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct story *story = sim_new(world, struct story);
    story->world = world;
    rt_sleep_init(&story->nap, RT_MS);
    rt_sleep_init(&story->tick, RT_MS);
    rt_task_init(&story->task, patient_poll, NULL, "client");
    rt_task_init(&story->ticker, ticker_poll, NULL, "ticker");
    sim_spawn(rt, &story->task);
    sim_spawn_background(rt, &story->ticker);
}

/*
 * Goal: no task is accused of a timer that was armed while the run was disturbed.
 * Method: the control needs no such timer, and others are busy all the time.
 */
TEST(liveness_of_a_long_timer_is_no_livelock)
{
    static const struct sim_scenario scenario = {.name = "test/patient", .setup = patient};
    expect_whole(&scenario);
}

/* ---- Free of faults. ---------------------------------------------------------------------------
 * */

static rt_poll
picking_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, task);
    story->disturbed[story->turns] = sim_inject(story->world, 2);
    story->picked[story->turns] = sim_pick(story->world, 64);
    if (++story->turns == 100) {
        return RT_READY;
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
picking(struct sim_world *world)
{
    (void)story_new(world, picking_poll);
}

static struct story
story_of(uint64_t fault_free_after)
{
    static const struct sim_scenario scenario = {.name = "test/picking", .setup = picking};
    struct lab lab;
    struct sim_options options;
    struct sim_outcome outcome;
    lab_init(&lab, NULL, 0);
    sim_options_init(&options, &scenario);
    options.fault_free_after = fault_free_after;
    sim_world_run(&lab.world, &scenario, &options, 1, &lab.random.strategy,
            (struct sim_recording){true, false}, &outcome);
    struct story story = *(struct story *)lab.world.state;
    lab_fini(&lab);
    return story;
}

/*
 * Goal: nothing disturbs after the faults ended, and all else is decided as it would have been.
 * Method: both questions draw from one stream, in turn.
 */
TEST(healed_run_counts_the_occasions_that_it_leaves_out)
{
    struct story sick = story_of(UINT32_MAX);
    struct story well = story_of(50);
    uint32_t disturbed = 0;
    EXPECT(memcmp(sick.picked, well.picked, sizeof(sick.picked)) == 0);
    EXPECT(memcmp(sick.disturbed, well.disturbed, 50 * sizeof(bool)) == 0);
    for (uint32_t i = 50; i < 100; i++) {
        disturbed += sick.disturbed[i];
        EXPECT(!well.disturbed[i]);
    }
    EXPECT(disturbed > 10);
}

/* Goal: what nothing has disturbed is held to nothing. */
TEST(liveness_of_what_was_never_disturbed_is_not_asked)
{
    static const struct sim_scenario scenario = {.name = "test/undisturbed", .setup = busy};
    struct lab lab;
    struct sim_options options;
    lab_init(&lab, NULL, 0);
    sim_options_init(&options, &scenario);
    options.converge_steps = 50;
    options.steps_max = SIM_FAULT_FREE_AFTER + 1000;
    struct sim_outcome outcome = lab_judge_with(&lab, &scenario, &options, 1, true);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_STEP_LIMIT);
    EXPECT_EQ(outcome.oracle, SIM_ORACLE_LIMIT);
    lab_fini(&lab);
}

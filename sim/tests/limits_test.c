/*
 * limits_test.c -- who must not come to a limit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/lab.h"

struct player {
    struct rt_task task;
    struct rt_sleep sleep;
    uint32_t polls;
};

static struct player *
player_new(struct sim_world *world, rt_poll_fn poll, const char *name)
{
    struct player *player = sim_new(world, struct player);
    rt_task_init(&player->task, poll, NULL, name);
    return player;
}

static rt_poll
waiter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    RT_AWAIT(rt_sleep_poll(&player->sleep, cx));
    return RT_READY;
}

static rt_poll
yielder_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    if (++player->polls == 40) {
        return RT_READY;
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

/* A connection that is kept for two hours, in the background of one that yields a little. */
static void
kept_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct player *kept = player_new(world, waiter_poll, "kept");
    struct player *yielder = player_new(world, yielder_poll, "yielder");
    rt_sleep_init(&kept->sleep, 7200 * RT_SECOND);
    sim_spawn_background(rt, &kept->task);
    sim_spawn(rt, &yielder->task);
}

/* Goal: no step is slow to a timer that is hours away: that the run then takes hours would be
 * the simulator's doing. */
TEST(timer_for_much_later_is_not_reached_by_a_slow_step)
{
    static const struct sim_scenario scenario = {.name = "test/kept", .setup = kept_setup};
    struct lab lab;
    lab_init(&lab, NULL, 0);
    for (uint64_t seed = 0; seed < 100; seed++) {
        EXPECT_EQ(lab_judge(&lab, &scenario, seed, false).verdict, SIM_VERDICT_PASS);
    }
    lab_fini(&lab);
}

/* Gives way until a microsecond has passed. */
static rt_poll
clock_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    if (sim_now(sim_world_current) >= RT_US) {
        return RT_READY;
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
clock_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    sim_spawn(rt, &player_new(world, clock_poll, "waits")->task);
}

/*
 * Goal: time passes in a busy world also with `step_ns=0` and a large `livelock_steps`.
 * Method: with more than two million steps the share of a step in a millisecond is less than a ns.
 */
TEST(time_passes_in_a_busy_world_whatever_livelock_steps_is)
{
    static const struct sim_scenario scenario = {.name = "test/clock", .setup = clock_setup};
    struct lab lab;
    struct sim_options options;
    lab_init(&lab, NULL, 0);
    sim_options_init(&options, &scenario);
    options.step_ns = 0;
    options.livelock_steps = 3000000;
    options.steps_max = 10000000;
    struct sim_outcome outcome = lab_judge_with(&lab, &scenario, &options, 1, true);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_PASS);
    EXPECT(outcome.steps < 1600000);
    lab_fini(&lab);
}

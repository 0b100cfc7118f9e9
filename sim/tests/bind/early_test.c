/*
 * early_test.c -- a timer that fires before its time, and a wheel that does not count time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/lab.h"

#define SEEDS 100u
#define AHEAD_NS RT_MS

/* How many of SEEDS runs end in `verdict`. */
static uint32_t
endings(const struct sim_scenario *scenario, enum sim_verdict verdict)
{
    struct lab lab;
    uint32_t count = 0;
    lab_init(&lab, NULL, 0xa5);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct sim_outcome outcome = lab_judge(&lab, scenario, seed, false);
        if (outcome.verdict == SIM_VERDICT_CONTRACT) {
            EXPECT_EQ(outcome.oracle, SIM_ORACLE_TIMER);
        }
        count += outcome.verdict == verdict;
    }
    lab_fini(&lab);
    return count;
}

/* ---- A runtime whose clock leads. ------------------------------------------------------------ */

struct napper {
    struct rt_task task;
    struct rt_sleep nap;
};

static rt_poll
nap(struct rt_task *task, struct rt_cx *cx)
{
    struct napper *napper = rt_container_of(task, struct napper, task);
    return rt_sleep_poll(&napper->nap, cx);
}

/* Half of AHEAD_NS apart: when the first sleep is over, so is the second by the clock that leads.
 */
static struct sim_rt *
two_nappers(struct sim_world *world, bool by_loop)
{
    const struct sim_rt_options options = {.by_loop = by_loop};
    struct sim_rt *rt = sim_rt_new(world, &options);
    for (uint32_t i = 0; i < 2; i++) {
        struct napper *napper = sim_new(world, struct napper);
        rt_sleep_init(&napper->nap, 10 * AHEAD_NS + i * AHEAD_NS / 2);
        rt_task_init(&napper->task, nap, NULL, "napper");
        sim_spawn(rt, &napper->task);
    }
    return rt;
}

static struct rt_host_ops hasty_ops;
static uint64_t (*true_now)(struct rt_host *host);

static uint64_t
hasty_now(struct rt_host *host)
{
    return true_now(host) + AHEAD_NS;
}

static void
make_hasty(struct sim_rt *rt)
{
    struct rt_host *host = sim_host_seam(sim_rt_host(rt));
    true_now = host->ops->now;
    hasty_ops = *host->ops;
    hasty_ops.now = hasty_now;
    host->ops = &hasty_ops;
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct sim_rt *rt = argument;
    (void)world;
    EXPECT_EQ(rt_run_to_completion(sim_rt_runtime(rt)), RT_OK);
}

static void
hasty_setup(struct sim_world *world)
{
    make_hasty(two_nappers(world, false));
}

static void
hasty_loop_setup(struct sim_world *world)
{
    struct sim_rt *rt = two_nappers(world, true);
    make_hasty(rt);
    (void)sim_loop_new(world, "loop", loop_main, rt);
}

static void
patient_setup(struct sim_world *world)
{
    (void)two_nappers(world, false);
}

/* Goal: a timer that fires before its deadline breaks a contract, driven by the world or a loop.
 * Method: a host whose clock is ahead of the world's, and one whose clock is not.
 * Holds M1. */
TEST(timer_that_is_early_breaks_a_contract)
{
    static const struct sim_scenario hasty = {.name = "test/hasty", .setup = hasty_setup};
    static const struct sim_scenario loop = {.name = "test/hasty-loop", .setup = hasty_loop_setup};
    static const struct sim_scenario patient = {.name = "test/patient", .setup = patient_setup};
    ck_assert_uint_gt(endings(&hasty, SIM_VERDICT_CONTRACT), SEEDS / 4);
    ck_assert_uint_gt(endings(&loop, SIM_VERDICT_CONTRACT), SEEDS / 4);
    EXPECT_EQ(endings(&patient, SIM_VERDICT_PASS), SEEDS);
}

/* ---- A wheel that is turned by hand. --------------------------------------------------------- */

static void
hand_main(struct sim_world *world, void *argument)
{
    struct rt_timers timers;
    struct rt_timer timer;
    struct rt_timers_config config = {.slots = argument};
    rt_timers_init(&timers, &config);
    rt_timer_init(&timer);
    rt_timer_start(&timers, &timer, UINT64_MAX / 2);
    sim_sleep(world, RT_MS);
    EXPECT_EQ(rt_timers_process(&timers, UINT64_MAX / 2), 1);
    rt_timers_fini(&timers);
}

static void
hand_setup(struct sim_world *world)
{
    size_t slots = RT_TIMERS_SLOTS(RT_TIMERS_LEVELS, RT_TIMERS_BITS);
    (void)two_nappers(world, false);
    (void)sim_loop_new(
            world, "hand", hand_main, sim_alloc(world, slots * sizeof(struct rt_list *)));
}

/* Goal: counts of another wheel are not taken for the time.
 * Method: one that is far ahead of the world's clock, beside a runtime that is not. */
TEST(timer_of_a_wheel_turned_by_hand_is_never_early)
{
    static const struct sim_scenario hand = {.name = "test/hand", .setup = hand_setup};
    EXPECT_EQ(endings(&hand, SIM_VERDICT_PASS), SEEDS);
}

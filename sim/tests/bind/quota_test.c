/*
 * quota_test.c -- verdict over-budget: which time counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/lab.h"

struct worker {
    struct rt_task task;
    struct rt_sleep sleep;
    struct rt_yield yield;
    struct sim_world *world;
    uint64_t work_ns; /* Of each piece … */
    uint32_t pieces;
    bool gives_way; /* … before which it calls rt_need_preempt. */
};

static rt_poll
worker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct worker *worker = rt_container_of(task, struct worker, task);
    while (worker->pieces > 0) {
        if (worker->gives_way) {
            RT_AWAIT(rt_maybe_yield(&worker->yield, cx));
        }
        sim_work(worker->world, worker->work_ns);
        worker->pieces--;
    }
    RT_AWAIT(rt_sleep_poll(&worker->sleep, cx));
    return RT_READY;
}

static void
set_up(struct sim_world *world, const struct sim_rt_options *options, struct worker like)
{
    struct sim_rt *rt = sim_rt_new(world, options);
    for (int i = 0; i < 2; i++) {
        struct worker *worker = sim_new(world, struct worker);
        *worker = like;
        worker->world = world;
        rt_sleep_init(&worker->sleep, RT_MS);
        rt_task_init(&worker->task, worker_poll, NULL, "worker");
        sim_spawn(rt, &worker->task);
    }
}

static void
hogs(struct sim_world *world)
{
    set_up(world, &(struct sim_rt_options){.task_quota_ns = RT_TASK_QUOTA_NS},
            (struct worker){.work_ns = RT_TASK_QUOTA_NS / 5, .pieces = 6});
}

static void
polite(struct sim_world *world)
{
    set_up(world, &(struct sim_rt_options){.task_quota_ns = RT_TASK_QUOTA_NS},
            (struct worker){.work_ns = RT_TASK_QUOTA_NS * 3 / 5, .pieces = 40, .gives_way = true});
}

static void
polite_fifo(struct sim_world *world)
{
    set_up(world,
            &(struct sim_rt_options){.task_quota_ns = RT_TASK_QUOTA_NS, .order = SIM_ORDER_FIFO},
            (struct worker){.work_ns = RT_TASK_QUOTA_NS / 5, .pieces = 40, .gives_way = true});
}

static void
unwatched(struct sim_world *world)
{
    set_up(world, NULL, (struct worker){.work_ns = RT_TASK_QUOTA_NS, .pieces = 6});
}

/* `scenario` under seeds 0 to 49, each step slow where there is a deadline. */
static void
expect_all(const struct sim_scenario *scenario, enum sim_verdict verdict)
{
    struct lab lab;
    struct sim_options options;
    lab_init(&lab, NULL, 0);
    sim_options_init(&options, scenario);
    options.slow_one_in = 1;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct sim_outcome outcome = lab_judge_with(&lab, scenario, &options, seed, seed == 0);
        EXPECT_STR(sim_verdict_name(outcome.verdict), sim_verdict_name(verdict));
    }
    lab_fini(&lab);
}

/* Holds X8: in the simulator the quota is one of virtual time. Method: 6 pieces of 100 us without
 * a call of rt_need_preempt. */
TEST(quota_overdrawn_in_one_poll_is_over_budget)
{
    static const struct sim_scenario scenario = {.name = "test/hogs", .setup = hogs};
    struct lab lab;
    lab_init(&lab, NULL, 0);
    struct sim_outcome outcome = lab_judge(&lab, &scenario, 0, true);
    EXPECT_STR(outcome.message, "a poll of task 'worker' took 600000 ns of work, 600000 ns of them "
                                "without heeding its quota of 500000 ns");
    EXPECT_STR(outcome.actor_name, "worker");
    EXPECT_EQ(outcome.fail_step, 1);
    lab_fini(&lab);
    expect_all(&scenario, SIM_VERDICT_OVER_BUDGET);
}

static rt_poll
deaf_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct worker *worker = rt_container_of(task, struct worker, task);
    while (worker->pieces > 0) {
        (void)rt_need_preempt(cx);
        sim_work(worker->world, worker->work_ns);
        worker->pieces--;
    }
    return RT_READY;
}

static void
deaf(struct sim_world *world)
{
    struct sim_rt_options options = {.task_quota_ns = RT_TASK_QUOTA_NS};
    struct sim_rt *rt = sim_rt_new(world, &options);
    struct worker *worker = sim_new(world, struct worker);
    *worker = (struct worker){.work_ns = RT_TASK_QUOTA_NS / 5, .pieces = 11, .world = world};
    rt_task_init(&worker->task, deaf_poll, NULL, "worker");
    sim_spawn(rt, &worker->task);
}

/* Goal: after rt_need_preempt has returned true the task has to yield. */
TEST(quota_asked_for_and_not_heeded_is_over_budget)
{
    static const struct sim_scenario scenario = {.name = "test/deaf", .setup = deaf};
    expect_all(&scenario, SIM_VERDICT_OVER_BUDGET);
}

/* Goal: no false alarm. Method: tasks that ask before each piece, with every step slow by up
 * to a quota, which the simulator adds. */
TEST(quota_kept_by_asking_is_no_verdict_whatever_a_slow_adds)
{
    static const struct sim_scenario any = {.name = "test/polite", .setup = polite};
    static const struct sim_scenario fifo = {.name = "test/polite-fifo", .setup = polite_fifo};
    expect_all(&any, SIM_VERDICT_PASS);
    expect_all(&fifo, SIM_VERDICT_PASS);
}

/* Goal: without a quota there is no verdict. */
TEST(quota_not_set_is_not_checked)
{
    static const struct sim_scenario scenario = {.name = "test/unwatched", .setup = unwatched};
    expect_all(&scenario, SIM_VERDICT_PASS);
}

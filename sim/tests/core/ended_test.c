/*
 * ended_test.c -- a run is over when its last task has ended, in any actor's step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "sim/tests/lab.h"

#define SEEDS 300u

/* How many of SEEDS runs do not pass. */
static uint32_t
failures(const struct sim_scenario *scenario, uint64_t faults)
{
    struct sim_scenario brave = *scenario;
    brave.survives = faults;
    struct lab *lab = calloc(1, sizeof(*lab));
    lab_init(lab, NULL, 0xa5);
    uint32_t failed = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        failed += lab_judge(lab, &brave, seed, false).verdict != SIM_VERDICT_PASS;
    }
    lab_fini(lab);
    free(lab);
    return failed;
}

struct stopped {
    struct rt_task task;
    struct rt_slot stop;
};

static rt_poll
sleep_until_cancelled(struct rt_task *task, struct rt_cx *cx)
{
    struct stopped *stopped = rt_container_of(task, struct stopped, task);
    rt_slot_replace(&stopped->stop, cx, "a call to stop");
    return RT_PENDING;
}

static void
cancel_later(struct sim_world *world, void *argument)
{
    struct stopped *stopped = argument;
    sim_sleep(world, 1 * RT_MS);
    rt_task_cancel(&stopped->task);
}

static void
stopped_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct stopped *stopped = sim_new(world, struct stopped);
    rt_slot_init(&stopped->stop);
    rt_task_init(&stopped->task, sleep_until_cancelled, NULL, "waiter");
    sim_spawn(rt, &stopped->task);
    (void)sim_loop_new(world, "operator", cancel_later, stopped);
}

static const struct sim_scenario stopped_scenario = {
        .name = "test/stopped", .setup = stopped_setup};

/*
 * Goal: a run is over when its last task has ended, by any actor.
 * Method: an operator's loop cancels the only one, and no task is polled after that: no deadlock.
 */
TEST(cancel_by_an_actor_that_is_no_task_ends_the_run)
{
    EXPECT_EQ(failures(&stopped_scenario, 0), 0);
}

/* A timer wakes a child; inside that wake the parent ends, and with it the child. The step is the
 * loop's. */
struct family {
    struct rt_task parent;
    struct rt_task child;
    struct rt_sleep sleep;
};

static rt_poll
parent_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct family *family = rt_container_of(task, struct family, parent);
    return rt_task_join(&family->child, cx);
}

static void
parent_cleanup(struct rt_task *task)
{
    rt_task_cancel(&rt_container_of(task, struct family, parent)->child);
}

static rt_poll
child_poll(struct rt_task *task, struct rt_cx *cx)
{
    return rt_sleep_poll(&rt_container_of(task, struct family, child)->sleep, cx);
}

static void
child_cleanup(struct rt_task *task)
{
    rt_sleep_cancel(&rt_container_of(task, struct family, child)->sleep);
}

static void
family_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct family *family = sim_new(world, struct family);
    rt_sleep_init(&family->sleep, 1 * RT_MS);
    rt_task_init(&family->parent, parent_poll, parent_cleanup, "parent");
    rt_task_init(&family->child, child_poll, child_cleanup, "child");
    sim_spawn(rt, &family->child);
    sim_spawn(rt, &family->parent);
}

static const struct sim_scenario family_scenario = {.name = "test/family", .setup = family_setup};

/* Goal: as above, where a fault inside a timer's wake ends a task, and its cleanup another. */
TEST(cancel_inside_a_timers_wake_ends_the_run)
{
    EXPECT_EQ(failures(&family_scenario, SIM_FAULT_CANCEL | SIM_FAULT_REENTRANCY), 0);
}

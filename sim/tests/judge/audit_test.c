/*
 * audit_test.c -- which quiescences are audited, and what counts as the same wait.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "sim/tests/lab.h"

#define ROUNDS 4u

/* A clock that strikes ROUNDS times, and a reader who is told of the strike before the last only
 * with the last one. */
struct story {
    struct rt_task bell;
    struct rt_task reader;
    struct rt_sleep sleep;
    struct rt_slot slot;
    uint32_t struck;
    uint32_t read;
};

static rt_poll
bell_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, bell);
    while (story->struck < ROUNDS) {
        RT_AWAIT(rt_sleep_poll(&story->sleep, cx));
        rt_sleep_init(&story->sleep, RT_MS);
        if (++story->struck != ROUNDS - 1) {
            (void)rt_slot_wake(&story->slot);
        }
    }
    return RT_READY;
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, reader);
    if (story->read < story->struck) {
        story->read = story->struck;
        SIM_PROGRESS();
    }
    if (story->read == ROUNDS) {
        return RT_READY;
    }
    rt_slot_replace(&story->slot, cx, "the next strike");
    return RT_PENDING;
}

static void
strikes(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct story *story = sim_new(world, struct story);
    rt_slot_init(&story->slot);
    rt_sleep_init(&story->sleep, RT_MS);
    rt_task_init(&story->bell, bell_poll, NULL, "bell");
    rt_task_init(&story->reader, reader_poll, NULL, "reader");
    sim_spawn(rt, &story->bell);
    sim_spawn(rt, &story->reader);
}

/*
 * Goal: `audit_one_in=1` is each quiescence, not the first of each run.
 * Method: what is late is late at the third quiescence only, on the baseline run.
 */
TEST(audit_of_each_quiescence_sees_the_late_one)
{
    static const struct sim_scenario scenario = {.name = "test/strikes", .setup = strikes};
    struct lab *lab = calloc(1, sizeof(*lab));
    lab_init(lab, NULL, 0xa5);
    struct sim_options options;
    sim_options_init(&options, &scenario);
    options.audit_one_in = 0;
    EXPECT_EQ(lab_judge_with(lab, &scenario, &options, 0, true).verdict, SIM_VERDICT_PASS);
    options.audit_one_in = 1;
    options.spurious_one_in = 0;
    options.slow_one_in = 0;
    struct sim_outcome outcome = lab_judge_with(lab, &scenario, &options, 0, false);
    EXPECT_STR(sim_verdict_name(outcome.verdict), "late-wakeup");
    EXPECT_STR(outcome.actor_name, "reader");
    EXPECT_EQ(outcome.fail_ns / RT_MS, ROUNDS - 1);
    lab_fini(lab);
    free(lab);
}

/* ---- One wait, polled at two lines. ---------------------------------------------------------- */

struct waiter {
    struct rt_task task;
    struct rt_slot slot;
    bool begun;
};

static rt_poll
waiter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct waiter *waiter = rt_container_of(task, struct waiter, task);
    if (!waiter->begun) {
        waiter->begun = true;
        rt_slot_replace(&waiter->slot, cx, "a guest");
        return RT_PENDING;
    }
    rt_slot_replace(&waiter->slot, cx, "a guest");
    return RT_PENDING;
}

static void
waits(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct waiter *waiter = sim_new(world, struct waiter);
    rt_slot_init(&waiter->slot);
    rt_task_init(&waiter->task, waiter_poll, NULL, "host");
    sim_spawn(rt, &waiter->task);
}

/*
 * Goal: no false alarm. A blocked task that stores again for the same, from another line of its
 * poll function, has not moved: it is a deadlock, and no wake was lost.
 */
TEST(audit_wait_stored_from_another_line_is_the_same_wait)
{
    static const struct sim_scenario scenario = {.name = "test/waits", .setup = waits};
    struct lab *lab = calloc(1, sizeof(*lab));
    lab_init(lab, NULL, 0xa5);
    struct sim_outcome outcome = lab_judge(lab, &scenario, 0, true);
    EXPECT_STR(sim_verdict_name(outcome.verdict), "deadlock");
    lab_fini(lab);
    free(lab);
}

/* ---- A poll that brings much forward. -------------------------------------------------------- */

#define WORK 1000u

/* Its first poll arms a slow timer, any other one a fast timer as well; whichever comes first, it
 * then works. A spurious poll brings all of the work forward, at any time. */
struct hedger {
    struct rt_task task;
    struct rt_sleep slow;
    struct rt_sleep fast;
    uint32_t polls;
    uint32_t worked;
};

static bool
is_due(struct hedger *hedger, struct rt_cx *cx)
{
    bool slow = rt_sleep_poll(&hedger->slow, cx) == RT_READY;
    return slow || (hedger->polls++ > 0 && rt_sleep_poll(&hedger->fast, cx) == RT_READY);
}

static rt_poll
hedger_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct hedger *hedger = rt_container_of(task, struct hedger, task);
    if (hedger->worked == 0 && !is_due(hedger, cx)) {
        return RT_PENDING;
    }
    SIM_PROGRESS();
    if (++hedger->worked < WORK) {
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    rt_sleep_cancel(&hedger->slow);
    rt_sleep_cancel(&hedger->fast);
    return RT_READY;
}

static void
hedges(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct hedger *hedger = sim_new(world, struct hedger);
    rt_sleep_init(&hedger->slow, 50 * RT_MS);
    rt_sleep_init(&hedger->fast, RT_MS);
    rt_task_init(&hedger->task, hedger_poll, NULL, "hedger");
    sim_spawn(rt, &hedger->task);
}

/*
 * Goal: what an audit replays does not grow with what is gained in it.
 * Method: the counter of steps, which replays move too. With a placebo for each gain it moves by
 * WORK steps WORK times.
 */
TEST(audit_makes_one_placebo_for_all_that_comes_earlier)
{
    static const struct sim_scenario scenario = {.name = "test/hedges", .setup = hedges};
    struct lab *lab = calloc(1, sizeof(*lab));
    volatile uint64_t steps = 0;
    lab_init(lab, NULL, 0xa5);
    lab->world.progress = &steps;
    struct sim_outcome outcome = lab_judge(lab, &scenario, 0, true);
    EXPECT_STR(sim_verdict_name(outcome.verdict), "pass");
    EXPECT(outcome.steps > WORK);
    EXPECT(steps > 3 * WORK);  /* It was compared, … */
    EXPECT(steps < 20 * WORK); /* … once. */
    lab_fini(lab);
    free(lab);
}

/* Who states that a wake is lost has also stated that it may come late, and nothing else. */
TEST(audit_verdict_late_fits_one_that_is_lost)
{
    EXPECT(sim_verdict_fits(SIM_VERDICT_LOST_WAKEUP, SIM_VERDICT_LATE_WAKEUP));
    EXPECT(!sim_verdict_fits(SIM_VERDICT_LATE_WAKEUP, SIM_VERDICT_LOST_WAKEUP));
    EXPECT(!sim_verdict_fits(SIM_VERDICT_LOST_WAKEUP, SIM_VERDICT_DEADLOCK));
    EXPECT(sim_verdict_fits(SIM_VERDICT_LEAK, SIM_VERDICT_LEAK));
}

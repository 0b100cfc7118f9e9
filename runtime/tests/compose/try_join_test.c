/*
 * try_join_test.c -- waiting for all of several futures, or for the first that fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/try_join.h"
#include "runtime/tests/compose/kids.h"

#define KIDS 3u

struct venture {
    struct rt_task task;
    bool done;
    struct rt_try_join join;
    struct rt_child children[KIDS];
    const rt_err *errors[KIDS];
    struct kid kids[KIDS];
};

static struct venture venture;

static rt_poll
venture_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct venture *one = rt_container_of(task, struct venture, task);
    say('|');
    RT_AWAIT(rt_try_join_poll(&one->join, cx));
    say('.');
    one->done = true;
    return RT_READY;
}

static void
venture_init(uint32_t count)
{
    venture = (struct venture){.done = false};
    kids_init(venture.kids, venture.children, KIDS);
    for (uint32_t i = 0; i < KIDS; i++) {
        venture.errors[i] = &venture.kids[i].err;
    }
    rt_try_join_init(&venture.join, venture.children, venture.errors, count);
    rt_task_init(&venture.task, venture_poll, NULL, "venture");
}

/* The tutorial. Holds J1, J2: without a failure it is a join. */
TEST(try_join_without_a_failure_is_ready_with_the_last)
{
    venture_init(3);
    venture.errors[0] = NULL; /* One that cannot fail. */
    venture.kids[0].ready = true;
    EXPECT_EQ(clockwork_post(&clockwork, &venture.task), 1);
    EXPECT_SAID("|Abc");
    kid_wake(&venture.kids[2], true);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|C");
    kid_wake(&venture.kids[1], true);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|B.");
    EXPECT_EQ(venture.join.err, RT_OK);
    EXPECT_EQ(targets_open(), 0);
}

/* Holds J8: the first failure ends it; the unfinished are dropped, in index order, before it
 * answers, and the children after the failed one are not polled. */
TEST(try_join_that_fails_drops_the_rest_before_it_answers)
{
    venture_init(3);
    venture.kids[1].ready = true;
    venture.kids[1].err = RT_E_CLOSED;
    EXPECT_EQ(clockwork_post(&clockwork, &venture.task), 1);
    EXPECT_SAID("|aB-a-c.");
    EXPECT_EQ(venture.join.err, RT_E_CLOSED);
    EXPECT_EQ(venture.join.failed, 1);
    EXPECT_EQ(targets_open(), 0);
}

/* Holds J8: later, with one that has succeeded, which is not dropped; the drops wake no task. */
TEST(try_join_that_fails_later_drops_only_unfinished_children)
{
    venture_init(3);
    venture.kids[0].ready = true;
    EXPECT_EQ(clockwork_post(&clockwork, &venture.task), 1);
    EXPECT_SAID("|Abc");
    venture.kids[2].err = RT_E_LIMIT;
    kid_wake(&venture.kids[2], true);
    uint64_t wakes = clockwork.runtime.executor.counters.wakes;
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|C-b.");
    EXPECT_EQ(venture.join.err, RT_E_LIMIT);
    EXPECT_EQ(venture.join.failed, 2);
    EXPECT_EQ(clockwork.runtime.executor.counters.wakes, wakes);
}

/* Holds J8: of two that fail in one poll, the first in argument order. */
TEST(try_join_of_two_failures_reports_the_first)
{
    venture_init(3);
    EXPECT_EQ(clockwork_post(&clockwork, &venture.task), 1);
    venture.kids[1].err = RT_E_CLOSED;
    venture.kids[2].err = RT_E_LIMIT;
    kid_wake(&venture.kids[2], true);
    kid_wake(&venture.kids[1], true);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|abc|B-a-c.");
    EXPECT_EQ(venture.join.err, RT_E_CLOSED);
}

/* Holds J2. */
TEST(try_join_without_children_is_ready_at_once)
{
    venture_init(0);
    rt_try_join_init(&venture.join, NULL, NULL, 0);
    EXPECT_EQ(clockwork_post(&clockwork, &venture.task), 1);
    EXPECT_SAID("|.");
    EXPECT_EQ(venture.join.err, RT_OK);
}

TEST(try_join_dropped_drops_the_unfinished_in_order)
{
    venture_init(3);
    venture.kids[1].ready = true;
    EXPECT_EQ(clockwork_post(&clockwork, &venture.task), 1);
    EXPECT_SAID("|aBc");
    rt_try_join_drop(&venture.join);
    rt_try_join_drop(&venture.join);
    EXPECT_SAID("-a-c");
    EXPECT_EQ(clockwork_run(&clockwork), 0);
    EXPECT_EQ(targets_open(), 1); /* The task. */
}

static rt_poll
careless_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct venture *one = rt_container_of(task, struct venture, task);
    EXPECT_EQ(rt_try_join_poll(&one->join, cx), RT_READY);
    EXPECT_FAULT(RT_E_FINISHED, rt_try_join_poll(&one->join, cx));
    EXPECT_FAULT(RT_E_FINISHED, rt_future_poll(&one->join.future, cx));
    return RT_READY;
}

/* Holds T20. */
TEST(try_join_polled_after_its_end_is_a_fault)
{
    venture_init(1);
    venture.kids[0].ready = true;
    venture.kids[0].err = RT_E_CLOSED;
    rt_task_init(&venture.task, careless_poll, NULL, "careless");
    EXPECT_EQ(clockwork_post(&clockwork, &venture.task), 1);
}

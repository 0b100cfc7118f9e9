/*
 * callback_test.c -- functions that are called later, once for each post.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/callback.h"

#include "runtime/tests/bed.h"
#include "runtime/tests/time/clockwork.h"

struct counter {
    struct rt_callback callback;
    struct rt_executor *executor;
    uint32_t calls;
    uint32_t again; /* So many more posts from inside the call. */
    rt_err status;
};

static void
count(void *argument, rt_err status)
{
    struct counter *counter = argument;
    counter->calls++;
    counter->status = status;
    if (counter->again > 0) {
        counter->again--;
        EXPECT_EQ(rt_callback_post(counter->executor, &counter->callback), RT_OK);
    }
}

static void
counter_init(struct counter *counter, struct rt_executor *executor)
{
    *counter = (struct counter){.executor = executor, .status = RT_E_AGAIN};
    rt_callback_init(&counter->callback, count, counter, NULL);
}

/* Holds T2, T10: never inline, once, and it may post itself again. */
TEST(callback_is_called_once_for_each_post)
{
    struct bed bed;
    struct counter counter;
    bed_init(&bed);
    counter_init(&counter, &bed.executor);
    EXPECT_EQ(rt_callback_post(&bed.executor, &counter.callback), RT_OK);
    EXPECT_EQ(rt_callback_post(&bed.executor, &counter.callback), RT_E_POSTED);
    EXPECT_EQ(counter.calls, 0);
    counter.again = 2;
    EXPECT_EQ(bed_run(&bed), 3);
    EXPECT_EQ(counter.calls, 3);
    EXPECT_EQ(counter.status, RT_OK);
    EXPECT_EQ(bed_run(&bed), 0);
}

/* Holds T15: the call comes with the cancel, and its status says so. */
TEST(callback_that_is_cancelled_is_called_with_that)
{
    struct bed bed;
    struct counter counter;
    bed_init(&bed);
    counter_init(&counter, &bed.executor);
    EXPECT_EQ(rt_callback_post(&bed.executor, &counter.callback), RT_OK);
    rt_callback_cancel(&counter.callback);
    rt_callback_cancel(&counter.callback);
    EXPECT_EQ(counter.calls, 1);
    EXPECT_EQ(counter.status, RT_E_CANCELLED);
    EXPECT_EQ(bed_run(&bed), 0);
}

/* Holds M1, T9: after its delay; cancelled before, its timer is given back. */
TEST(callback_is_called_after_its_delay)
{
    struct clockwork clockwork;
    struct counter counter;
    clockwork_init(&clockwork, 1);
    struct rt_executor *executor = &clockwork.runtime.executor;
    counter_init(&counter, executor);
    EXPECT_EQ(rt_callback_post_after(executor, &counter.callback, 100), RT_OK);
    (void)clockwork_run(&clockwork);
    EXPECT_EQ(rt_callback_post_after(executor, &counter.callback, 5), RT_E_POSTED);
    (void)clockwork_at(&clockwork, 99);
    EXPECT_EQ(counter.calls, 0);
    (void)clockwork_at(&clockwork, 100);
    EXPECT_EQ(counter.calls, 1);
    EXPECT_EQ(rt_callback_post_after(executor, &counter.callback, 100), RT_OK);
    (void)clockwork_run(&clockwork);
    EXPECT_EQ(clockwork.runtime.timers.armed, 1);
    rt_callback_cancel(&counter.callback);
    EXPECT_EQ(clockwork.runtime.timers.armed, 0);
    EXPECT_EQ(counter.calls, 2);
    EXPECT_EQ(counter.status, RT_E_CANCELLED);
}

/*
 * stream_test.c -- polling a stream to its end, dropping it before; a future as a stream.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/stream.h"
#include "runtime/tests/test.h"
#include "runtime/tests/time/clockwork.h"

static struct clockwork clockwork;

/* A stream of the numbers below `until`; it sleeps before each while `sleepy`. */
struct counter {
    struct rt_stream stream;
    struct rt_slot slot;
    uint32_t numbers[8];
    uint32_t next;
    uint32_t until;
    bool sleepy;
    bool parks;
    uint32_t drops;
};

static rt_poll
counter_poll(struct rt_stream *stream, struct rt_cx *cx, void **ret_item)
{
    struct counter *counter = rt_container_of(stream, struct counter, stream);
    if (counter->parks) {
        return rt_cx_park(cx);
    }
    if (counter->sleepy) {
        rt_slot_replace(&counter->slot, cx, "a number");
        return RT_PENDING;
    }
    if (counter->next < counter->until) {
        counter->numbers[counter->next] = counter->next;
        *ret_item = &counter->numbers[counter->next];
        counter->next += 1;
    }
    return RT_READY;
}

/* Re-enters its caller, which must not matter. */
static void
counter_drop(struct rt_stream *stream)
{
    struct counter *counter = rt_container_of(stream, struct counter, stream);
    counter->drops += 1;
    rt_stream_drop(stream);
    (void)rt_slot_clear(&counter->slot);
}

static void
counter_init(struct counter *counter, uint32_t until, rt_stream_drop_fn drop)
{
    *counter = (struct counter){.until = until};
    rt_slot_init(&counter->slot);
    rt_stream_init(&counter->stream, counter_poll, drop, "counter");
}

static rt_poll
no_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    return RT_READY;
}

/* Polls `stream` for a task that is not posted. */
static rt_poll
poll_by_hand(struct rt_stream *stream, void **ret_item)
{
    static struct rt_task task;
    struct rt_cx cx;
    rt_task_init(&task, no_poll, NULL, "by hand");
    rt_cx_init(&cx, &clockwork.runtime.executor, &task, rt_waker_noop());
    rt_poll answer = rt_stream_poll(stream, &cx, ret_item);
    rt_cx_poison(&cx);
    return answer;
}

/* Holds T20: items, then the end, then nothing any more; PENDING leaves the item alone. */
TEST(stream_is_polled_to_its_end_and_never_again)
{
    struct counter counter;
    void *item = &clockwork;
    clockwork_init(&clockwork, 0);
    counter_init(&counter, 2, counter_drop);
    counter.sleepy = true;
    EXPECT_EQ(poll_by_hand(&counter.stream, &item), RT_PENDING);
    EXPECT(item == &clockwork);
    counter.sleepy = false;
    for (uint32_t i = 0; i < 2; i++) {
        EXPECT_EQ(poll_by_hand(&counter.stream, &item), RT_READY);
        EXPECT_EQ(*(uint32_t *)item, i);
    }
    EXPECT_EQ(poll_by_hand(&counter.stream, &item), RT_READY);
    EXPECT(item == NULL);
    EXPECT_FAULT(RT_E_FINISHED, poll_by_hand(&counter.stream, &item));
    EXPECT_STR(test_trap.who, "counter");
    rt_stream_drop(&counter.stream);
    EXPECT_EQ(counter.drops, 0);
}

/* Holds T20: also when it was dropped, and `drop` is called once although it re-enters. */
TEST(stream_dropped_is_dropped_once_and_never_polled_again)
{
    struct counter counter;
    void *item = NULL;
    clockwork_init(&clockwork, 0);
    counter_init(&counter, 2, counter_drop);
    counter.sleepy = true;
    EXPECT_EQ(poll_by_hand(&counter.stream, &item), RT_PENDING);
    rt_stream_drop(&counter.stream);
    rt_stream_drop(&counter.stream);
    EXPECT_EQ(counter.drops, 1);
    EXPECT(rt_slot_empty(&counter.slot));
    EXPECT_FAULT(RT_E_FINISHED, poll_by_hand(&counter.stream, &item));
}

TEST(stream_without_a_drop_function_can_be_dropped)
{
    struct counter counter;
    void *item = NULL;
    clockwork_init(&clockwork, 0);
    counter_init(&counter, 2, NULL);
    rt_stream_drop(&counter.stream);
    EXPECT_FAULT(RT_E_FINISHED, poll_by_hand(&counter.stream, &item));
}

TEST(stream_that_parks_is_a_fault)
{
    struct counter counter;
    void *item = NULL;
    clockwork_init(&clockwork, 0);
    counter_init(&counter, 2, NULL);
    counter.parks = true;
    EXPECT_FAULT(RT_E_INVALID, poll_by_hand(&counter.stream, &item));
}

TEST(stream_never_made_is_a_fault)
{
    struct counter counter = {.until = 2};
    void *item = NULL;
    clockwork_init(&clockwork, 0);
    EXPECT_FAULT(RT_E_INVALID, poll_by_hand(&counter.stream, &item));
}

/* Holds T20: the future is polled until it is ready, and never after. */
TEST(once_yields_its_future_once_and_ends)
{
    struct rt_sleep_future sleep;
    struct rt_once once;
    void *item = NULL;
    clockwork_init(&clockwork, 0);
    rt_sleep_future_init(&sleep, 10);
    rt_once_init(&once, &sleep.future);
    EXPECT_EQ(poll_by_hand(&once.stream, &item), RT_PENDING);
    (void)rt_slot_clear(&sleep.sleep.timer.slot);
    EXPECT_EQ(clockwork_at(&clockwork, 10), 0);
    EXPECT_EQ(poll_by_hand(&once.stream, &item), RT_READY);
    EXPECT(item == &sleep.future);
    EXPECT_EQ(poll_by_hand(&once.stream, &item), RT_READY);
    EXPECT(item == NULL);
    rt_timers_fini(&clockwork.runtime.timers);
}

TEST(once_dropped_drops_its_future)
{
    struct rt_sleep_future sleep;
    struct rt_once once;
    void *item = NULL;
    clockwork_init(&clockwork, 0);
    rt_sleep_future_init(&sleep, 10);
    rt_once_init(&once, &sleep.future);
    EXPECT_EQ(poll_by_hand(&once.stream, &item), RT_PENDING);
    rt_stream_drop(&once.stream);
    EXPECT_EQ(clockwork.runtime.timers.armed, 0);
    rt_timers_fini(&clockwork.runtime.timers);
}

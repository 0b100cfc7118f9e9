/*
 * task_end_test.c -- how a task ends: by itself, cancelled, released; and what is left of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/task.h"

#include <stdlib.h>

#include "runtime/tests/bed.h"

struct ender {
    struct rt_task task;
    struct rt_executor *executor;
    struct rt_slot slot;
    struct rt_waker waker;
    unsigned cleanups;
    rt_poll answer;
};

static rt_poll
ender_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct ender *ender = rt_container_of(task, struct ender, task);
    EXPECT_EQ(rt_slot_store(&ender->slot, cx, "x"), RT_OK);
    if (rt_waker_is_null(&ender->waker)) {
        ender->waker = rt_waker_clone(rt_cx_waker(cx));
    }
    return ender->answer;
}

/* Everything is done when cleanup is called; and afterwards the task is not read. */
static void
ender_cleanup(struct rt_task *task)
{
    struct ender *ender = rt_container_of(task, struct ender, task);
    EXPECT_EQ(task->state, RT_TASK_UNPOSTED);
    EXPECT(task->end != RT_TASK_NOT_ENDED);
    EXPECT(rt_slot_empty(&ender->slot));
    EXPECT(rt_list_empty(&task->slots));
    EXPECT_EQ(ender->executor->posted, 0);
    EXPECT_EQ(ender->executor->woken, 0);
    EXPECT(ender->executor->current == NULL);
    rt_waker_wake(&ender->waker);
    EXPECT_EQ(ender->executor->woken, 0);
    ender->cleanups++;
    memset(task, 0xff, sizeof(*task));
}

static void
ender_start(struct ender *ender, struct bed *bed, rt_poll answer)
{
    memset(ender, 0, sizeof(*ender));
    rt_task_init(&ender->task, ender_poll, ender_cleanup, "ender");
    rt_slot_init(&ender->slot);
    ender->executor = &bed->executor;
    ender->answer = answer;
    EXPECT_EQ(rt_post(&bed->executor, &ender->task), RT_OK);
}

/* Holds T9. */
TEST(task_is_out_of_everything_before_cleanup)
{
    struct bed bed;
    bed_init(&bed);
    struct ender ender;
    ender_start(&ender, &bed, RT_READY);
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(ender.cleanups, 1);
    ender_start(&ender, &bed, RT_PENDING);
    (void)bed_run(&bed);
    rt_task_cancel(&ender.task);
    EXPECT_EQ(ender.cleanups, 1);
    rt_executor_fini(&bed.executor);
}

struct phoenix {
    struct rt_task task;
    struct rt_executor *next;
    unsigned polls;
    unsigned lives;
};

static rt_poll
phoenix_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)cx;
    rt_container_of(task, struct phoenix, task)->polls++;
    return RT_READY;
}

static void
phoenix_cleanup(struct rt_task *task)
{
    struct phoenix *phoenix = rt_container_of(task, struct phoenix, task);
    if (phoenix->lives-- == 0) {
        return;
    }
    if (phoenix->lives % 2 == 0) {
        rt_task_init(task, phoenix_poll, phoenix_cleanup, "again");
    }
    EXPECT_EQ(rt_post(phoenix->next, task), RT_OK);
}

/* Holds T10. */
TEST(task_may_be_posted_again_from_its_cleanup)
{
    struct bed bed;
    bed_init(&bed);
    struct phoenix phoenix = {.next = &bed.executor, .lives = 4};
    rt_task_init(&phoenix.task, phoenix_poll, phoenix_cleanup, "first");
    EXPECT_EQ(rt_post(&bed.executor, &phoenix.task), RT_OK);
    EXPECT_EQ(bed_run(&bed), 5);
    EXPECT_EQ(phoenix.polls, 5);
    EXPECT_EQ(bed.executor.counters.completed, 5);
}

/* Holds T10. */
TEST(task_may_be_posted_to_another_executor_after_its_end)
{
    struct bed bed;
    struct bed elsewhere;
    bed_init(&bed);
    bed_init(&elsewhere);
    struct phoenix phoenix = {.next = &elsewhere.executor, .lives = 1};
    rt_task_init(&phoenix.task, phoenix_poll, phoenix_cleanup, "p");
    EXPECT_EQ(rt_post(&bed.executor, &phoenix.task), RT_OK);
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(elsewhere.executor.posted, 1);
    EXPECT_EQ(bed_run(&elsewhere), 1);
    EXPECT_EQ(phoenix.polls, 2);
}

static void
free_it(struct rt_task *task)
{
    free(task);
}

static rt_poll
ready_at_once(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    return RT_READY;
}

/* Holds T10. Under asan any later use is seen. */
TEST(task_may_be_freed_in_its_cleanup)
{
    struct bed bed;
    bed_init(&bed);
    for (int i = 0; i < 2; i++) {
        struct rt_task *task = malloc(sizeof(*task));
        ck_assert_ptr_nonnull(task);
        rt_task_init(task, ready_at_once, free_it, "heap");
        EXPECT_EQ(rt_post(&bed.executor, task), RT_OK);
        if (i == 0) {
            EXPECT_EQ(bed_run(&bed), 1);
        } else {
            rt_task_cancel(task);
        }
    }
    rt_executor_fini(&bed.executor);
}

/* Holds T11. */
TEST(task_ended_while_posted_is_a_fault)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "mine", "s.!");
    EXPECT_FAULT(RT_E_IN_USE, rt_task_fini(&a.task));
    EXPECT_STR(test_trap.who, "mine");
    (void)bed_run(&bed);
    EXPECT_FAULT(RT_E_IN_USE, rt_task_fini(&a.task));
    rt_task_cancel(&a.task);
    rt_task_fini(&a.task);
    EXPECT_PANIC(rt_task_wake(&a.task));
}

/* Holds T15. */
TEST(task_cancelled_while_asleep_ends_at_once)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "s.!");
    (void)bed_run(&bed);
    rt_task_cancel(&a.task);
    EXPECT_EQ(a.task.end, RT_TASK_CANCELLED);
    EXPECT_EQ(a.cleanups, 1);
    EXPECT(rt_slot_empty(&a.slot));
    rt_task_cancel(&a.task);
    EXPECT_EQ(a.cleanups, 1);
    EXPECT_EQ(bed_run(&bed), 0);
    EXPECT_EQ(bed.executor.counters.cancelled, 1);
}

/* Holds T15. The answer of the last poll is thrown away, whatever it is. */
TEST(task_cancelled_by_itself_ends_when_its_poll_returns)
{
    static const char *const scripts[] = {"c!", "c.", "cp", "ccw.", "wc.", "swc!"};
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        for (int mode = 0; mode < 2; mode++) {
            struct bed bed;
            bed_init_self_wake(&bed, mode == 0 ? RT_SELF_WAKE_AFTER_POLL : RT_SELF_WAKE_AT_WAKE);
            struct actor a;
            actor_start(&a, &bed, "a", scripts[i]);
            EXPECT_EQ(bed_run(&bed), 1);
            EXPECT_EQ(a.task.end, RT_TASK_CANCELLED);
            EXPECT_EQ(a.cleanups, 1);
            EXPECT_EQ(bed.executor.counters.completed, 0);
            EXPECT_EQ(bed.executor.counters.cancelled, 1);
            EXPECT_EQ(bed.executor.woken, 0);
        }
    }
}

/* Holds T15, T16. */
TEST(task_cancelled_while_woken_leaves_the_queue)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    struct actor c;
    actor_start(&a, &bed, "a", "!");
    actor_start(&b, &bed, "b", "!");
    actor_start(&c, &bed, "c", "!");
    rt_task_cancel(&b.task);
    memset(&b.task, 0xff, sizeof(b.task));
    rt_executor_audit(&bed.executor);
    EXPECT_EQ(bed_run(&bed), 2);
    EXPECT_STR(bed.log, "~b a ~a c ~c");
}

/* Holds T15, T16. */
TEST(task_cancels_another_from_inside_its_poll)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    actor_start(&a, &bed, "a", "x!");
    actor_start(&b, &bed, "b", "!");
    a.other = &b;
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_STR(bed.log, "a ~b ~a");
}

struct graceful {
    struct rt_task task;
    struct rt_slot slot;
};

static rt_poll
graceful_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct graceful *graceful = rt_container_of(task, struct graceful, task);
    if (rt_task_cancel_asked(task)) {
        return RT_READY;
    }
    rt_slot_replace(&graceful->slot, cx, "something");
    return RT_PENDING;
}

/* Holds T17. */
TEST(task_asked_to_end_ends_by_itself_at_its_next_poll)
{
    struct bed bed;
    bed_init(&bed);
    struct graceful graceful;
    rt_task_init(&graceful.task, graceful_poll, NULL, "graceful");
    rt_slot_init(&graceful.slot);
    EXPECT_EQ(rt_post(&bed.executor, &graceful.task), RT_OK);
    (void)bed_run(&bed);
    rt_task_ask_cancel(&graceful.task);
    EXPECT_EQ(graceful.task.state, RT_TASK_WOKEN);
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(graceful.task.end, RT_TASK_DONE);
    rt_task_ask_cancel(&graceful.task);
    EXPECT_EQ(rt_post(&bed.executor, &graceful.task), RT_OK);
    EXPECT(!rt_task_cancel_asked(&graceful.task));
    (void)bed_run(&bed);
    EXPECT_EQ(graceful.task.state, RT_TASK_SLEEPING);
}

/* Holds T19. */
TEST(task_released_is_cancelled_unless_detached)
{
    struct bed bed;
    bed_init(&bed);
    struct actor owned;
    struct actor detached;
    actor_start(&owned, &bed, "o", "s.!");
    actor_start(&detached, &bed, "d", "s.!");
    rt_task_detach(&detached.task);
    (void)bed_run(&bed);
    rt_task_release(&owned.task);
    rt_task_release(&detached.task);
    EXPECT_EQ(owned.task.end, RT_TASK_CANCELLED);
    EXPECT_EQ(detached.task.state, RT_TASK_SLEEPING);
    rt_task_wake(&detached.task);
    (void)bed_run(&bed);
    EXPECT_EQ(detached.task.end, RT_TASK_DONE);
}

/*
 * task_join_test.c -- what a task leaves behind: its output, and the wake of its joiner.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/task.h"

#include "runtime/tests/bed.h"
#include "runtime/tests/spy.h"

/* Holds T18. */
TEST(task_output_is_taken_once)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "s.!!");
    a.task.output = &bed;
    void *output = NULL;
    EXPECT_EQ(rt_task_take(&a.task, &output), RT_E_AGAIN);
    (void)bed_run(&bed);
    EXPECT_EQ(rt_task_take(&a.task, &output), RT_E_AGAIN);
    EXPECT(output == NULL);
    rt_task_wake(&a.task);
    (void)bed_run(&bed);
    EXPECT_EQ(rt_task_take(&a.task, &output), RT_OK);
    EXPECT(output == &bed);
    EXPECT_EQ(rt_task_take(&a.task, &output), RT_E_TAKEN);
    /* Another life, another output. */
    EXPECT_EQ(rt_post(&bed.executor, &a.task), RT_OK);
    EXPECT_EQ(rt_task_take(&a.task, &output), RT_E_AGAIN);
    (void)bed_run(&bed);
    EXPECT_EQ(rt_task_take(&a.task, &output), RT_OK);
}

/* Holds T18. */
TEST(task_cancelled_has_no_output)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "c!");
    (void)bed_run(&bed);
    void *output = NULL;
    EXPECT_EQ(rt_task_take(&a.task, &output), RT_E_CANCELLED);
    EXPECT_EQ(rt_task_take(&a.task, &output), RT_E_CANCELLED);
}

struct joiner {
    struct rt_task task;
    struct rt_task *joined;
    unsigned polls;
};

static rt_poll
joiner_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct joiner *joiner = rt_container_of(task, struct joiner, task);
    joiner->polls++;
    return rt_task_join(joiner->joined, cx);
}

static void
joiner_start(struct joiner *joiner, struct bed *bed, struct rt_task *joined)
{
    joiner->joined = joined;
    joiner->polls = 0;
    rt_task_init(&joiner->task, joiner_poll, NULL, "joiner");
    EXPECT_EQ(rt_post(&bed->executor, &joiner->task), RT_OK);
}

/* Holds T19. */
TEST(task_joined_wakes_its_joiner_once_at_the_end)
{
    for (int cancel = 0; cancel < 2; cancel++) {
        struct bed bed;
        bed_init(&bed);
        struct actor a;
        struct joiner joiner;
        actor_start(&a, &bed, "a", "s.s.!");
        joiner_start(&joiner, &bed, &a.task);
        (void)bed_run(&bed);
        rt_task_wake(&a.task);
        (void)bed_run(&bed);
        EXPECT_EQ(joiner.polls, 1);
        uint64_t wakes = bed.executor.counters.wakes;
        if (cancel == 1) {
            rt_task_cancel(&a.task);
            EXPECT_EQ(bed.executor.counters.wakes, wakes + 1);
        } else {
            rt_task_wake(&a.task);
        }
        (void)bed_run(&bed);
        EXPECT_EQ(joiner.polls, 2);
        EXPECT_EQ(joiner.task.end, RT_TASK_DONE);
    }
}

/* Holds T19. */
TEST(task_joined_after_its_end_is_ready_at_once)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct joiner joiner;
    actor_start(&a, &bed, "a", "!");
    (void)bed_run(&bed);
    joiner_start(&joiner, &bed, &a.task);
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(joiner.task.end, RT_TASK_DONE);
    EXPECT(rt_slot_empty(&a.task.joiner));
}

/* Holds T19, W11. */
TEST(task_joined_by_a_second_waiter_forgets_the_first)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "s.!");
    (void)bed_run(&bed);
    struct spy first = {0};
    struct spy second = {0};
    struct rt_cx cx;
    rt_cx_init(&cx, &bed.executor, &a.task, spy_waker(&first));
    EXPECT_EQ(rt_task_join(&a.task, &cx), RT_PENDING);
    cx.waker = spy_waker(&second);
    EXPECT_EQ(rt_task_join(&a.task, &cx), RT_PENDING);
    EXPECT_EQ(first.drops, 1);
    EXPECT_EQ(second.clones, 1);
}

static rt_poll
over_at_once(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    return RT_READY;
}

struct afterlife {
    struct rt_task task;
    struct rt_slot pad;
    bool cleaned;
};

static void
afterlife_cleanup(struct rt_task *task)
{
    struct afterlife *afterlife = rt_container_of(task, struct afterlife, task);
    afterlife->cleaned = true;
    memset(task, 0xff, sizeof(*task));
}

static void
check_cleaned(struct spy *spy, char what)
{
    const struct afterlife *afterlife = spy->argument;
    if (what == 'w') {
        EXPECT(afterlife->cleaned);
    }
}

/* Holds T9, W7. A joiner from outside is called when the task may be gone, and not before. */
TEST(task_joiner_is_woken_after_cleanup)
{
    struct bed bed;
    bed_init(&bed);
    struct actor waiter;
    actor_start(&waiter, &bed, "w", "s.");
    (void)bed_run(&bed);
    struct afterlife afterlife = {.cleaned = false};
    rt_task_init(&afterlife.task, over_at_once, afterlife_cleanup, "a");
    EXPECT_EQ(rt_post(&bed.executor, &afterlife.task), RT_OK);
    struct spy spy = {.hook = check_cleaned, .argument = &afterlife};
    struct rt_cx cx;
    rt_cx_init(&cx, &bed.executor, &waiter.task, spy_waker(&spy));
    EXPECT_EQ(rt_task_join(&afterlife.task, &cx), RT_PENDING);
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(spy.wakes, 1);
    EXPECT(spy_balanced(&spy));
}

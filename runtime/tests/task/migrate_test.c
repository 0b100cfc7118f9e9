/*
 * migrate_test.c -- a task continues under another waker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/bed.h"

/* Holds W11, T8: wakers from before do nothing, whatever holds them. */
TEST(migrate_ends_every_waker_handed_out_before)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "ks.s.s!");
    (void)bed_run(&bed);
    EXPECT_EQ(rt_task_migrate(&a.task), RT_OK);
    EXPECT(rt_slot_empty(&a.slot));
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT(!rt_slot_empty(&a.slot));
    /* The clone is of the first life: it is given back, and does nothing. */
    rt_waker_wake(&a.waker);
    EXPECT_EQ(bed_run(&bed), 0);
    EXPECT(rt_slot_wake(&a.slot));
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(a.task.end, RT_TASK_DONE);
    EXPECT_EQ(bed.executor.counters.clones, bed.executor.counters.returned);
}

TEST(migrate_of_a_woken_task_queues_it_once_and_at_the_end)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    actor_start(&a, &bed, "a", "!");
    actor_start(&b, &bed, "b", "!");
    EXPECT_EQ(rt_task_migrate(&a.task), RT_OK);
    EXPECT_EQ(bed_run(&bed), 2);
    EXPECT_STR(bed.log, "b ~b a ~a");
}

static rt_poll
wait_for_other(struct rt_task *task, struct rt_cx *cx)
{
    return rt_task_join(&actor_of(task)->other->task, cx);
}

TEST(migrate_keeps_the_joiner)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    actor_start(&a, &bed, "a", "s.!");
    actor_init(&b, &bed, "b", "");
    b.task.poll = wait_for_other;
    b.other = &a;
    EXPECT_EQ(rt_post(&bed.executor, &b.task), RT_OK);
    (void)bed_run(&bed);
    EXPECT_EQ(rt_task_migrate(&a.task), RT_OK);
    (void)bed_run(&bed);
    EXPECT_EQ(a.task.end, RT_TASK_DONE);
    EXPECT_EQ(b.task.end, RT_TASK_DONE);
}

TEST(migrate_of_a_task_that_is_not_posted_does_nothing)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_init(&a, &bed, "a", "!");
    EXPECT_EQ(rt_task_migrate(&a.task), RT_OK);
    EXPECT_EQ(a.task.state, RT_TASK_UNPOSTED);
    EXPECT_EQ(bed_run(&bed), 0);
}

static rt_poll
migrate_itself(struct rt_task *task, struct rt_cx *cx)
{
    (void)cx;
    EXPECT_FAULT(RT_E_REENTERED, EXPECT_EQ(rt_task_migrate(task), RT_OK));
    return RT_READY;
}

TEST(migrate_of_the_task_that_is_polled_is_a_fault)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_init(&a, &bed, "a", "");
    a.task.poll = migrate_itself;
    EXPECT_EQ(rt_post(&bed.executor, &a.task), RT_OK);
    EXPECT_EQ(bed_run(&bed), 1);
}

/* Holds P2: an entry whose numbers are used up is not given out again. */
TEST(migrate_without_a_number_left_changes_nothing)
{
    struct bed bed;
    bed_init(&bed);
    rt_slab_init_bounded(&bed.executor.targets, bed.entries, 1, 2);
    struct actor a;
    actor_start(&a, &bed, "a", "s.s.!");
    (void)bed_run(&bed);
    EXPECT_EQ(rt_task_migrate(&a.task), RT_OK);
    (void)bed_run(&bed);
    EXPECT_EQ(rt_task_migrate(&a.task), RT_E_FULL);
    EXPECT(!rt_slot_empty(&a.slot));
    EXPECT_EQ(a.task.state, RT_TASK_SLEEPING);
    EXPECT(rt_slot_wake(&a.slot));
    EXPECT_EQ(bed_run(&bed), 1);
}

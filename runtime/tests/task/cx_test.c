/*
 * cx_test.c -- the poll context: what it gives, and for how long.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/cx.h"
#include "runtime/tests/bed.h"
#include "runtime/tests/spy.h"

struct keeper {
    struct rt_task task;
    struct rt_cx *kept;
    struct rt_slot slot;
};

static rt_poll
keep_context(struct rt_task *task, struct rt_cx *cx)
{
    struct keeper *keeper = rt_container_of(task, struct keeper, task);
    keeper->kept = cx;
    rt_cx_check(cx);
    EXPECT(cx->task == task);
    return RT_READY;
}

/* Holds C1. */
TEST(cx_kept_after_its_poll_is_a_fault)
{
    struct bed bed;
    bed_init(&bed);
    static struct keeper keeper;
    rt_task_init(&keeper.task, keep_context, NULL, "keeper");
    rt_slot_init(&keeper.slot);
    EXPECT_EQ(rt_post(&bed.executor, &keeper.task), RT_OK);
    (void)bed_run(&bed);
    EXPECT_FAULT(RT_E_STALE_CONTEXT, rt_cx_check(keeper.kept));
    EXPECT_FAULT(RT_E_STALE_CONTEXT, rt_cx_reenqueue(keeper.kept));
    EXPECT_FAULT(RT_E_STALE_CONTEXT, (void)rt_cx_waker(keeper.kept));
    EXPECT_FAULT(RT_E_STALE_CONTEXT, (void)rt_cx_park(keeper.kept));
    EXPECT_FAULT(RT_E_STALE_CONTEXT, (void)rt_cx_now(keeper.kept));
    EXPECT_FAULT(RT_E_STALE_CONTEXT, rt_slot_replace(&keeper.slot, keeper.kept, "x"));
    EXPECT_FAULT(RT_E_STALE_CONTEXT, rt_wait_never(keeper.kept, &keeper.slot, "x"));
    EXPECT_FAULT(RT_E_STALE_CONTEXT, (void)rt_cx_for_child(keeper.kept, rt_waker_noop()));
    EXPECT_FAULT(RT_E_STALE_CONTEXT, (void)rt_task_join(&keeper.task, keeper.kept));
}

/* Holds C1. */
TEST(cx_poisoned_by_hand_is_a_fault)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "!");
    struct rt_cx cx;
    rt_cx_init(&cx, &bed.executor, &a.task, rt_target_waker(&a.task.target));
    rt_cx_check(&cx);
    rt_cx_poison(&cx);
    EXPECT_FAULT(RT_E_STALE_CONTEXT, rt_cx_check(&cx));
}

/* Holds C2. */
TEST(cx_reenqueue_puts_the_task_after_those_queued_already)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    struct actor c;
    actor_start(&a, &bed, "a", "w.!");
    actor_start(&b, &bed, "b", "!");
    actor_start(&c, &bed, "c", "!");
    (void)bed_run(&bed);
    EXPECT_STR(bed.log, "a b ~b c ~c a ~a");
}

static rt_poll
use_context(struct rt_task *task, struct rt_cx *cx)
{
    struct rt_waker own = rt_target_waker(&task->target);
    EXPECT(cx->task == task);
    EXPECT(cx->executor->current == task);
    EXPECT(rt_waker_will_wake(rt_cx_waker(cx), &own));
    EXPECT(cx->runtime == NULL);
    EXPECT_EQ(rt_cx_now(cx), 0);
    return RT_READY;
}

/* Holds C2. */
TEST(cx_gives_the_task_and_its_waker)
{
    struct bed bed;
    bed_init(&bed);
    struct rt_task task;
    rt_task_init(&task, use_context, NULL, NULL);
    EXPECT_EQ(rt_post(&bed.executor, &task), RT_OK);
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(task.end, RT_TASK_DONE);
    EXPECT(bed.executor.current == NULL);
}

struct parent {
    struct rt_task task;
    struct actor child;
    struct spy spy;
    bool use_spy;
};

static rt_poll
parent_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct parent *parent = rt_container_of(task, struct parent, task);
    bed_log(parent->child.bed, "", task->name);
    if (!parent->use_spy) {
        return rt_task_poll_child(&parent->child.task, cx);
    }
    struct rt_cx of_child = rt_cx_for_child(cx, spy_waker(&parent->spy));
    EXPECT(of_child.task == task);
    rt_poll answer = rt_task_poll_child(&parent->child.task, &of_child);
    rt_cx_poison(&of_child);
    return answer;
}

static void
parent_start(struct parent *parent, struct bed *bed, const char *script)
{
    memset(parent, 0, sizeof(*parent));
    rt_task_init(&parent->task, parent_poll, NULL, "p");
    actor_init(&parent->child, bed, "c", script);
    EXPECT_EQ(rt_post(&bed->executor, &parent->task), RT_OK);
}

/* Holds C3. */
TEST(cx_passed_to_a_child_wakes_the_parent)
{
    struct bed bed;
    bed_init(&bed);
    struct parent parent;
    parent_start(&parent, &bed, "s.w.!");
    (void)bed_run(&bed);
    EXPECT_STR(bed.log, "p c");
    EXPECT(!rt_list_empty(&parent.task.slots));
    EXPECT(rt_list_empty(&parent.child.task.slots));
    EXPECT(rt_slot_wake(&parent.child.slot));
    (void)bed_run(&bed);
    EXPECT_STR(bed.log, "p c p c p c ~c");
    EXPECT_EQ(parent.task.end, RT_TASK_DONE);
    EXPECT_EQ(parent.child.task.end, RT_TASK_DONE);
    EXPECT_EQ(bed.executor.counters.completed, 1);
}

/* Holds C3. */
TEST(cx_with_a_sub_waker_is_what_the_child_stores_and_wakes)
{
    struct bed bed;
    bed_init(&bed);
    struct parent parent;
    parent_start(&parent, &bed, "sw.!");
    parent.use_spy = true;
    (void)bed_run(&bed);
    EXPECT_EQ(parent.spy.by_ref, 1);
    EXPECT_EQ(parent.spy.clones, 1);
    EXPECT_EQ(parent.task.state, RT_TASK_SLEEPING);
    EXPECT(rt_slot_wake(&parent.child.slot));
    EXPECT_EQ(parent.spy.wakes, 1);
    EXPECT_EQ(parent.task.state, RT_TASK_SLEEPING);
}

/* Holds C3, T9. */
TEST(cx_of_a_parent_that_ends_takes_the_childs_slots_along)
{
    struct bed bed;
    bed_init(&bed);
    struct parent parent;
    parent_start(&parent, &bed, "s.!");
    parent.use_spy = true;
    (void)bed_run(&bed);
    rt_task_cancel(&parent.task);
    EXPECT(rt_slot_empty(&parent.child.slot));
    EXPECT_EQ(parent.spy.wakes, 0);
    EXPECT(spy_balanced(&parent.spy));
}

static uint32_t
last_of(void *argument, uint32_t n)
{
    uint32_t *asked = argument;
    *asked += 1;
    return n - 1;
}

/*
 * Goal: the executor's owner makes free choices; without a choose function, and where there is
 * only one, the answer is the default and the function is not called.
 */
TEST(cx_choose_asks_the_executors_choose_function)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "!");
    struct rt_cx cx;
    rt_cx_init(&cx, &bed.executor, &a.task, rt_target_waker(&a.task.target));
    EXPECT_EQ(rt_cx_choose(&cx, 5), 0);
    uint32_t asked = 0;
    bed.executor.choose = last_of;
    bed.executor.choose_argument = &asked;
    EXPECT_EQ(rt_cx_choose(&cx, 5), 4);
    EXPECT_EQ(rt_cx_choose(&cx, 1), 0);
    EXPECT_EQ(asked, 1);
    rt_cx_poison(&cx);
    EXPECT_FAULT(RT_E_STALE_CONTEXT, (void)rt_cx_choose(&cx, 5));
}

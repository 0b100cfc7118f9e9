/*
 * slot_test.c -- which stores are refused, what is kept, and how a slot becomes empty.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/slot.h"
#include "runtime/tests/bed.h"
#include "runtime/tests/spy.h"

/* A task without a life: contexts are made for it by hand, so that a test can poll by itself. */
struct waiter {
    struct rt_task task;
    struct rt_cx cx;
};

static rt_poll
never_polled(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    ck_abort_msg("this task is not there to be polled");
    return RT_PENDING;
}

static void
waiter_init(struct waiter *waiter, struct bed *bed, const char *name)
{
    rt_task_init(&waiter->task, never_polled, NULL, name);
    EXPECT_EQ(rt_post(&bed->executor, &waiter->task), RT_OK);
    rt_cx_init(&waiter->cx, &bed->executor, &waiter->task, rt_target_waker(&waiter->task.target));
}

/* The same waiter, polled with a waker from outside. */
static struct rt_cx
with_spy(const struct waiter *waiter, struct spy *spy)
{
    return rt_cx_for_child(&waiter->cx, spy_waker(spy));
}

static unsigned
slots_of(const struct rt_task *task)
{
    unsigned count = 0;
    rt_list_each(node, &task->slots)
    {
        count++;
    }
    return count;
}

/* Holds W5. */
TEST(slot_empty_stores_and_remembers_why_and_where)
{
    static const struct rt_site site = {"queue.c", "recv", 7, 0, 0, 0, 0};
    static const struct rt_site await = {"user.c", "main", 9, 0, 0, 0, 0};
    struct bed bed;
    bed_init(&bed);
    struct waiter a;
    waiter_init(&a, &bed, "a");
    struct rt_slot slot;
    rt_slot_init(&slot);
    EXPECT(rt_slot_empty(&slot));
    EXPECT_EQ(rt_slot_store_at(&slot, &a.cx, "recv", &site, &await), RT_OK);
    EXPECT(!rt_slot_empty(&slot));
    EXPECT(rt_waker_will_wake(&slot.waker, &a.cx.waker));
    EXPECT_STR(slot.reason, "recv");
    EXPECT(slot.site == &site);
    EXPECT(slot.await == &await);
    EXPECT_EQ(slots_of(&a.task), 1);
}

/* Holds W5. */
TEST(slot_same_task_is_kept_with_the_newer_reason)
{
    struct bed bed;
    bed_init(&bed);
    struct waiter a;
    waiter_init(&a, &bed, "a");
    struct rt_slot slot;
    rt_slot_init(&slot);
    EXPECT_EQ(rt_slot_store(&slot, &a.cx, "first"), RT_OK);
    EXPECT_EQ(rt_slot_store(&slot, &a.cx, "second"), RT_OK);
    EXPECT_STR(slot.reason, "second");
    rt_slot_replace(&slot, &a.cx, "third");
    EXPECT_STR(slot.reason, "third");
    EXPECT_EQ(slots_of(&a.task), 1);
    EXPECT_EQ(bed.executor.counters.clones, 0);
}

/* Holds W5. */
TEST(slot_of_another_task_is_busy_and_unchanged)
{
    struct bed bed;
    bed_init(&bed);
    struct waiter a;
    struct waiter b;
    waiter_init(&a, &bed, "a");
    waiter_init(&b, &bed, "b");
    struct rt_slot slot;
    rt_slot_init(&slot);
    EXPECT_EQ(rt_slot_store(&slot, &a.cx, "of a"), RT_OK);
    EXPECT_EQ(rt_slot_store(&slot, &b.cx, "of b"), RT_E_BUSY);
    EXPECT_STR(slot.reason, "of a");
    EXPECT(rt_waker_will_wake(&slot.waker, &a.cx.waker));
    EXPECT_EQ(slots_of(&a.task), 1);
    EXPECT_EQ(slots_of(&b.task), 0);
}

struct bell {
    struct rt_target target;
    unsigned rings;
};

static void
bell_woken(struct rt_target *target, const struct rt_site *await)
{
    (void)await;
    rt_container_of(target, struct bell, target)->rings++;
}

/* Holds W5, C3. */
TEST(slot_of_a_target_that_is_gone_gives_way)
{
    struct bed bed;
    bed_init(&bed);
    struct waiter a;
    waiter_init(&a, &bed, "a");
    struct bell child = {0};
    EXPECT_EQ(rt_target_open(&child.target, &bed.executor, bell_woken), RT_OK);
    struct rt_cx cx = rt_cx_for_child(&a.cx, rt_target_waker(&child.target));
    struct rt_slot slot;
    rt_slot_init(&slot);
    EXPECT_EQ(rt_slot_store(&slot, &cx, "of the child"), RT_OK);
    EXPECT_EQ(rt_slot_store(&slot, &a.cx, "of the task"), RT_E_BUSY);
    rt_target_close(&child.target);
    EXPECT_EQ(rt_slot_store(&slot, &a.cx, "of the task"), RT_OK);
    EXPECT_STR(slot.reason, "of the task");
    EXPECT_EQ(slots_of(&a.task), 1);
}

/* Holds W6. */
TEST(slot_wake_of_an_empty_one_does_nothing)
{
    struct rt_slot slot;
    rt_slot_init(&slot);
    EXPECT(!rt_slot_wake(&slot));
    EXPECT(!rt_slot_clear(&slot));
    struct rt_waker waker = rt_slot_take(&slot);
    EXPECT(rt_waker_is_null(&waker));
}

/* Holds W6. */
TEST(slot_wake_empties_and_wakes_once)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "s.!");
    (void)bed_run(&bed);
    EXPECT(rt_slot_wake(&a.slot));
    EXPECT(rt_slot_empty(&a.slot));
    EXPECT(rt_list_empty(&a.task.slots));
    EXPECT(!rt_slot_wake(&a.slot));
    EXPECT_EQ(bed.executor.counters.wakes, 1);
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(bed.executor.counters.clones, 0);
    EXPECT_EQ(bed.executor.counters.returned, 0);
}

struct reentry {
    struct rt_slot *slot;
    struct rt_cx *cx;
    bool was_empty;
};

static void
store_again(struct spy *spy, char what)
{
    struct reentry *reentry = spy->argument;
    if (what == 'w') {
        reentry->was_empty = rt_slot_empty(reentry->slot);
        EXPECT_EQ(rt_slot_store(reentry->slot, reentry->cx, "from inside the wake"), RT_OK);
    }
}

/* Holds W6, W7. */
TEST(slot_is_empty_before_the_waker_is_called)
{
    struct bed bed;
    bed_init(&bed);
    struct waiter a;
    waiter_init(&a, &bed, "a");
    struct rt_slot slot;
    rt_slot_init(&slot);
    struct reentry reentry = {&slot, &a.cx, false};
    struct spy spy = {.hook = store_again, .argument = &reentry};
    struct rt_cx cx = with_spy(&a, &spy);
    EXPECT_EQ(rt_slot_store(&slot, &cx, "the spy"), RT_OK);
    EXPECT(rt_slot_wake(&slot));
    EXPECT(reentry.was_empty);
    EXPECT_STR(slot.reason, "from inside the wake");
    EXPECT_EQ(slots_of(&a.task), 1);
    EXPECT(spy_balanced(&spy));
}

/* Holds W1, W6. */
TEST(slot_owns_a_clone_of_a_foreign_waker)
{
    struct bed bed;
    bed_init(&bed);
    struct waiter a;
    waiter_init(&a, &bed, "a");
    struct rt_slot slot;
    rt_slot_init(&slot);
    struct spy spy = {0};
    struct rt_cx cx = with_spy(&a, &spy);
    EXPECT_EQ(rt_slot_store(&slot, &cx, "x"), RT_OK);
    EXPECT_EQ(rt_slot_store(&slot, &cx, "x"), RT_OK);
    EXPECT_EQ(spy.clones, 1);
    EXPECT(rt_slot_wake(&slot));
    EXPECT_EQ(spy.wakes, 1);
    rt_slot_replace(&slot, &cx, "x");
    EXPECT(rt_slot_clear(&slot));
    EXPECT_EQ(spy.drops, 1);
    rt_slot_replace(&slot, &cx, "x");
    struct rt_waker taken = rt_slot_take(&slot);
    EXPECT_EQ(spy.clones, 3);
    EXPECT_EQ(spy.wakes + spy.drops, 2);
    rt_waker_wake(&taken);
    EXPECT(spy_balanced(&spy));
}

/* Holds W8. */
TEST(slot_cleared_or_ended_leaves_its_task)
{
    struct bed bed;
    bed_init(&bed);
    struct waiter a;
    waiter_init(&a, &bed, "a");
    struct rt_slot slots[3];
    for (int i = 0; i < 3; i++) {
        rt_slot_init(&slots[i]);
        EXPECT_EQ(rt_slot_store(&slots[i], &a.cx, "x"), RT_OK);
    }
    EXPECT(rt_slot_clear(&slots[1]));
    EXPECT_EQ(slots_of(&a.task), 2);
    rt_slot_fini(&slots[0]);
    memset(&slots[0], 0xff, sizeof(slots[0]));
    EXPECT_EQ(slots_of(&a.task), 1);
    rt_slot_fini(&slots[2]);
    rt_slot_fini(&slots[2]);
    EXPECT_EQ(slots_of(&a.task), 0);
    EXPECT_EQ(bed.executor.counters.wakes, 0);
    rt_executor_audit(&bed.executor);
}

/* Holds W8, W1. */
TEST(slot_taken_waker_belongs_to_the_taker)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "s.!");
    (void)bed_run(&bed);
    struct rt_waker taken = rt_slot_take(&a.slot);
    EXPECT(rt_slot_empty(&a.slot));
    EXPECT_EQ(a.task.target.clones, 1);
    rt_waker_wake(&taken);
    EXPECT_EQ(a.task.target.clones, 0);
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(bed.executor.counters.clones, bed.executor.counters.returned);
}

/* Holds W11. */
TEST(slot_replaced_wakes_the_last_only)
{
    struct bed bed;
    bed_init(&bed);
    struct waiter a;
    struct waiter b;
    waiter_init(&a, &bed, "a");
    waiter_init(&b, &bed, "b");
    struct spy first = {0};
    struct spy last = {0};
    struct rt_cx of_first = with_spy(&a, &first);
    struct rt_cx of_last = with_spy(&b, &last);
    struct rt_slot slot;
    rt_slot_init(&slot);
    rt_slot_replace(&slot, &of_first, "first");
    rt_slot_replace(&slot, &of_last, "last");
    EXPECT_EQ(slots_of(&a.task), 0);
    EXPECT_EQ(slots_of(&b.task), 1);
    EXPECT_EQ(first.drops, 1);
    EXPECT(rt_slot_wake(&slot));
    EXPECT_EQ(first.wakes, 0);
    EXPECT_EQ(last.wakes, 1);
    EXPECT(spy_balanced(&first));
    EXPECT(spy_balanced(&last));
}

/* Holds W11. A future that is polled by another task, under the same child of a combinator. */
TEST(slot_kept_for_another_task_moves_to_its_list)
{
    struct bed bed;
    bed_init(&bed);
    struct waiter a;
    struct waiter b;
    waiter_init(&a, &bed, "a");
    waiter_init(&b, &bed, "b");
    struct bell child = {0};
    EXPECT_EQ(rt_target_open(&child.target, &bed.executor, bell_woken), RT_OK);
    struct rt_cx under_a = rt_cx_for_child(&a.cx, rt_target_waker(&child.target));
    struct rt_cx under_b = rt_cx_for_child(&b.cx, rt_target_waker(&child.target));
    struct rt_slot slot;
    rt_slot_init(&slot);
    rt_slot_replace(&slot, &under_a, "x");
    rt_slot_replace(&slot, &under_b, "x");
    rt_task_cancel(&a.task);
    EXPECT(!rt_slot_empty(&slot));
    EXPECT(rt_slot_wake(&slot));
    EXPECT_EQ(child.rings, 1);
}

static void
clear_while_dropped(struct spy *spy, char what)
{
    if (what == 'd') {
        (void)rt_slot_clear((struct rt_slot *)spy->argument);
    }
}

/* Holds W7. A foreign waker's drop takes the next slot out of the list that is being emptied. */
TEST(slot_list_is_emptied_though_a_drop_changes_it)
{
    struct bed bed;
    bed_init(&bed);
    struct waiter a;
    waiter_init(&a, &bed, "a");
    struct rt_slot slots[3];
    for (int i = 0; i < 3; i++) {
        rt_slot_init(&slots[i]);
    }
    struct spy spy = {.hook = clear_while_dropped, .argument = &slots[1]};
    struct rt_cx cx = with_spy(&a, &spy);
    EXPECT_EQ(rt_slot_store(&slots[0], &cx, "x"), RT_OK);
    EXPECT_EQ(rt_slot_store(&slots[1], &a.cx, "x"), RT_OK);
    EXPECT_EQ(rt_slot_store(&slots[2], &a.cx, "x"), RT_OK);
    rt_task_cancel(&a.task);
    for (int i = 0; i < 3; i++) {
        EXPECT(rt_slot_empty(&slots[i]));
    }
    EXPECT(spy_balanced(&spy));
}

static void
fill_while_cloned(struct spy *spy, char what)
{
    struct reentry *reentry = spy->argument;
    if (what == 'c') {
        rt_slot_replace(reentry->slot, reentry->cx, "from inside the clone");
    }
}

/* Holds W7. */
TEST(slot_stored_by_a_clone_is_replaced_not_lost)
{
    struct bed bed;
    bed_init(&bed);
    struct waiter a;
    waiter_init(&a, &bed, "a");
    struct rt_slot slot;
    rt_slot_init(&slot);
    struct reentry reentry = {&slot, &a.cx, false};
    struct spy spy = {.hook = fill_while_cloned, .argument = &reentry};
    struct rt_cx cx = with_spy(&a, &spy);
    rt_slot_replace(&slot, &cx, "the spy");
    EXPECT_STR(slot.reason, "the spy");
    EXPECT_EQ(slots_of(&a.task), 1);
    EXPECT(rt_slot_wake(&slot));
    EXPECT_EQ(spy.wakes, 1);
}

TEST(slot_without_init_is_a_fault)
{
    struct rt_slot slot;
    memset(&slot, 0, sizeof(slot));
    EXPECT_FAULT(RT_E_INVALID, rt_slot_wake(&slot));
    EXPECT_FAULT(RT_E_INVALID, rt_slot_clear(&slot));
}

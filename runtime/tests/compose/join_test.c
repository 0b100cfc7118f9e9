/*
 * join_test.c -- waiting for all of several futures: which are polled, in which order, how often.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/compose/join.h"
#include "runtime/tests/compose/kids.h"

#define CHILDREN 3u

struct family {
    struct rt_task task;
    struct rt_join *awaited; /* Its own join, or another's. */
    bool done;
    struct rt_join join;
    struct rt_child members[CHILDREN];
    struct kid children[CHILDREN];
};

static struct family family;

static rt_poll
family_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct family *one = rt_container_of(task, struct family, task);
    say('|');
    RT_AWAIT(rt_join_poll(one->awaited, cx));
    one->done = true;
    return RT_READY;
}

/* A family of `count` children, named from `name` on. */
static void
family_init_as(struct family *one, uint32_t count, char name)
{
    *one = (struct family){.awaited = &one->join};
    for (uint32_t i = 0; i < CHILDREN; i++) {
        kid_init(&one->children[i], (char)(name + (int)i));
        one->members[i].future = &one->children[i].future;
    }
    rt_join_init(&one->join, one->members, count);
    rt_task_init(&one->task, family_poll, NULL, "family");
}

static void
family_init(uint32_t count)
{
    clockwork_init(&clockwork, 0);
    said[0] = 0;
    family_init_as(&family, count, 'a');
}

/* A wake for child `i`, after which it is ready or not. */
static void
wake_child(uint32_t i, bool ready)
{
    kid_wake(&family.children[i], ready);
}

/* The tutorial. Holds J1, J2: every child is polled, whatever is pending, READY when all are. */
TEST(join_polls_every_child_and_is_ready_with_the_last)
{
    family_init(3);
    family.children[1].ready = true;
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 1);
    EXPECT_SAID("|aBc");
    wake_child(2, true);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|C");
    EXPECT(!family.done);
    wake_child(0, true);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|A");
    EXPECT(family.done);
    EXPECT_EQ(targets_open(), 0);
}

/* Holds J1: all ready in one poll, none is skipped. */
TEST(join_of_children_that_are_ready_is_ready_in_one_poll)
{
    family_init(3);
    for (uint32_t i = 0; i < 3; i++) {
        family.children[i].ready = true;
    }
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 1);
    EXPECT_SAID("|ABC");
    EXPECT(family.done);
}

/* Holds J2. */
TEST(join_without_children_is_ready_at_once)
{
    family_init(0);
    rt_join_init(&family.join, NULL, 0);
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 1);
    EXPECT_SAID("|");
    EXPECT(family.done);
}

/* Holds J3: the first wake wakes the parent, the others set bits; only the woken are polled. */
TEST(join_polls_only_the_children_that_were_woken)
{
    family_init(3);
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 1);
    EXPECT_SAID("|abc");
    uint64_t wakes = clockwork.runtime.executor.counters.wakes;
    wake_child(2, false);
    wake_child(0, false);
    EXPECT_EQ(family.join.children.parent.woken, 2);
    EXPECT_EQ(clockwork.runtime.executor.counters.wakes, wakes + 1);
    EXPECT_EQ(clockwork.runtime.executor.counters.coalesced, 0);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|ac");
}

/* Holds J3: a wake of the child during its own poll is not cleared with the one before. */
TEST(join_child_that_wakes_itself_is_polled_again)
{
    family_init(3);
    family.children[1].wakes = &family.children[1];
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 2);
    EXPECT_SAID("|abc|b");
    EXPECT_EQ(family.task.state, RT_TASK_SLEEPING);
}

/* Holds J3: a sibling that has had its turn in this poll has another one. */
TEST(join_child_woken_by_a_later_sibling_is_polled_again)
{
    family_init(3);
    family.children[2].wakes = &family.children[0];
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 2);
    EXPECT_SAID("|abc|a");
}

/* Holds J3: a sibling that is still to be polled in this poll is served by it. */
TEST(join_child_woken_by_an_earlier_sibling_is_polled_once)
{
    family_init(3);
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 1);
    EXPECT_SAID("|abc");
    family.children[0].wakes = &family.children[2];
    wake_child(2, false);
    (void)rt_slot_wake(&family.children[0].slot);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|ac");
}

/* Holds J3. */
TEST(join_polled_spuriously_polls_every_unfinished_child)
{
    family_init(3);
    family.children[1].ready = true;
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 1);
    EXPECT_SAID("|aBc");
    rt_task_wake(&family.task);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|ac");
}

/* A second task that awaits the family's join. */
static void
heir_init(struct family *heir)
{
    *heir = (struct family){.awaited = &family.join};
    rt_task_init(&heir->task, family_poll, NULL, "heir");
}

/* Holds J3, W11: the parent's waker is stored again at each poll; the last to poll is woken. */
TEST(join_polled_by_another_task_wakes_that_one)
{
    struct family heir;
    family_init(2);
    heir_init(&heir);
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 1);
    EXPECT_EQ(clockwork_post(&clockwork, &heir.task), 1);
    EXPECT_SAID("|ab|ab");
    wake_child(0, true);
    wake_child(1, true);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|AB");
    EXPECT(heir.done);
    EXPECT_EQ(family.task.state, RT_TASK_SLEEPING);
}

/*
 * Holds W11, T9.
 * Goal: a join that has moved outlives the task that it came from.
 * Method: child a is woken, so that its bit is set when the heir polls for the first time. Child b
 * was polled by the first task only; were it passed over, the end of that task would empty b's
 * slot, and its wake would be lost.
 */
TEST(join_that_moved_with_a_bit_set_polls_every_child_for_its_new_task)
{
    struct family heir;
    family_init(2);
    heir_init(&heir);
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 1);
    EXPECT_SAID("|ab");
    wake_child(0, false);
    EXPECT_EQ(rt_post(&clockwork.runtime.executor, &heir.task), RT_OK);
    EXPECT(rt_run_index(&clockwork.runtime.executor, heir.task.target.key.index));
    EXPECT_SAID("|ab");
    rt_task_cancel(&family.task);
    wake_child(1, true);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|B");
    wake_child(0, true);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT(heir.done);
}

/* Holds J4, W1: a waker kept beyond the child's end, with the memory of all of it gone. */
TEST(join_child_woken_after_its_end_does_nothing)
{
    struct rt_waker kept[2];
    family_init(2);
    family.children[0].keeps = true;
    family.children[1].keeps = true;
    family.children[0].ready = true;
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 1);
    EXPECT_SAID("|Ab");
    kept[0] = family.children[0].kept;
    kept[1] = family.children[1].kept;
    rt_waker_wake_by_ref(&kept[0]);
    EXPECT_EQ(clockwork_run(&clockwork), 0);
    EXPECT_EQ(family.join.children.parent.woken, 0);
    rt_join_drop(&family.join);
    EXPECT_SAID("-b");
    rt_task_cancel(&family.task);
    memset(&family, 0xdd, sizeof(family));
    rt_waker_wake(&kept[1]);
    rt_waker_drop(&kept[0]);
    EXPECT_EQ(clockwork_run(&clockwork), 0);
    EXPECT_EQ(clockwork.runtime.executor.counters.clones,
            clockwork.runtime.executor.counters.returned);
}

/* Holds J4: what the dropped children wake reaches no task. Finished ones are not dropped. */
TEST(join_dropped_drops_the_unfinished_in_order_and_wakes_none)
{
    family_init(3);
    family.children[1].ready = true;
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 1);
    EXPECT_SAID("|aBc");
    rt_join_drop(&family.join);
    rt_join_drop(&family.join);
    EXPECT_SAID("-a-c");
    EXPECT_EQ(clockwork_run(&clockwork), 0);
    EXPECT_EQ(targets_open(), 1); /* The task. */
}

TEST(join_dropped_before_its_first_poll_drops_every_child)
{
    family_init(3);
    rt_join_drop(&family.join);
    EXPECT_SAID("-a-b-c");
}

TEST(join_dropped_after_it_was_ready_does_nothing)
{
    family_init(1);
    family.children[0].ready = true;
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 1);
    EXPECT(family.done);
    rt_join_drop(&family.join);
    EXPECT_SAID("|A");
}

static rt_poll
careless_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct family *one = rt_container_of(task, struct family, task);
    EXPECT_EQ(rt_join_poll(one->awaited, cx), RT_READY);
    EXPECT_FAULT(RT_E_FINISHED, rt_join_poll(one->awaited, cx));
    EXPECT_FAULT(RT_E_FINISHED, rt_future_poll(&one->awaited->future, cx));
    return RT_READY;
}

/* Holds T20. */
TEST(join_polled_after_its_end_is_a_fault)
{
    family_init(0);
    rt_task_init(&family.task, careless_poll, NULL, "careless");
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 1);
}

/* The children's contexts are over after their polls; the parent's is not. */
static rt_poll
curious_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct family *one = rt_container_of(task, struct family, task);
    (void)rt_join_poll(one->awaited, cx);
    EXPECT(rt_cx_waker(cx) != NULL);
    return RT_PENDING;
}

/* Holds C3. */
TEST(join_gives_each_child_a_separate_waker)
{
    family_init(2);
    family.children[0].keeps = true;
    family.children[1].keeps = true;
    rt_task_init(&family.task, curious_poll, NULL, "curious");
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 1);
    struct rt_waker task = rt_target_waker(&family.task.target);
    EXPECT(!rt_waker_will_wake(&family.children[0].kept, &family.children[1].kept));
    EXPECT(!rt_waker_will_wake(&family.children[0].kept, &task));
    EXPECT_STR(family.join.children.parent.slot.reason, "join");
    rt_waker_drop(&family.children[0].kept);
    rt_waker_drop(&family.children[1].kept);
}

TEST(join_without_capacity_for_its_wakers_is_a_fault)
{
    family_init(3);
    rt_executor_init(&clockwork.runtime.executor, &(struct rt_executor_config){
                                                          .entries = clockwork.entries,
                                                          .links = clockwork.links,
                                                          .capacity = 3,
                                                  });
    EXPECT_EQ(rt_post(&clockwork.runtime.executor, &family.task), RT_OK);
    EXPECT_FAULT(RT_E_FULL, rt_run_one(&clockwork.runtime.executor));
}

TEST(join_polled_on_another_executor_is_a_fault)
{
    static struct clockwork other;
    struct family heir;
    family_init(2);
    clockwork_init(&other, 0);
    heir_init(&heir);
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 1);
    EXPECT_EQ(rt_post(&other.runtime.executor, &heir.task), RT_OK);
    EXPECT_FAULT(RT_E_INVALID, rt_run_one(&other.runtime.executor));
}

/* Holds J1, J3, C3: a wake goes up through both joins, and only along its own path down again. */
TEST(join_of_joins_polls_only_the_path_of_the_wake)
{
    static struct family inner[2];
    struct rt_child members[2];
    family_init(0);
    for (uint32_t i = 0; i < 2; i++) {
        family_init_as(&inner[i], 2, (char)('a' + 2 * (int)i));
        members[i].future = &inner[i].join.future;
    }
    rt_join_init(&family.join, members, 2);
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 1);
    EXPECT_SAID("|abcd");
    (void)rt_slot_wake(&inner[1].children[0].slot);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|c");
    for (uint32_t i = 0; i < 4; i++) {
        inner[i / 2].children[i % 2].ready = true;
        (void)rt_slot_wake(&inner[i / 2].children[i % 2].slot);
    }
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|ABCD");
    EXPECT(family.done);
    EXPECT_EQ(targets_open(), 0);
}

/* Holds J4: dropping the outer join drops what is unfinished in the inner ones. */
TEST(join_of_joins_is_dropped_as_a_whole)
{
    static struct family inner;
    struct rt_child member;
    family_init(0);
    family_init_as(&inner, 3, 'a');
    inner.children[0].ready = true;
    member.future = &inner.join.future;
    rt_join_init(&family.join, &member, 1);
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 1);
    EXPECT_SAID("|Abc");
    rt_join_drop(&family.join);
    EXPECT_SAID("-b-c");
    EXPECT_EQ(targets_open(), 1); /* The task. */
}

/* Holds J1, M3: three sleeps in one task; two end at one time and cost one poll of the task. */
TEST(join_of_sleeps_takes_as_long_as_the_longest)
{
    static const uint64_t lengths[] = {150, 50, 150};
    struct rt_sleep_future sleeps[3];
    family_init(3);
    for (uint32_t i = 0; i < 3; i++) {
        rt_sleep_future_init(&sleeps[i], lengths[i]);
        family.members[i].future = &sleeps[i].future;
    }
    rt_join_init(&family.join, family.members, 3);
    EXPECT_EQ(clockwork_post(&clockwork, &family.task), 1);
    EXPECT_EQ(clockwork_at(&clockwork, 50), 1);
    EXPECT(!family.done);
    EXPECT_EQ(clockwork_at(&clockwork, 150), 1);
    EXPECT(family.done);
    EXPECT_EQ(family.task.polls, 3);
    rt_timers_fini(&clockwork.runtime.timers);
}

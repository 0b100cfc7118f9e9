/*
 * select_test.c -- waiting for some of several futures: the set is complete, and no child is lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/select.h"
#include "runtime/tests/compose/kids.h"

#define KIDS 3u

struct choice {
    struct rt_task task;
    bool done;
    struct rt_select select;
    struct rt_child children[KIDS];
    struct kid kids[KIDS];
};

static struct choice choice;

/* Logs each set as numbers, and selects again until every child was in one. */
static rt_poll
choice_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct choice *one = rt_container_of(task, struct choice, task);
    say('|');
    do {
        RT_AWAIT(rt_select_poll(&one->select, cx));
        say('{');
        for (uint32_t i = 0; i < one->select.children.count; i++) {
            if (rt_select_has(&one->select, i)) {
                say((char)('0' + (int)i));
            }
        }
        say('}');
    } while (rt_select_again(&one->select));
    one->done = true;
    return RT_READY;
}

static void
choice_init(uint32_t count)
{
    choice = (struct choice){.done = false};
    kids_init(choice.kids, choice.children, KIDS);
    EXPECT_EQ(rt_select_init(&choice.select, choice.children, count), RT_OK);
    rt_task_init(&choice.task, choice_poll, NULL, "choice");
}

/* The tutorial. Holds J7: every child is polled; the set is all that were ready in this poll. */
TEST(select_answers_every_ready_child)
{
    choice_init(3);
    choice.kids[0].ready = true;
    choice.kids[2].ready = true;
    EXPECT_EQ(clockwork_post(&clockwork, &choice.task), 1);
    EXPECT_SAID("|AbC{02}b");
    EXPECT_EQ(choice.select.ready, 0);
    kid_wake(&choice.kids[1], true);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|B{1}");
    EXPECT(choice.done);
    EXPECT_EQ(targets_open(), 0);
}

/* Holds J7: two wakes before one poll are one set; only the woken are polled. */
TEST(select_of_two_wakes_is_one_set)
{
    choice_init(3);
    EXPECT_EQ(clockwork_post(&clockwork, &choice.task), 1);
    EXPECT_SAID("|abc");
    kid_wake(&choice.kids[2], true);
    kid_wake(&choice.kids[1], true);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|BC{12}a");
    EXPECT_EQ(choice.select.children.finished, 2);
}

/*
 * Holds J7.
 * Goal: a child that becomes ready while the set is made is in the next one.
 * Method: c, ready, wakes a, which had its turn in this poll. The task polls again at once; only
 * a's bit can show it that a is ready.
 */
TEST(select_child_woken_after_its_turn_is_in_the_next_set)
{
    choice_init(3);
    EXPECT_EQ(clockwork_post(&clockwork, &choice.task), 1);
    EXPECT_SAID("|abc");
    choice.kids[2].wakes = &choice.kids[0];
    choice.kids[0].ready = true;
    kid_wake(&choice.kids[2], true);
    EXPECT_EQ(clockwork_run(&clockwork), 2);
    EXPECT_SAID("|C{2}A{0}b|b");
}

/* Takes one set, then sleeps in another slot, then takes the next one. */
static rt_poll
busy_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct choice *one = rt_container_of(task, struct choice, task);
    say('|');
    if (task->polls % 2 == 0) {
        rt_slot_replace(&one->kids[2].slot, cx, "something else");
        return RT_PENDING;
    }
    RT_AWAIT(rt_select_poll(&one->select, cx));
    say('!');
    (void)rt_select_again(&one->select);
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

/* Holds J7: a wake between two selects wakes no task, for none waits; its bit is kept. */
TEST(select_child_woken_between_two_sets_is_in_the_second)
{
    choice_init(2);
    choice.kids[0].ready = true;
    rt_task_init(&choice.task, busy_poll, NULL, "busy");
    EXPECT_EQ(clockwork_post(&clockwork, &choice.task), 2);
    EXPECT_SAID("|Ab!|");
    kid_wake(&choice.kids[1], true);
    EXPECT_EQ(clockwork_run(&clockwork), 0);
    kid_wake(&choice.kids[2], false);
    EXPECT_EQ(clockwork_run(&clockwork), 2);
    EXPECT_SAID("|B!|");
    rt_task_cancel(&choice.task);
}

TEST(select_without_children_is_refused)
{
    choice_init(1);
    EXPECT_EQ(rt_select_init(&choice.select, choice.children, 0), RT_E_INVALID);
    EXPECT_EQ(choice.select.children.count, 1);
}

/* Holds J3. */
TEST(select_polled_spuriously_polls_all_children_left)
{
    choice_init(3);
    choice.kids[1].ready = true;
    EXPECT_EQ(clockwork_post(&clockwork, &choice.task), 1);
    EXPECT_SAID("|aBc{1}ac");
    rt_task_wake(&choice.task);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|ac");
}

/* Holds J4: after a set, too; a child that was in one is not dropped. */
TEST(select_dropped_drops_children_that_were_in_no_set)
{
    choice_init(3);
    choice.kids[1].ready = true;
    EXPECT_EQ(clockwork_post(&clockwork, &choice.task), 1);
    EXPECT_SAID("|aBc{1}ac");
    rt_select_drop(&choice.select);
    rt_select_drop(&choice.select);
    EXPECT_SAID("-a-c");
    EXPECT(!rt_select_again(&choice.select));
    EXPECT_EQ(clockwork_run(&clockwork), 0);
    EXPECT_EQ(targets_open(), 1); /* The task. */
}

static rt_poll
careless_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct choice *one = rt_container_of(task, struct choice, task);
    EXPECT_EQ(rt_select_poll(&one->select, cx), RT_READY);
    EXPECT_FAULT(RT_E_FINISHED, rt_select_poll(&one->select, cx));
    EXPECT(!rt_select_again(&one->select));
    EXPECT_FAULT(RT_E_FINISHED, rt_future_poll(&one->select.future, cx));
    return RT_READY;
}

/* Holds T20. */
TEST(select_polled_after_all_were_ready_is_a_fault)
{
    choice_init(1);
    choice.kids[0].ready = true;
    rt_task_init(&choice.task, careless_poll, NULL, "careless");
    EXPECT_EQ(clockwork_post(&clockwork, &choice.task), 1);
}

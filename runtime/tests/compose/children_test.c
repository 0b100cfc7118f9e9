/*
 * children_test.c -- what the audit of a combinator reports.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/group.h"
#include "runtime/compose/internal.h"
#include "runtime/compose/join.h"
#include "runtime/tests/compose/kids.h"

struct house {
    struct rt_task task;
    struct rt_join join;
    struct rt_child children[2];
    struct kid kids[2];
};

static struct house house;

static rt_poll
house_poll(struct rt_task *task, struct rt_cx *cx)
{
    return rt_join_poll(&rt_container_of(task, struct house, task)->join, cx);
}

/* A join that sleeps: one child has finished, one waits. */
static void
house_init(void)
{
    house = (struct house){.task = {.name = NULL}};
    kids_init(house.kids, house.children, 2);
    house.kids[0].ready = true;
    rt_join_init(&house.join, house.children, 2);
    rt_task_init(&house.task, house_poll, NULL, "house");
    EXPECT_EQ(clockwork_post(&clockwork, &house.task), 1);
}

static const char *
asked(void)
{
    return rt__children_audit(&house.join.children.parent.object);
}

/* Holds J3: a sleeping parent whose child is woken is exactly what must never be. */
TEST(children_audit_finds_a_wake_that_did_not_reach_the_parent)
{
    house_init();
    EXPECT(asked() == NULL);
    rt__child_mark(&house.children[1]); /* And no wake of the parent. */
    EXPECT_STR(asked(), "a child was woken, and its parent still waits to hear of it");
    rt_task_wake(&house.task);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT(asked() == NULL);
    kid_wake(&house.kids[1], false);
    EXPECT(asked() == NULL);
}

/* Holds J4. */
TEST(children_audit_finds_a_finished_child_that_can_be_woken)
{
    house_init();
    house.children[0].woken = true;
    EXPECT_STR(asked(), "a child has finished, and can still be woken");
}

TEST(children_audit_finds_a_wrong_count)
{
    house_init();
    house.join.children.finished = 0;
    EXPECT_STR(
            asked(), "the children that are woken or have finished are not as many as are counted");
}

TEST(children_audit_of_a_group_finds_a_wrong_count)
{
    struct rt_group group;
    struct rt_slab_entry entry;
    clockwork_init(&clockwork, 0);
    rt_group_init(&group, &entry, 1);
    EXPECT(rt__group_audit(&group.parent.object) == NULL);
    group.parent.woken = 1;
    EXPECT_STR(rt__group_audit(&group.parent.object),
            "the members that are woken are not as many as are counted");
}

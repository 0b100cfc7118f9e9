/*
 * runtime_notify_test.c -- wakes of a sleeping loop from outside, and how often it is notified.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/player.h"

/* ---- Notify. --------------------------------------------------------------------------------- */

static void
wake_root(struct dumb_host *host)
{
    struct player *root = host->argument;
    rt_slot_wake(&root->slot);
}

/* Holds D5, D8: with a holder outside there is something to block on; its wake ends the sleep. */
TEST(runtime_foreign_handle_keeps_the_loop_asleep_until_notified)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    player_init(&root, &dumb, "root", "r.!");
    dumb.host.blocked = wake_root;
    dumb.host.argument = &root;
    EXPECT_EQ(rt_runtime_hold(&dumb.runtime), RT_OK);
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(dumb.host.blocks, 1);
    EXPECT_EQ(dumb.host.polls, 1);
    EXPECT_EQ(dumb_listed_kind(&dumb.host, DUMB_NOTIFY), 1);
    rt_runtime_release(&dumb.runtime);
    player_finish(&dumb);
}

static struct player *racer;
static rt_err (*honest_poll)(struct rt_host *host, struct rt_pollable *const *in, uint32_t count,
        uint32_t *ret_indices, uint32_t *ret_ready);

/* The wake comes after the loop has checked for woken tasks, and before the host sleeps. */
static rt_err
wake_then_poll(struct rt_host *host, struct rt_pollable *const *in, uint32_t count,
        uint32_t *ret_indices, uint32_t *ret_ready)
{
    rt_slot_wake(&racer->slot);
    return honest_poll(host, in, count, ret_indices, ret_ready);
}

/* Holds D8. */
TEST(runtime_wake_between_the_check_and_the_sleep_ends_the_sleep)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    player_init(&root, &dumb, "root", "r.r.r.!");
    racer = &root;
    honest_poll = dumb.host.ops.poll;
    dumb.host.ops.poll = wake_then_poll;
    dumb.host.blocked = player_must_not_block;
    EXPECT_EQ(rt_runtime_hold(&dumb.runtime), RT_OK);
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(dumb.host.polls, 3);
    EXPECT_EQ(dumb.host.notifies, 3);
    rt_runtime_release(&dumb.runtime);
    player_finish(&dumb);
}

/* Holds D8: notified before the loop, it polls the host once in vain and then sleeps. */
TEST(runtime_notify_is_taken_by_one_report)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    player_init(&root, &dumb, "root", "r.!");
    dumb.host.blocked = wake_root;
    dumb.host.argument = &root;
    EXPECT_EQ(rt_runtime_hold(&dumb.runtime), RT_OK);
    for (uint32_t i = 0; i < 5; i++) {
        rt_host_notify(&dumb.host.seam);
    }
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(dumb.host.polls, 2);
    EXPECT_EQ(dumb.host.blocks, 1);
    rt_runtime_release(&dumb.runtime);
    player_finish(&dumb);
}

static void
cancel_root(struct dumb_host *host)
{
    struct player *root = host->argument;
    ck_assert_msg(rt_task_posted(&root->task), "the loop kept sleeping without a task");
    rt_task_cancel(&root->task);
}

/* Holds D6: the last task goes while the loop sleeps; no task is left to wait for. */
TEST(runtime_removing_the_last_task_ends_the_sleep)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    player_start(&root, &dumb, "root", "r.");
    dumb.host.blocked = cancel_root;
    dumb.host.argument = &root;
    EXPECT_EQ(rt_runtime_hold(&dumb.runtime), RT_OK);
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    EXPECT_EQ(dumb.host.blocks, 1);
    rt_runtime_release(&dumb.runtime);
    player_finish(&dumb);
}

static void
release_handle(struct dumb_host *host)
{
    struct dumb_runtime *dumb = rt_container_of(host, struct dumb_runtime, host);
    rt_runtime_release(&dumb->runtime);
}

/* Holds D5: the last holder outside goes while the loop sleeps: from here on it is a deadlock. */
TEST(runtime_release_of_the_last_foreign_handle_ends_the_sleep)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    player_init(&root, &dumb, "root", "r.");
    dumb.host.blocked = release_handle;
    EXPECT_EQ(rt_runtime_hold(&dumb.runtime), RT_OK);
    EXPECT_EQ(rt_runtime_hold(&dumb.runtime), RT_OK);
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_E_DEADLOCK);
    EXPECT_EQ(dumb.host.blocks, 2);
    EXPECT_EQ(dumb.runtime.foreign_handles, 0);
    player_finish(&dumb);
}

/* Holds D7: many posts and wakes, one notify; armed again only after the queue was seen empty. */
TEST(runtime_host_is_notified_once_between_two_sleeps)
{
    struct dumb_runtime dumb;
    struct player players[3];
    dumb_init(&dumb);
    for (uint32_t i = 0; i < 3; i++) {
        player_start(&players[i], &dumb, "p", "r.r.!");
    }
    EXPECT_EQ(dumb.host.notifies, 1);
    EXPECT(rt_run_one(&dumb.runtime.executor));
    rt_slot_wake(&players[0].slot);
    EXPECT_EQ(dumb.host.notifies, 1);
    dumb_run(&dumb);
    EXPECT_EQ(dumb.host.notifies, 1);
    for (uint32_t i = 0; i < 3; i++) {
        rt_task_wake(&players[i].task);
        rt_slot_wake(&players[i].slot);
    }
    EXPECT_EQ(dumb.host.notifies, 2);
    player_finish(&dumb);
}

static void
clock_then_source(struct dumb_host *host)
{
    host->ready[0] = host->now_ns == 100;
    host->now_ns = 100;
}

/*
 * Holds D7: the host is not notified of what a loop posts and wakes itself: one sleep
 * until the deadline, one until the source, and none ends in vain.
 */
TEST(runtime_own_wakes_do_not_notify)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    player_init(&root, &dumb, "root", "t0!");
    dumb.host.blocked = clock_then_source;
    EXPECT_EQ(rt_runtime_hold(&dumb.runtime), RT_OK);
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(dumb.host.notifies, 0);
    EXPECT_EQ(dumb.host.polls, 2);
    EXPECT_EQ(dumb.host.blocks, 2);
    rt_runtime_release(&dumb.runtime);
    player_finish(&dumb);
}

/* Holds D7, B5: the host must be notified of what a loop woke and then left. */
TEST(runtime_loop_that_leaves_a_woken_task_notifies_the_host)
{
    struct dumb_runtime dumb;
    struct player root;
    struct player a;
    dumb_init(&dumb);
    player_start(&a, &dumb, "a", "1!");
    EXPECT_EQ(dumb.host.notifies, 1);
    dumb_run(&dumb);
    dumb.host.ready[1] = true;
    /* The source of a is reported first; root is done before a has its turn. */
    player_init(&root, &dumb, "root", "w.!");
    dumb.runtime.event_interval = 1;
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(a.task.state, RT_TASK_WOKEN);
    EXPECT_EQ(dumb.host.notifies, 2);
    /* Posted during root's poll, without a notification, and left. */
    dumb_run(&dumb);
    player_init(&a, &dumb, "a", "!");
    player_init(&root, &dumb, "root", "+!");
    root.other = &a;
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(dumb.host.notifies, 3);
    /* It was notified of this one: once is enough. */
    EXPECT_EQ(rt_block_on(&dumb.runtime, &a.task), RT_E_POSTED);
    EXPECT_EQ(dumb.host.notifies, 3);
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    EXPECT_EQ(dumb.host.notifies, 3);
    player_finish(&dumb);
}

/*
 * Holds D7: the host was notified that the last task is gone, and ran the loop, which had
 * nothing to poll. The next post must be notified again.
 */
TEST(runtime_loop_without_a_poll_arms_the_notify_again)
{
    struct dumb_runtime dumb;
    struct player a;
    dumb_init(&dumb);
    player_start(&a, &dumb, "a", "r.");
    dumb_run(&dumb);
    rt_task_cancel(&a.task);
    EXPECT_EQ(dumb.host.notifies, 2);
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    player_start(&a, &dumb, "a", "!");
    EXPECT_EQ(dumb.host.notifies, 3);
    player_finish(&dumb);
}

static void
count_notify(void *argument)
{
    (*(uint32_t *)argument)++;
}

/* Holds D7: the caller's own notify replaces the host's. */
TEST(runtime_notify_of_the_caller_is_kept)
{
    struct dumb_runtime dumb;
    struct player a;
    uint32_t notifies = 0;
    dumb_init(&dumb);
    struct rt_runtime_config config = dumb_config(&dumb);
    config.executor.notify = count_notify;
    config.executor.notify_argument = &notifies;
    rt_runtime_init(&dumb.runtime, &config);
    player_start(&a, &dumb, "a", "!");
    EXPECT_EQ(notifies, 1);
    EXPECT_EQ(dumb.host.notifies, 0);
    player_finish(&dumb);
}

/*
 * io_loop_test.c -- the network in the runtime's loop: when it is asked, what a sleep waits for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/shard/desk.h"

static void
must_not_block(struct dumb_host *host)
{
    (void)host;
    ck_abort_msg("the host was asked to block");
}

struct spinner {
    struct rt_task task;
    struct desk *desk;
};

/* Wakes itself forever; at its third poll the network has something to say. */
static rt_poll
spinner_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct desk *desk = rt_container_of(task, struct spinner, task)->desk;
    if (task->polls == 3) {
        dumb_event(&desk->net, desk->sockets[0], RT_NET_READABLE);
    }
    ck_assert_msg(task->polls < 100, "for 100 polls the network was not polled");
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

/* Holds D11, E8: a task that never stops does not keep the network from being polled. */
TEST(io_task_that_wakes_itself_does_not_starve_the_network)
{
    struct desk desk;
    struct clerk root;
    desk_init(&desk);
    desk.dumb.runtime.event_interval = 5;
    desk.dumb.host.blocked = must_not_block;
    struct spinner spinner = {.desk = &desk};
    rt_task_init(&spinner.task, spinner_poll, NULL, "s");
    EXPECT_EQ(rt_post(&desk.dumb.runtime.executor, &spinner.task), RT_OK);
    reader_of(&root, &desk, "root", 0);
    rt_task_cancel(&root.task);
    rt_io_wait_init(&root.wait);
    EXPECT_EQ(rt_block_on(&desk.dumb.runtime, &root.task), RT_OK);
    EXPECT(spinner.task.polls <= 10);
    rt_task_cancel(&spinner.task);
    desk_fini(&desk);
}

static void
say_readable(struct dumb_host *host)
{
    struct desk *desk = host->argument;
    EXPECT_EQ(dumb_listed(host, DUMB_NET_SOURCE), 1);
    if (desk->net.fetches == 0) {
        desk->net.fetch_nothing = 1;
    }
    dumb_event(&desk->net, desk->sockets[0], RT_NET_READABLE);
}

/*
 * Holds E6, R4: the sleep has the network's events in its list while a task waits for one; a fetch
 * that returns nothing (it was interrupted) is no event and no error, and is repeated.
 */
TEST(io_sleep_ends_with_an_edge_and_survives_an_interruption)
{
    struct desk desk;
    struct clerk a;
    desk_init(&desk);
    desk.dumb.host.blocked = say_readable;
    desk.dumb.host.argument = &desk;
    reader_of(&a, &desk, "a", 0);
    EXPECT_EQ(rt_run_to_completion(&desk.dumb.runtime), RT_OK);
    EXPECT_EQ(a.readies, 1);
    EXPECT_EQ(desk.net.fetches, 2);
    desk_fini(&desk);
}

/* Holds D5, R4: a source without a waiter is nothing to sleep on. */
TEST(io_source_without_a_waiter_is_no_reason_to_sleep)
{
    struct desk desk;
    struct clerk a;
    desk_init(&desk);
    reader_of(&a, &desk, "a", 0);
    dumb_run(&desk.dumb);
    EXPECT(rt_io_waited_for(desk.net.io));
    rt_task_cancel(&a.task);
    EXPECT(!rt_io_waited_for(desk.net.io));
    desk.dumb.host.blocked = must_not_block;
    EXPECT_EQ(rt_runtime_turn(&desk.dumb.runtime, RT_TURN_BLOCK, NULL), RT_E_DEADLOCK);
    EXPECT_EQ(desk.net.fetches, 0);
    desk_fini(&desk);
}

/* Holds B3: an error of the sleep is the loop's answer, no panic (S3 unwraps) and no deadlock. */
TEST(io_host_without_space_for_the_events_is_an_error_of_the_loop)
{
    struct desk desk;
    struct clerk a;
    desk_init(&desk);
    desk.dumb.host.capacity = 0;
    reader_of(&a, &desk, "a", 0);
    EXPECT_EQ(rt_run_to_completion(&desk.dumb.runtime), RT_E_FULL);
    desk.dumb.host.capacity = DUMB_POLLABLES;
    dumb_event(&desk.net, desk.sockets[0], RT_NET_READABLE);
    EXPECT_EQ(rt_run_to_completion(&desk.dumb.runtime), RT_OK);
    desk_fini(&desk);
}

/* A turn is useful exactly while a task waits and there is something to fetch. */
TEST(io_turn_is_useful_while_a_task_waits_for_a_ready_source)
{
    struct desk desk;
    struct clerk a;
    desk_init(&desk);
    dumb_event(&desk.net, desk.sockets[1], RT_NET_READABLE);
    EXPECT(!rt_runtime_turn_useful(&desk.dumb.runtime));
    reader_of(&a, &desk, "a", 0);
    dumb_run(&desk.dumb);
    EXPECT(rt_runtime_turn_useful(&desk.dumb.runtime));
    EXPECT_EQ(dumb_turn(&desk.net), 0);
    EXPECT(!rt_runtime_turn_useful(&desk.dumb.runtime));
    dumb_event(&desk.net, desk.sockets[0], RT_NET_READABLE);
    EXPECT(rt_runtime_turn_useful(&desk.dumb.runtime));
    uint32_t woken = 0;
    EXPECT_EQ(rt_runtime_turn(&desk.dumb.runtime, RT_TURN_POLL, &woken), RT_OK);
    EXPECT_EQ(woken, 1);
    rt_task_cancel(&a.task);
    desk_fini(&desk);
}

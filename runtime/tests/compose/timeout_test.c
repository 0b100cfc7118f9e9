/*
 * timeout_test.c -- a future against the clock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/test.h"
#include "runtime/tests/time/clockwork.h"

static struct clockwork clockwork;

/* A future that is ready when the test says so. Its polls may take time. */
struct work {
    struct rt_future future;
    struct rt_slot slot;
    bool ready;
    uint64_t cost_ns; /* Of each poll. */
    uint32_t polls;
    uint32_t drops;
};

static rt_poll
work_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct work *work = rt_container_of(future, struct work, future);
    work->polls += 1;
    clockwork.now_ns += work->cost_ns;
    if (work->ready) {
        return RT_READY;
    }
    rt_slot_replace(&work->slot, cx, "work");
    return RT_PENDING;
}

static void
work_drop(struct rt_future *future)
{
    struct work *work = rt_container_of(future, struct work, future);
    work->drops += 1;
    (void)rt_slot_clear(&work->slot);
}

/* A task that awaits a timeout over the work. */
struct client {
    struct rt_task task;
    struct work work;
    struct rt_timeout timeout;
    struct rt_timeout *awaited; /* That one, or one around it. */
    bool done;
};

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    RT_AWAIT(rt_timeout_poll(client->awaited, cx));
    client->done = true;
    return RT_READY;
}

static void
client_init(struct client *client, uint64_t duration_ns)
{
    clockwork_init(&clockwork, 0);
    *client = (struct client){.awaited = &client->timeout};
    rt_slot_init(&client->work.slot);
    rt_future_init(&client->work.future, work_poll, work_drop, "work");
    rt_timeout_init(&client->timeout, &client->work.future, duration_ns);
    rt_task_init(&client->task, client_poll, NULL, "client");
}

static void
expect_end(const struct client *client, bool expired)
{
    EXPECT(client->done);
    EXPECT_EQ(client->timeout.expired, expired);
    EXPECT_EQ(client->work.drops, expired ? 1 : 0);
    EXPECT(rt_slot_empty(&client->work.slot));
    rt_timers_fini(&clockwork.runtime.timers); /* Nothing is left armed. */
}

/* Holds J12. */
TEST(timeout_over_work_that_ends_in_time_is_ready_with_it)
{
    struct client client;
    client_init(&client, 100);
    EXPECT_EQ(clockwork_post(&clockwork, &client.task), 1);
    EXPECT_EQ(clockwork_at(&clockwork, 99), 0);
    client.work.ready = true;
    (void)rt_slot_wake(&client.work.slot);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    expect_end(&client, false);
}

TEST(timeout_over_work_that_does_not_end_expires_and_drops_it)
{
    struct client client;
    client_init(&client, 100);
    EXPECT_EQ(clockwork_post(&clockwork, &client.task), 1);
    EXPECT_EQ(clockwork_at(&clockwork, 99), 0);
    EXPECT_EQ(clockwork_at(&clockwork, 100), 1);
    EXPECT_EQ(client.work.polls, 2);
    expect_end(&client, true);
}

/* Holds J12: both are ready in one poll, long after the deadline. */
TEST(timeout_over_work_that_ends_at_the_deadline_is_no_timeout)
{
    struct client client;
    client_init(&client, 100);
    EXPECT_EQ(clockwork_post(&clockwork, &client.task), 1);
    client.work.ready = true;
    EXPECT_EQ(clockwork_at(&clockwork, 200), 1);
    expect_end(&client, false);
}

/* Holds J12: the time runs from the first poll on, although that poll itself takes long. */
TEST(timeout_counts_the_first_poll_of_the_work)
{
    struct client client;
    client_init(&client, 100);
    client.work.cost_ns = 60;
    EXPECT_EQ(clockwork_post(&clockwork, &client.task), 1);
    EXPECT_EQ(rt_timers_next(&clockwork.runtime.timers), 100);
    client.work.cost_ns = 0;
    EXPECT_EQ(clockwork_at(&clockwork, 100), 1);
    expect_end(&client, true);
}

/* Holds J12: the work is polled once even where there is no time at all. */
TEST(timeout_of_no_length_polls_the_work_once)
{
    struct client client;
    client_init(&client, 0);
    EXPECT_EQ(clockwork_post(&clockwork, &client.task), 1);
    EXPECT_EQ(client.work.polls, 1);
    expect_end(&client, true);
    client_init(&client, 0);
    client.work.ready = true;
    EXPECT_EQ(clockwork_post(&clockwork, &client.task), 1);
    expect_end(&client, false);
}

/* Holds M4. */
TEST(timeout_of_endless_length_waits_for_the_work)
{
    struct client client;
    client_init(&client, RT_NEVER);
    EXPECT_EQ(clockwork_post(&clockwork, &client.task), 1);
    EXPECT_EQ(clockwork_at(&clockwork, RT_NEVER), 0);
    client.work.ready = true;
    (void)rt_slot_wake(&client.work.slot);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    expect_end(&client, false);
}

/* Holds M6: dropped before and after its first poll, twice. */
TEST(timeout_dropped_drops_both)
{
    struct client client;
    client_init(&client, 100);
    rt_timeout_drop(&client.timeout);
    EXPECT_EQ(client.work.drops, 1);
    client_init(&client, 100);
    EXPECT_EQ(clockwork_post(&clockwork, &client.task), 1);
    EXPECT_EQ(clockwork.runtime.timers.armed, 1);
    rt_timeout_drop(&client.timeout);
    rt_timeout_drop(&client.timeout);
    EXPECT_EQ(client.work.drops, 1);
    EXPECT_EQ(clockwork_at(&clockwork, 100), 0);
    rt_timers_fini(&clockwork.runtime.timers);
}

static rt_poll
careless_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    (void)rt_timeout_poll(&client->timeout, cx);
    EXPECT_FAULT(RT_E_FINISHED, rt_timeout_poll(&client->timeout, cx));
    return RT_READY;
}

/* Holds T20: in the same poll, and with both ways to be ready. */
TEST(timeout_polled_after_its_end_is_a_fault)
{
    struct client client;
    for (uint32_t ready = 0; ready < 2; ready++) {
        client_init(&client, 0);
        client.work.ready = ready != 0;
        rt_task_init(&client.task, careless_poll, NULL, "careless");
        EXPECT_EQ(clockwork_post(&clockwork, &client.task), 1);
    }
}

/* Holds J12: a timeout over a timeout; the inner one is shorter, so the outer never expires. */
TEST(timeout_over_a_timeout_ends_with_the_shorter)
{
    struct client client;
    struct rt_timeout outer;
    client_init(&client, 100);
    rt_timeout_init(&outer, &client.timeout.future, 200);
    client.awaited = &outer;
    EXPECT_EQ(clockwork_post(&clockwork, &client.task), 1);
    EXPECT_EQ(clockwork.runtime.timers.armed, 2);
    EXPECT_EQ(clockwork_at(&clockwork, 100), 1);
    EXPECT(!outer.expired);
    expect_end(&client, true);
}

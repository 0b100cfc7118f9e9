/*
 * tokio-5710.c -- the longest possible deadline is the number that means "not a timer".
 *
 * tokio-rs/tokio#5710 (commit 2a54ad0); smol-rs/async-io#92 states what such a deadline must mean.
 *
 * The bug. A timer's state and its deadline are one number, whose two greatest values mean that the
 * timer is not registered, or has fired. A deadline beyond the clock's range saturates to one of
 * them. The next check finds that the timer is over: a sleep that should last forever ends at once.
 *
 * The fix. Deadlines are cut below those values, and such a timer never fires. tokio-5710.patch
 * makes runtime/time/sleep.c read the greatest number as "over", as tokio's did: one condition.
 *
 * Here. A subscriber waits for messages. A silence longer than its limit means that the publisher
 * has gone, and then it waits for another one. The limit is configured: none, or "as long as
 * possible" in one of two ways. A message takes some milliseconds, and the publisher is alive.
 *
 * Cause: not-a-wake in rt_sleep_poll_at or subscriber_poll or erased in subscriber_poll
 * Must end in: deadlock, as no other publisher appears. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct subscriber {
    struct rt_task task;
    struct rt_slot message;
    struct rt_slot another; /* Woken for another publisher. */
    struct rt_sleep limit;
    struct sim_world *world;
    bool has_limit;
    bool has_message;
    bool gave_up;
};

struct publisher {
    struct rt_task task;
    struct rt_sleep writing;
    struct subscriber *subscriber;
};

static rt_poll
subscriber_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct subscriber *subscriber = rt_container_of(task, struct subscriber, task);
    if (!subscriber->gave_up) {
        sim_work(subscriber->world, RT_US);
        if (subscriber->has_message) {
            return RT_READY;
        }
        rt_slot_replace(&subscriber->message, cx, "a message");
        if (!subscriber->has_limit || rt_sleep_poll(&subscriber->limit, cx) == RT_PENDING) {
            return RT_PENDING;
        }
        subscriber->gave_up = true;
        rt_slot_clear(&subscriber->message);
    }
    rt_slot_replace(&subscriber->another, cx, "another publisher");
    return RT_PENDING;
}

static void
subscriber_cleanup(struct rt_task *task)
{
    struct subscriber *subscriber = rt_container_of(task, struct subscriber, task);
    rt_sleep_cancel(&subscriber->limit);
}

static rt_poll
publisher_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct publisher *publisher = rt_container_of(task, struct publisher, task);
    RT_AWAIT(rt_sleep_poll(&publisher->writing, cx));
    publisher->subscriber->has_message = true;
    rt_slot_wake(&publisher->subscriber->message);
    return RT_READY;
}

static void
publisher_cleanup(struct rt_task *task)
{
    struct publisher *publisher = rt_container_of(task, struct publisher, task);
    rt_sleep_cancel(&publisher->writing);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct subscriber *subscriber = sim_new(world, struct subscriber);
    struct publisher *publisher = sim_new(world, struct publisher);
    rt_slot_init(&subscriber->message);
    rt_slot_init(&subscriber->another);
    subscriber->world = world;
    uint32_t limit = sim_pick(world, 3);
    subscriber->has_limit = limit != 0;
    rt_sleep_init(&subscriber->limit, limit == 1 ? UINT64_MAX - 1 : UINT64_MAX);
    publisher->subscriber = subscriber;
    rt_sleep_init(&publisher->writing, sim_range(world, 1 * RT_MS, 10 * RT_MS));
    rt_task_init(&subscriber->task, subscriber_poll, subscriber_cleanup, "subscriber");
    rt_task_init(&publisher->task, publisher_poll, publisher_cleanup, "publisher");
    sim_spawn(rt, &subscriber->task);
    sim_spawn(rt, &publisher->task);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_tokio_5710_broken, .name = "zoo/tokio-5710/broken", .bug = "E05",
        .reference = "tokio-rs/tokio#5710",
        .about = "A sleep for as long as possible is over at once.", .setup = setup,
        .expect = SIM_VERDICT_DEADLOCK);
#else
SIM_SCENARIO(zoo_tokio_5710_fixed, .name = "zoo/tokio-5710/fixed",
        .about = "A sleep for as long as possible lasts.", .setup = setup);
#endif

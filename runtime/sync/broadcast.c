/*
 * broadcast.c -- a queue whose waiters are never granted anything, only woken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/broadcast.h"

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

#define BROADCAST_MAGIC 0x52424344u

static struct rt_heard *
heard_of(struct rt_future *future)
{
    struct rt_heard *heard = rt_container_of(future, struct rt_heard, future);
    rt_check(&heard->broadcast->object, BROADCAST_MAGIC);
    return heard;
}

static rt_poll
poll(struct rt_future *future, struct rt_cx *cx)
{
    struct rt_heard *heard = heard_of(future);
    struct rt_broadcast *broadcast = heard->broadcast;
    if (!rt_waiter_was_called(&heard->waiter, &broadcast->waiters)) {
        return rt_waiter_poll(
                &heard->waiter, &broadcast->waiters, cx, "a broadcast", RT_HERE, heard->await);
    }
    rt_waiter_leave(&heard->waiter, &broadcast->waiters, heard->await);
    RT_PROBE(CONSUME, broadcast->object.id, RT_HERE, heard->await, 1);
    return RT_READY;
}

static void
drop(struct rt_future *future)
{
    struct rt_heard *heard = heard_of(future);
    rt_waiter_leave(&heard->waiter, &heard->broadcast->waiters, heard->await);
}

void
rt_broadcast_init(struct rt_broadcast *broadcast)
{
    rt_assert(broadcast != NULL);
    broadcast->object = (struct rt_object){BROADCAST_MAGIC, RT_PROBE_OBJECT(NOTIFY)};
    rt_waiters_init(&broadcast->waiters, broadcast->object.id, 0);
}

void
rt_broadcast_fini(struct rt_broadcast *broadcast)
{
    rt_check(&broadcast->object, BROADCAST_MAGIC);
    rt_waiters_fini(&broadcast->waiters, "broadcast");
    broadcast->object.magic = 0;
}

uint32_t
rt_broadcast_fire_at(struct rt_broadcast *broadcast, const struct rt_site *await)
{
    rt_check(&broadcast->object, BROADCAST_MAGIC);
    RT_PROBE(PUT, broadcast->object.id, RT_HERE, await, 0);
    return rt_waiters_wake_all_chosen(&broadcast->waiters, await);
}

void
rt_heard_init_at(
        struct rt_heard *heard, struct rt_broadcast *broadcast, const struct rt_site *await)
{
    rt_assert(heard != NULL);
    rt_check(&broadcast->object, BROADCAST_MAGIC);
    heard->broadcast = broadcast;
    heard->await = await;
    rt_future_init(&heard->future, poll, drop, "broadcast");
    rt_waiter_init(&heard->waiter, 1);
}

rt_poll
rt_heard_poll_at(struct rt_heard *heard, struct rt_cx *cx, const struct rt_site *await)
{
    rt_assert(heard != NULL);
    heard->await = await;
    return rt_future_poll(&heard->future, cx);
}

void
rt_heard_drop_at(struct rt_heard *heard, const struct rt_site *await)
{
    rt_assert(heard != NULL);
    heard->await = await;
    rt_future_drop(&heard->future);
}

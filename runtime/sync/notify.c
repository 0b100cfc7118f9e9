/*
 * notify.c -- a counter that never counts beyond one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/notify.h"

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

#define NOTIFY_MAGIC 0x524e5446u

static const char *
audit(const struct rt_object *object)
{
    const struct rt_notify *notify = rt_container_of(object, struct rt_notify, object);
    if (notify->waiters.free > 1) {
        return "more than one permit is in store";
    }
    bool stored = notify->waiters.free == 1;
    return stored && rt_waiters_queueing(&notify->waiters)
                   ? "a permit is in store while a task waits"
                   : NULL;
}

static struct rt_notified *
notified_of(struct rt_future *future)
{
    struct rt_notified *notified = rt_container_of(future, struct rt_notified, future);
    rt_check(&notified->notify->object, NOTIFY_MAGIC);
    return notified;
}

/* One that was passed on and one that was stored are one (K8). */
static void
keep_one(struct rt_notify *notify, const struct rt_site *await)
{
    if (notify->waiters.free > 1) {
        notify->waiters.free = 1;
        RT_PROBE(MERGE, notify->object.id, RT_HERE, await, 1);
    }
}

static rt_poll
poll(struct rt_future *future, struct rt_cx *cx)
{
    struct rt_notified *notified = notified_of(future);
    struct rt_notify *notify = notified->notify;
    if (rt_waiter_was_called(&notified->waiter, &notify->waiters)) {
        rt_waiter_leave(&notified->waiter, &notify->waiters, notified->await);
    } else {
        RT_AWAIT(rt_waiter_poll(&notified->waiter, &notify->waiters, cx, "a notification", RT_HERE,
                notified->await));
    }
    RT_PROBE(CONSUME, notify->object.id, RT_HERE, notified->await, 1);
    return RT_READY;
}

static void
drop(struct rt_future *future)
{
    struct rt_notified *notified = notified_of(future);
    rt_waiter_leave(&notified->waiter, &notified->notify->waiters, notified->await);
    keep_one(notified->notify, notified->await);
}

void
rt_notify_init(struct rt_notify *notify)
{
    rt_assert(notify != NULL);
    notify->object = (struct rt_object){NOTIFY_MAGIC, RT_PROBE_OBJECT(NOTIFY)};
    rt_waiters_init(&notify->waiters, notify->object.id, 0);
    RT_PROBE_AUDIT(&notify->object, audit);
}

void
rt_notify_fini(struct rt_notify *notify)
{
    rt_check(&notify->object, NOTIFY_MAGIC);
    rt_waiters_fini(&notify->waiters, "notify");
    RT_PROBE_AUDIT(&notify->object, NULL);
    notify->object.magic = 0;
}

void
rt_notify_one_at(struct rt_notify *notify, const struct rt_site *await)
{
    rt_check(&notify->object, NOTIFY_MAGIC);
    RT_PROBE(PUT, notify->object.id, RT_HERE, await, 1);
    rt_waiters_give(&notify->waiters, 1, await);
    keep_one(notify, await);
}

uint32_t
rt_notify_all_at(struct rt_notify *notify, const struct rt_site *await)
{
    rt_check(&notify->object, NOTIFY_MAGIC);
    RT_PROBE(PUT, notify->object.id, RT_HERE, await, 0);
    return rt_waiters_wake_all(&notify->waiters, await);
}

bool
rt_notify_stored(const struct rt_notify *notify)
{
    rt_check(&notify->object, NOTIFY_MAGIC);
    return notify->waiters.free != 0;
}

void
rt_notified_init_at(
        struct rt_notified *notified, struct rt_notify *notify, const struct rt_site *await)
{
    rt_assert(notified != NULL);
    rt_check(&notify->object, NOTIFY_MAGIC);
    notified->notify = notify;
    notified->await = await;
    rt_future_init(&notified->future, poll, drop, "notified");
    rt_waiter_init(&notified->waiter, 1);
}

rt_poll
rt_notified_poll_at(struct rt_notified *notified, struct rt_cx *cx, const struct rt_site *await)
{
    rt_assert(notified != NULL);
    notified->await = await;
    return rt_future_poll(&notified->future, cx);
}

void
rt_notified_drop_at(struct rt_notified *notified, const struct rt_site *await)
{
    rt_assert(notified != NULL);
    notified->await = await;
    rt_future_drop(&notified->future);
}

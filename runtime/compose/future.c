/*
 * future.c -- polling and dropping, with the rules of both checked; a sleep as a future.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/future.h"

#include "runtime/compose/internal.h"

#include "runtime/base/banned.h"

#define RT_FUTURE_MAGIC 0x52465554u

static void
check_future(const struct rt_future *future)
{
    rt_assert(future != NULL);
    if (__builtin_expect(future->magic != RT_FUTURE_MAGIC, 0)) {
        rt_fault(RT_E_INVALID, NULL, "a future was used that rt_future_init never made");
    }
}

void
rt_future_init(
        struct rt_future *future, rt_future_poll_fn poll, rt_future_drop_fn drop, const char *name)
{
    rt_assert(future != NULL);
    rt_assert(poll != NULL);
    *future = (struct rt_future){
            .magic = RT_FUTURE_MAGIC,
            .poll = poll,
            .drop = drop,
            .name = name != NULL ? name : "future",
    };
}

void
rt__future_begin(const struct rt_future *future)
{
    check_future(future);
    if (future->finished) {
        rt_fault(RT_E_FINISHED, future->name, "a future was polled that was ready or dropped");
    }
}

rt_poll
rt__future_end(struct rt_future *future, rt_poll answer)
{
    switch (answer) {
    case RT_PENDING:
        return RT_PENDING;
    case RT_READY:
        future->finished = true;
        return RT_READY;
    case RT_PARKED:
        break;
    }
    rt_fault(RT_E_INVALID, future->name, "a future answers PENDING or READY, nothing else");
}

rt_poll
rt_future_poll(struct rt_future *future, struct rt_cx *cx)
{
    rt__future_begin(future);
    rt_cx_check(cx);
    return rt__future_end(future, future->poll(future, cx));
}

void
rt_future_drop(struct rt_future *future)
{
    check_future(future);
    if (future->finished) {
        return;
    }
    future->finished = true; /* Before `drop`, which may re-enter. */
    if (future->drop != NULL) {
        future->drop(future);
    }
}

static struct rt_sleep_future *
sleep_of(struct rt_future *future)
{
    return rt_container_of(future, struct rt_sleep_future, future);
}

static rt_poll
sleep_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct rt_sleep_future *sleep = sleep_of(future);
    return rt_sleep_poll_at(&sleep->sleep, cx, sleep->await);
}

static void
sleep_drop(struct rt_future *future)
{
    struct rt_sleep_future *sleep = sleep_of(future);
    rt_sleep_cancel_at(&sleep->sleep, sleep->await);
}

void
rt_sleep_future_init_at(
        struct rt_sleep_future *sleep, uint64_t duration_ns, const struct rt_site *await)
{
    rt_assert(sleep != NULL);
    rt_future_init(&sleep->future, sleep_poll, sleep_drop, "sleep");
    rt_sleep_init(&sleep->sleep, duration_ns);
    sleep->await = await;
}

/*
 * semaphore.c -- permits: the simplest use of waiters.h, with a close.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/semaphore.h"

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

#define SEMAPHORE_MAGIC 0x5253454du

static const char *
audit(const struct rt_object *object)
{
    const struct rt_semaphore *semaphore = rt_container_of(object, struct rt_semaphore, object);
    bool idle = semaphore->waiters.free > 0 && !semaphore->closed;
    return idle && rt_waiters_queueing(&semaphore->waiters) ? "permits are free while a task queues"
                                                            : NULL;
}

static struct rt_acquire *
acquire_of(struct rt_future *future)
{
    struct rt_acquire *acquire = rt_container_of(future, struct rt_acquire, future);
    rt_check(&acquire->semaphore->object, SEMAPHORE_MAGIC);
    return acquire;
}

static rt_poll
poll(struct rt_future *future, struct rt_cx *cx)
{
    struct rt_acquire *acquire = acquire_of(future);
    struct rt_semaphore *semaphore = acquire->semaphore;
    if (semaphore->closed) {
        rt_waiter_leave(&acquire->waiter, &semaphore->waiters, acquire->await);
        acquire->err = RT_E_CLOSED;
        return RT_READY;
    }
    RT_AWAIT(rt_waiter_poll(
            &acquire->waiter, &semaphore->waiters, cx, "a permit", RT_HERE, acquire->await));
    RT_PROBE(CONSUME, semaphore->object.id, RT_HERE, acquire->await, acquire->waiter.wanted);
    acquire->err = RT_OK;
    return RT_READY;
}

static void
drop(struct rt_future *future)
{
    struct rt_acquire *acquire = acquire_of(future);
    rt_waiter_leave(&acquire->waiter, &acquire->semaphore->waiters, acquire->await);
}

void
rt_semaphore_init(struct rt_semaphore *semaphore, uint32_t permits)
{
    rt_assert(semaphore != NULL);
    rt_assert(permits <= RT_SEMAPHORE_PERMITS_MAX);
    *semaphore = (struct rt_semaphore){.object = {SEMAPHORE_MAGIC, RT_PROBE_OBJECT(SEMAPHORE)}};
    rt_waiters_init(&semaphore->waiters, semaphore->object.id, permits);
    RT_PROBE_AUDIT(&semaphore->object, audit);
}

void
rt_semaphore_fini(struct rt_semaphore *semaphore)
{
    rt_check(&semaphore->object, SEMAPHORE_MAGIC);
    rt_waiters_fini(&semaphore->waiters, "semaphore");
    RT_PROBE_AUDIT(&semaphore->object, NULL);
    semaphore->object.magic = 0;
}

rt_err
rt_semaphore_try_acquire(struct rt_semaphore *semaphore, uint32_t permits)
{
    rt_check(&semaphore->object, SEMAPHORE_MAGIC);
    if (semaphore->closed) {
        RT_PROBE(REFUSE, semaphore->object.id, RT_HERE, NULL, permits);
        return RT_E_CLOSED;
    }
    if (permits > 0 && !rt_waiters_take(&semaphore->waiters, permits)) {
        RT_PROBE(REFUSE, semaphore->object.id, RT_HERE, NULL, permits);
        return RT_E_AGAIN;
    }
    RT_PROBE(CONSUME, semaphore->object.id, RT_HERE, NULL, permits);
    return RT_OK;
}

rt_err
rt_semaphore_release_at(
        struct rt_semaphore *semaphore, uint32_t permits, const struct rt_site *await)
{
    rt_check(&semaphore->object, SEMAPHORE_MAGIC);
    const struct rt_waiters *waiters = &semaphore->waiters;
    if (permits > RT_SEMAPHORE_PERMITS_MAX - waiters->free - waiters->assigned) {
        return RT_E_INVALID;
    }
    RT_PROBE(PUT, semaphore->object.id, RT_HERE, await, permits);
    rt_waiters_give(&semaphore->waiters, permits, await);
    return RT_OK;
}

void
rt_semaphore_close_at(struct rt_semaphore *semaphore, const struct rt_site *await)
{
    rt_check(&semaphore->object, SEMAPHORE_MAGIC);
    if (semaphore->closed) {
        return;
    }
    semaphore->closed = true;
    RT_PROBE(SHUT, semaphore->object.id, RT_HERE, await, 0);
    (void)rt_waiters_wake_all(&semaphore->waiters, await);
}

uint32_t
rt_semaphore_free(const struct rt_semaphore *semaphore)
{
    rt_check(&semaphore->object, SEMAPHORE_MAGIC);
    return semaphore->waiters.free;
}

void
rt_acquire_init_at(struct rt_acquire *acquire, struct rt_semaphore *semaphore, uint32_t permits,
        const struct rt_site *await)
{
    rt_assert(acquire != NULL);
    rt_check(&semaphore->object, SEMAPHORE_MAGIC);
    if (permits > RT_SEMAPHORE_PERMITS_MAX) {
        rt_fault(RT_E_INVALID, "acquire", "more permits were asked for than there can ever be");
    }
    acquire->semaphore = semaphore;
    acquire->await = await;
    acquire->err = RT_E_AGAIN;
    rt_future_init(&acquire->future, poll, drop, "acquire");
    rt_waiter_init(&acquire->waiter, permits);
}

rt_poll
rt_acquire_poll_at(struct rt_acquire *acquire, struct rt_cx *cx, const struct rt_site *await)
{
    rt_assert(acquire != NULL);
    acquire->await = await;
    return rt_future_poll(&acquire->future, cx);
}

void
rt_acquire_drop_at(struct rt_acquire *acquire, const struct rt_site *await)
{
    rt_assert(acquire != NULL);
    acquire->await = await;
    rt_future_drop(&acquire->future);
}

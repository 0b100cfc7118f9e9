/*
 * mutex.c -- a counter of one that only its holder gives back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/mutex.h"

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

#define MUTEX_MAGIC 0x524d5554u

static const char *
audit(const struct rt_object *object)
{
    const struct rt_mutex *mutex = rt_container_of(object, struct rt_mutex, object);
    bool free = mutex->waiters.free > 0;
    return free && rt_waiters_queueing(&mutex->waiters) ? "the mutex is free while a task queues"
                                                        : NULL;
}

static struct rt_lock *
lock_of(struct rt_future *future)
{
    struct rt_lock *lock = rt_container_of(future, struct rt_lock, future);
    rt_check(&lock->mutex->object, MUTEX_MAGIC);
    return lock;
}

static rt_poll
poll(struct rt_future *future, struct rt_cx *cx)
{
    struct rt_lock *lock = lock_of(future);
    struct rt_mutex *mutex = lock->mutex;
    RT_AWAIT(rt_waiter_poll(&lock->waiter, &mutex->waiters, cx, "the mutex", RT_HERE, lock->await));
    RT_PROBE(CONSUME, mutex->object.id, RT_HERE, lock->await, 1);
    return RT_READY;
}

static void
drop(struct rt_future *future)
{
    struct rt_lock *lock = lock_of(future);
    rt_waiter_leave(&lock->waiter, &lock->mutex->waiters, lock->await);
}

void
rt_mutex_init(struct rt_mutex *mutex)
{
    rt_assert(mutex != NULL);
    mutex->object = (struct rt_object){MUTEX_MAGIC, RT_PROBE_OBJECT(MUTEX)};
    rt_waiters_init(&mutex->waiters, mutex->object.id, 1);
    RT_PROBE_AUDIT(&mutex->object, audit);
}

void
rt_mutex_fini(struct rt_mutex *mutex)
{
    rt_check(&mutex->object, MUTEX_MAGIC);
    if (rt_mutex_locked(mutex)) {
        rt_fault(RT_E_IN_USE, "mutex", "a mutex was ended while it was locked");
    }
    rt_waiters_fini(&mutex->waiters, "mutex");
    RT_PROBE_AUDIT(&mutex->object, NULL);
    mutex->object.magic = 0;
}

bool
rt_mutex_try_lock(struct rt_mutex *mutex)
{
    rt_check(&mutex->object, MUTEX_MAGIC);
    bool locked = rt_waiters_take(&mutex->waiters, 1);
    if (locked) {
        RT_PROBE(CONSUME, mutex->object.id, RT_HERE, NULL, 1);
    } else {
        RT_PROBE(REFUSE, mutex->object.id, RT_HERE, NULL, 0);
    }
    return locked;
}

void
rt_mutex_unlock_at(struct rt_mutex *mutex, const struct rt_site *await)
{
    rt_check(&mutex->object, MUTEX_MAGIC);
    if (mutex->waiters.free + mutex->waiters.assigned != 0) {
        rt_fault(RT_E_INVALID, "mutex", "a mutex was unlocked that is not locked");
    }
    RT_PROBE(PUT, mutex->object.id, RT_HERE, await, 1);
    rt_waiters_give(&mutex->waiters, 1, await);
}

bool
rt_mutex_locked(const struct rt_mutex *mutex)
{
    rt_check(&mutex->object, MUTEX_MAGIC);
    return mutex->waiters.free == 0;
}

void
rt_lock_init_at(struct rt_lock *lock, struct rt_mutex *mutex, const struct rt_site *await)
{
    rt_assert(lock != NULL);
    rt_check(&mutex->object, MUTEX_MAGIC);
    lock->mutex = mutex;
    lock->await = await;
    rt_future_init(&lock->future, poll, drop, "lock");
    rt_waiter_init(&lock->waiter, 1);
}

rt_poll
rt_lock_poll_at(struct rt_lock *lock, struct rt_cx *cx, const struct rt_site *await)
{
    rt_assert(lock != NULL);
    lock->await = await;
    return rt_future_poll(&lock->future, cx);
}

void
rt_lock_drop_at(struct rt_lock *lock, const struct rt_site *await)
{
    rt_assert(lock != NULL);
    lock->await = await;
    rt_future_drop(&lock->future);
}

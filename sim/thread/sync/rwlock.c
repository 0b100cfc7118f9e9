/*
 * rwlock.c -- read-write locks: `owner` is the writer, `value` how many readers hold it.
 *
 * By default a reader is let in while others read, also where a writer waits; with
 * PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP it waits behind the writer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/thread/sync/priv.h"

static struct sim_sync *
sync_of(const pthread_rwlock_t *lock)
{
    return sim_sync_at(sim__thread_world(), lock, SIM_SYNC_RWLOCK);
}

/* `count` is how many writers wait. */
static bool
may_read(const pthread_rwlock_t *lock, const struct sim_sync *sync)
{
    bool behind = lock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
    return sync->owner == NULL && (!behind || sync->count == 0);
}

static bool
may_write(const struct sim_sync *sync)
{
    return sync->owner == NULL && sync->value == 0;
}

static void
enter_reading(struct sim_sync *sync, const struct rt_site *site)
{
    sync->value++;
    sim__sync_event(sync, SIM_EVENT_GRANTED, site, 0);
}

static void
enter_writing(struct sim_sync *sync, const struct rt_site *site)
{
    sync->owner = sim_thread_now;
    sim__sync_event(sync, SIM_EVENT_GRANTED, site, 0);
}

static int
block(struct sim_sync *sync, uint64_t due_ns, const struct rt_site *site)
{
    const struct sim_thread_wait wait = {.sync = sync, .site = site, .due_ns = due_ns};
    return sim_thread_block(&wait) == SIM_WOKEN_TIMEOUT ? ETIMEDOUT : 0;
}

static int
read_lock(pthread_rwlock_t *lock, uint64_t due_ns, const struct rt_site *site)
{
    struct sim_sync *sync = sync_of(lock);
    if (sync->owner == sim_thread_now) {
        return EDEADLK;
    }
    while (!may_read(lock, sync)) {
        if (block(sync, due_ns, site) != 0) {
            return ETIMEDOUT;
        }
    }
    enter_reading(sync, site);
    sim_world_progress(sim__thread_world());
    return 0;
}

static int
write_lock(pthread_rwlock_t *lock, uint64_t due_ns, const struct rt_site *site)
{
    struct sim_sync *sync = sync_of(lock);
    int error = 0;
    if (sync->owner == sim_thread_now) {
        return EDEADLK;
    }
    sync->count++;
    while (error == 0 && !may_write(sync)) {
        error = block(sync, due_ns, site);
    }
    sync->count--;
    if (error == 0) {
        enter_writing(sync, site);
        sim_world_progress(sim__thread_world());
    } else if (sync->first != NULL) { /* Readers behind this writer may enter now. */
        (void)sim_thread_wake_all(sim__thread_world(), sync, site);
    }
    return error;
}

static int
timed(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until,
        int (*enter)(pthread_rwlock_t *lock, uint64_t due_ns, const struct rt_site *site))
{
    const struct rt_site *site = sim__thread_line();
    uint64_t due_ns;
    sim_thread_point();
    int error = sim__deadline(clock, until, &due_ns);
    return error != 0 ? error : enter(lock, due_ns, site);
}

int
sim__pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    return read_lock(lock, SIM_NEVER, site);
}

int
sim__pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    return write_lock(lock, SIM_NEVER, site);
}

int
sim__pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    struct sim_sync *sync = sync_of(lock);
    if (!may_read(lock, sync)) {
        return sim__try_refused(sync, site);
    }
    enter_reading(sync, site);
    sim__try_got(sync);
    return 0;
}

int
sim__pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    struct sim_sync *sync = sync_of(lock);
    if (!may_write(sync)) {
        return sim__try_refused(sync, site);
    }
    enter_writing(sync, site);
    sim__try_got(sync);
    return 0;
}

int
sim__pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    return timed(lock, CLOCK_REALTIME, until, read_lock);
}

int
sim__pthread_rwlock_clockrdlock(
        pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until)
{
    return timed(lock, clock, until, read_lock);
}

int
sim__pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    return timed(lock, CLOCK_REALTIME, until, write_lock);
}

int
sim__pthread_rwlock_clockwrlock(
        pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until)
{
    return timed(lock, clock, until, write_lock);
}

int
sim__pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    struct sim_sync *sync = sync_of(lock);
    if (sync->owner == sim_thread_now) {
        sync->owner = NULL;
    } else if (sync->value > 0) {
        sync->value--;
    } else {
        sim__misuse(site, "'%s' unlocks a read-write lock that %s%s", sim_thread_now->name,
                sync->owner != NULL ? "is locked by " : "is not locked",
                sync->owner != NULL ? sync->owner->name : "");
    }
    sim__sync_event(sync, SIM_EVENT_RELEASED, site, 0);
    if (sync->value == 0 && sync->first != NULL) {
        (void)sim_thread_wake_all(sim__thread_world(), sync, site);
        sim_thread_point_if_woke();
    }
    return 0;
}

int
sim__pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes)
{
    (void)sim_sync_init(sim__thread_world(), lock, SIM_SYNC_RWLOCK);
    return sim__thread_real.pthread_rwlock_init(lock, attributes);
}

int
sim__pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    const struct sim_sync *sync = sync_of(lock);
    return sync->owner != NULL || sync->value > 0 || sync->first != NULL ? EBUSY : 0;
}

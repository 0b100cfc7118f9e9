/*
 * mutex.c -- mutexes of all types, and the lock that spin locks share with them.
 *
 * A robust mutex that a thread holds when it ends is given to the next one with EOWNERDEAD; an
 * ordinary one stays locked, and who waits for it is blocked forever. Priorities have no effect.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>

#include "sim/thread/sync/priv.h"

#define SECOND_NS UINT64_C(1000000000)

/* Of a robust mutex, in `flags`. */
#define OWNER_DEAD 1u
#define NOT_RECOVERABLE 2u

int
sim__length(const struct timespec *time, uint64_t base_ns, uint64_t *ret_ns)
{
    if (time->tv_nsec < 0 || time->tv_nsec >= (long)SECOND_NS) {
        return EINVAL;
    }
    uint64_t seconds = time->tv_sec < 0 ? 0 : (uint64_t)time->tv_sec;
    if (seconds >= SIM_NS_LAST / SECOND_NS + base_ns / SECOND_NS) {
        *ret_ns = SIM_NEVER; /* In more than thirty years. */
        return 0;
    }
    uint64_t ns = seconds * SECOND_NS + (uint64_t)time->tv_nsec;
    *ret_ns = ns > base_ns ? ns - base_ns : 0;
    return 0;
}

int
sim__deadline(clockid_t clock, const struct timespec *until, uint64_t *ret_due_ns)
{
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) {
        return EINVAL;
    }
    bool date = clock == CLOCK_REALTIME;
    return sim__length(until, date ? SIM_THREAD_DATE_NS : SIM_THREAD_UPTIME_NS, ret_due_ns);
}

void
sim__misuse(const struct rt_site *site, const char *format, ...)
{
    char text[SIM_MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    sim_fail(sim__thread_world(), SIM_VERDICT_CONTRACT, SIM_ORACLE_USER, &sim_thread_now->actor,
            site != NULL ? site->id : 0, "%s", text);
}

/* ---- The lock. ------------------------------------------------------------------------------- */

static void
own(struct sim_sync *sync, const struct rt_site *site)
{
    rt_assert(sync->owner == NULL);
    sync->owner = sim_thread_now;
    sync->depth = 1;
    sim__sync_event(sync, SIM_EVENT_GRANTED, site, 0);
}

int
sim__lock_take(struct sim_sync *sync, uint64_t due_ns, const struct rt_site *site)
{
    while (sync->owner != NULL && !sim__thread_world()->takes_locks) {
        const struct sim_thread_wait wait = {.sync = sync,
                .site = site,
                .reason = sync->owner == sim_thread_now ? "a lock that it holds itself" : NULL,
                .due_ns = due_ns};
        if (sim_thread_block(&wait) == SIM_WOKEN_TIMEOUT) {
            return ETIMEDOUT;
        }
    }
    sync->owner = NULL;
    own(sync, site);
    sim_world_progress(sim__thread_world());
    return 0;
}

int
sim__try_refused(struct sim_sync *sync, const struct rt_site *site)
{
    sim__sync_event(sync, RT_PROBE_REFUSE, site, 0);
    sim_thread_now->refused = sync;
    return EBUSY;
}

void
sim__try_got(const struct sim_sync *sync)
{
    if (sim_thread_now->refused == sync) {
        sim_thread_now->refused = NULL;
    }
    if (sim_thread_now->refused == NULL) {
        sim_world_progress(sim__thread_world());
    }
}

int
sim__lock_try(struct sim_sync *sync, const struct rt_site *site)
{
    if (sync->owner != NULL) {
        return sim__try_refused(sync, site);
    }
    own(sync, site);
    sim__try_got(sync);
    return 0;
}

void
sim__lock_release(struct sim_sync *sync, const struct rt_site *site)
{
    rt_assert(sync->owner != NULL);
    sync->owner = NULL;
    sync->depth = 0;
    sim__sync_event(sync, SIM_EVENT_RELEASED, site, 0);
    if (sync->first != NULL) {
        (void)sim_thread_wake_one(sim__thread_world(), sync, site, true);
    }
}

/* ---- Mutexes. -------------------------------------------------------------------------------- */

/* What pthread_mutex_init writes: the type in the lowest bits, others above. -1: destroyed. */
static int
kind_of(const pthread_mutex_t *mutex)
{
    return mutex->__data.__kind;
}

static bool
has_type(const pthread_mutex_t *mutex, int type)
{
    return (kind_of(mutex) & 3) == type;
}

static struct sim_sync *
sync_of(const pthread_mutex_t *mutex)
{
    return sim_sync_at(sim__thread_world(), mutex, SIM_SYNC_MUTEX);
}

static bool
is_robust(const pthread_mutex_t *mutex)
{
    return (kind_of(mutex) & 16) != 0 && kind_of(mutex) != -1;
}

/* It was taken: 0, EOWNERDEAD, or ENOTRECOVERABLE, and then it is given back. */
static int
hold_robust(struct sim_sync *sync, const struct rt_site *site)
{
    if ((sync->flags & NOT_RECOVERABLE) != 0) {
        sim__lock_release(sync, site);
        return ENOTRECOVERABLE;
    }
    sync->held = sim_thread_now->robust;
    sim_thread_now->robust = sync;
    return (sync->flags & OWNER_DEAD) != 0 ? EOWNERDEAD : 0;
}

/* Its owner unlocks it; without pthread_mutex_consistent no thread may lock it any more. */
static void
drop_robust(struct sim_sync *sync)
{
    struct sim_sync **at = &sim_thread_now->robust;
    while (*at != sync && *at != NULL) { /* NULL: initialized again while it was held. */
        at = &(*at)->held;
    }
    if (*at != NULL) {
        *at = sync->held;
    }
    if ((sync->flags & OWNER_DEAD) != 0) {
        sync->flags = NOT_RECOVERABLE;
    }
}

void
sim__mutexes_leave(struct sim_thread *thread)
{
    while (thread->robust != NULL) {
        struct sim_sync *sync = thread->robust;
        thread->robust = sync->held;
        if (sync->owner == thread) {
            sync->flags |= OWNER_DEAD;
            sim__lock_release(sync, NULL);
        }
    }
}

int
sim__mutex_lock(pthread_mutex_t *mutex, uint64_t due_ns, const struct rt_site *site)
{
    struct sim_sync *sync = sync_of(mutex);
    if (kind_of(mutex) == -1) {
        return EINVAL;
    }
    if (sync->owner == sim_thread_now && has_type(mutex, PTHREAD_MUTEX_ERRORCHECK)) {
        return EDEADLK;
    }
    if (sync->owner == sim_thread_now && has_type(mutex, PTHREAD_MUTEX_RECURSIVE)) {
        sync->depth++;
        return 0;
    }
    int error = sim__lock_take(sync, due_ns, site);
    return error == 0 && is_robust(mutex) ? hold_robust(sync, site) : error;
}

int
sim__mutex_unlock(pthread_mutex_t *mutex, const struct rt_site *site)
{
    struct sim_sync *sync = sync_of(mutex);
    if (sync->owner != sim_thread_now) {
        if (has_type(mutex, PTHREAD_MUTEX_RECURSIVE) || has_type(mutex, PTHREAD_MUTEX_ERRORCHECK) ||
                is_robust(mutex)) {
            return EPERM;
        }
        sim__misuse(site, "'%s' unlocks a mutex that %s%s", sim_thread_now->name,
                sync->owner != NULL ? "is locked by " : "is not locked",
                sync->owner != NULL ? sync->owner->name : "");
    }
    if (--sync->depth == 0) {
        if (is_robust(mutex)) {
            drop_robust(sync);
        }
        sim__lock_release(sync, site);
    }
    return 0;
}

int
sim__pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    (void)sim_sync_init(sim__thread_world(), mutex, SIM_SYNC_MUTEX);
    return sim__thread_real.pthread_mutex_init(mutex, attributes);
}

int
sim__pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    const struct sim_sync *sync = sync_of(mutex);
    if (sync->owner != NULL || sync->first != NULL) {
        return EBUSY;
    }
    return sim__thread_real.pthread_mutex_destroy(mutex);
}

int
sim__pthread_mutex_lock(pthread_mutex_t *mutex)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    return sim__mutex_lock(mutex, SIM_NEVER, site);
}

int
sim__pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    struct sim_sync *sync = sync_of(mutex);
    if (sync->owner == sim_thread_now && has_type(mutex, PTHREAD_MUTEX_RECURSIVE)) {
        sync->depth++;
        return 0;
    }
    int error = sim__lock_try(sync, site);
    return error == 0 && is_robust(mutex) ? hold_robust(sync, site) : error;
}

int
sim__pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
    const struct rt_site *site = sim__thread_line();
    uint64_t due_ns;
    sim_thread_point();
    if (sync_of(mutex)->owner == NULL) {
        return sim__mutex_lock(mutex, SIM_NEVER, site);
    }
    int error = sim__deadline(clock, until, &due_ns);
    return error != 0 ? error : sim__mutex_lock(mutex, due_ns, site);
}

int
sim__pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    return sim__pthread_mutex_clocklock(mutex, CLOCK_REALTIME, until);
}

int
sim__pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    int error = sim__mutex_unlock(mutex, site);
    sim_thread_point_if_woke();
    return error;
}

int
sim__pthread_mutex_consistent(pthread_mutex_t *mutex)
{
    struct sim_sync *sync = sync_of(mutex);
    bool left =
            is_robust(mutex) && sync->owner == sim_thread_now && (sync->flags & OWNER_DEAD) != 0;
    sync->flags &= left ? ~OWNER_DEAD : ~0u;
    return left ? 0 : EINVAL;
}

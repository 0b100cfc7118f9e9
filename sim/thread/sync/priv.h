/*
 * priv.h -- what the primitives share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <errno.h>

#include "runtime/base/assert.h"
#include "sim/core/scenario.h"
#include "sim/thread/priv.h"
#include "sim/thread/sync/calls.h"

/* The run's world; on a simulated thread. */
static inline struct sim_world *
sim__thread_world(void)
{
    return sim_thread_now->actor.world;
}

/* An event about `sync`, by the calling thread. */
static inline void
sim__sync_event(struct sim_sync *sync, uint32_t kind, const struct rt_site *site, uint64_t argument)
{
    struct sim_world *world = sim__thread_world();
    if (world->recorder.events_on) {
        sim_world_event(world, kind, sim_sync_object(world, sync), 0, site != NULL ? site->id : 0,
                argument);
    }
}

/* The time `until` of `clock` as virtual time. EINVAL: it is none, or such a clock does not end
 * waits. */
int sim__deadline(clockid_t clock, const struct timespec *until, uint64_t *ret_due_ns);

/* `time` as nanoseconds after `base_ns`; 0: it is before. EINVAL: it is no time. */
int sim__length(const struct timespec *time, uint64_t base_ns, uint64_t *ret_ns);

/* ---- Tries. ---------------------------------------------------------------------------------- */

/* `sync` is not free. Returns EBUSY. */
int sim__try_refused(struct sim_sync *sync, const struct rt_site *site);

/* It was got. That is progress, as with a lock that was waited for, but not where the thread still
 * lacks what another try was refused: two that give up and try again are a livelock. */
void sim__try_got(const struct sim_sync *sync);

/* ---- Locks that one thread holds: mutexes, spin locks. --------------------------------------- */

/* Waits until `sync` is free, up to `due_ns`, and takes it; 0 or ETIMEDOUT. No decision point. */
int sim__lock_take(struct sim_sync *sync, uint64_t due_ns, const struct rt_site *site);

/* Takes it if it is free; 0 or EBUSY. No decision point. */
int sim__lock_try(struct sim_sync *sync, const struct rt_site *site);

/* The owner gives it back, and a waiting thread is woken. No decision point. */
void sim__lock_release(struct sim_sync *sync, const struct rt_site *site);

/* What pthread_mutex_lock and its relatives do, after their decision point. */
int sim__mutex_lock(pthread_mutex_t *mutex, uint64_t due_ns, const struct rt_site *site);
int sim__mutex_unlock(pthread_mutex_t *mutex, const struct rt_site *site);

/* Ends the run: the program has broken a rule of POSIX that no error tells it of. */
__attribute__((noreturn, format(printf, 2, 3))) void sim__misuse(
        const struct rt_site *site, const char *format, ...);

/* ---- Threads. -------------------------------------------------------------------------------- */

static inline pthread_t
sim__thread_id(const struct sim_thread *thread)
{
    return thread->pointer != 0 ? (pthread_t)thread->pointer : (pthread_t)(uintptr_t)thread;
}

/* Makes a thread with `attributes` (NULL: the default ones). */
int sim__create(
        pthread_t *ret_id, const pthread_attr_t *attributes, void *(*fn)(void *), void *argument);
int sim__join(pthread_t id, void **ret_result, uint64_t due_ns, const struct rt_site *site);

/* pthread_key_create in a run. */
int sim__key_create(pthread_key_t *ret_key, void (*destroy)(void *));

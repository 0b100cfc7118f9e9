/*
 * barrier.c -- barriers, and spin locks.
 *
 * Of a barrier `value` is how many threads it takes, `count` how many have arrived, and `flags`
 * counts the rounds. A thread that waits for a spin lock is blocked, as by a mutex: that it would
 * look again and again makes no other runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/thread/sync/priv.h"

static struct sim_sync *
barrier_of(const pthread_barrier_t *barrier)
{
    return sim_sync_at(sim__thread_world(), barrier, SIM_SYNC_BARRIER);
}

int
sim__pthread_barrier_init(
        pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes, unsigned count)
{
    int error = sim__thread_real.pthread_barrier_init(barrier, attributes, count);
    if (error == 0) {
        sim_sync_init(sim__thread_world(), barrier, SIM_SYNC_BARRIER)->value = count;
    }
    return error;
}

int
sim__pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    return barrier_of(barrier)->first != NULL ? EBUSY : 0;
}

static int
complete(struct sim_sync *sync, const struct rt_site *site)
{
    sync->count = 0;
    sync->flags++;
    sim_world_progress(sim__thread_world());
    if (sync->first != NULL) {
        (void)sim_thread_wake_all(sim__thread_world(), sync, site);
    }
    sim_thread_point_if_woke();
    return PTHREAD_BARRIER_SERIAL_THREAD;
}

int
sim__pthread_barrier_wait(pthread_barrier_t *barrier)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    struct sim_sync *sync = barrier_of(barrier);
    uint32_t round = sync->flags;
    if (sync->value == 0) {
        sim__misuse(site, "'%s' waits at a barrier that was not initialized in the run",
                sim_thread_now->name);
    }
    sim__sync_event(sync, RT_PROBE_PUT, site, 1);
    if (++sync->count == sync->value) {
        return complete(sync, site);
    }
    while (sync->flags == round) {
        const struct sim_thread_wait wait = {.sync = sync, .site = site, .due_ns = SIM_NEVER};
        (void)sim_thread_block(&wait);
    }
    return 0;
}

/* ---- Spin locks. ----------------------------------------------------------------------------- */

static struct sim_sync *
spin_of(const volatile pthread_spinlock_t *lock)
{
    return sim_sync_at(sim__thread_world(), lock, SIM_SYNC_SPIN);
}

int
sim__pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
    (void)sim_sync_init(sim__thread_world(), lock, SIM_SYNC_SPIN);
    return sim__thread_real.pthread_spin_init(lock, shared);
}

int
sim__pthread_spin_destroy(pthread_spinlock_t *lock)
{
    return spin_of(lock)->owner != NULL ? EBUSY : 0;
}

int
sim__pthread_spin_lock(pthread_spinlock_t *lock)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    return sim__lock_take(spin_of(lock), SIM_NEVER, site);
}

int
sim__pthread_spin_trylock(pthread_spinlock_t *lock)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    return sim__lock_try(spin_of(lock), site);
}

int
sim__pthread_spin_unlock(pthread_spinlock_t *lock)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    struct sim_sync *sync = spin_of(lock);
    if (sync->owner == NULL) {
        sim__misuse(site, "'%s' unlocks a spin lock that is not locked", sim_thread_now->name);
    }
    sim__lock_release(sync, site); /* Any thread may: POSIX leaves it open. */
    return 0;
}

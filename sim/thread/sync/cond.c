/*
 * cond.c -- condition variables.
 *
 * A wait may end for nothing: by a decision (kind `spurious`), or because the oracle asks whether
 * the thread could make progress. Which waiting thread a signal wakes is a decision too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/thread/sync/priv.h"

/* What pthread_cond_destroy writes, and initializing it again takes away. */
#define DESTROYED 4u

/* What is there in freed memory says nothing, so that is checked first. */
static struct sim_sync *
sync_of(const pthread_cond_t *cond)
{
    struct sim_sync *sync = sim_sync_at(sim__thread_world(), cond, SIM_SYNC_COND);
    if ((cond->__data.__wrefs & DESTROYED) != 0) {
        sim__misuse(sim__thread_line(), "'%s' uses a condition variable that was destroyed",
                sim_thread_now->name);
    }
    return sync;
}

/* What pthread_cond_init writes for condattr's clock. */
static clockid_t
clock_of(const pthread_cond_t *cond)
{
    return (cond->__data.__wrefs & 2) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

/* The wait ends at once, for nothing; others may run in between. */
static void
wait_for_nothing(pthread_mutex_t *mutex, const struct rt_site *site)
{
    struct sim_thread *thread = sim_thread_now;
    sim_world_event(thread->actor.world, SIM_EVENT_SPURIOUS, thread->object, 0,
            site != NULL ? site->id : 0, 0);
    (void)sim__mutex_unlock(mutex, site);
    sim_thread_yield();
}

static enum sim_woken
wait_in(struct sim_sync *sync, pthread_mutex_t *mutex, uint64_t due_ns, const struct rt_site *site)
{
    struct sim_thread *thread = sim_thread_now;
    uint64_t one_in = thread->actor.world->options.spurious_one_in;
    if (sim__perturb(&thread->actor, SIM_KIND_SPURIOUS, 2, one_in) != 0) {
        wait_for_nothing(mutex, site);
        return SIM_WOKEN_SPURIOUS;
    }
    const struct sim_thread_wait wait = {
            .sync = sync, .site = site, .due_ns = due_ns, .spurious = true};
    (void)sim__mutex_unlock(mutex, site);
    return sim_thread_block(&wait);
}

static int
wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t due_ns)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    sim_thread_cancel_point();
    const struct sim_sync *held = sim_sync_at(sim__thread_world(), mutex, SIM_SYNC_MUTEX);
    if (held->owner != sim_thread_now) {
        sim__misuse(site, "'%s' waits for a condition variable without holding the mutex",
                sim_thread_now->name);
    }
    enum sim_woken woken = wait_in(sync_of(cond), mutex, due_ns, site);
    int error = sim__mutex_lock(mutex, SIM_NEVER, site); /* EOWNERDEAD … */
    sim_thread_cancel_point();
    return error == 0 && woken == SIM_WOKEN_TIMEOUT ? ETIMEDOUT : error;
}

int
sim__pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    return wait_until(cond, mutex, SIM_NEVER);
}

int
sim__pthread_cond_clockwait(
        pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
    uint64_t due_ns;
    int error = sim__deadline(clock, until, &due_ns);
    return error != 0 ? error : wait_until(cond, mutex, due_ns);
}

int
sim__pthread_cond_timedwait(
        pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
    return sim__pthread_cond_clockwait(cond, mutex, clock_of(cond), until);
}

int
sim__pthread_cond_signal(pthread_cond_t *cond)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    (void)sim_thread_wake_one(sim__thread_world(), sync_of(cond), site, true);
    sim_thread_point_if_woke();
    return 0;
}

int
sim__pthread_cond_broadcast(pthread_cond_t *cond)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    (void)sim_thread_wake_all(sim__thread_world(), sync_of(cond), site);
    sim_thread_point_if_woke();
    return 0;
}

int
sim__pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes)
{
    (void)sim_sync_init(sim__thread_world(), cond, SIM_SYNC_COND);
    return sim__thread_real.pthread_cond_init(cond, attributes);
}

int
sim__pthread_cond_destroy(pthread_cond_t *cond)
{
    return sync_of(cond)->first != NULL ? EBUSY : sim__thread_real.pthread_cond_destroy(cond);
}

/*
 * semaphore.c -- semaphores without a name: `value` is how many permits there are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>
#include <string.h>

#include "sim/thread/sync/priv.h"

#define INITIALIZED 1u

/* One that was initialized before the run has its permits in the program's memory. */
static struct sim_sync *
sync_of(const sem_t *sem)
{
    struct sim_sync *sync = sim_sync_at(sim__thread_world(), sem, SIM_SYNC_SEMAPHORE);
    if ((sync->flags & INITIALIZED) == 0) {
        memcpy(&sync->value, sem, sizeof(sync->value));
        sync->flags |= INITIALIZED;
    }
    return sync;
}

static int
fail(int error)
{
    errno = error;
    return -1;
}

static void
take(struct sim_sync *sync, const struct rt_site *site)
{
    rt_assert(sync->value > 0);
    sync->value--;
    rt_probe_emit(RT_PROBE_CONSUME, sim_sync_object(sim__thread_world(), sync), NULL, site, 1);
}

static int
wait_until(sem_t *sem, uint64_t due_ns, const struct rt_site *site)
{
    struct sim_sync *sync = sync_of(sem);
    while (sync->value == 0) {
        const struct sim_thread_wait wait = {.sync = sync, .site = site, .due_ns = due_ns};
        enum sim_woken woken = sim_thread_block(&wait);
        sim_thread_cancel_point();
        if (woken == SIM_WOKEN_TIMEOUT ||
                (woken == SIM_WOKEN_SIGNAL && !sim_thread_now->restarts)) {
            return fail(woken == SIM_WOKEN_TIMEOUT ? ETIMEDOUT : EINTR);
        }
    }
    take(sync, site);
    return 0;
}

int
sim__sem_wait(sem_t *sem)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    sim_thread_cancel_point();
    return wait_until(sem, SIM_NEVER, site);
}

int
sim__sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *until)
{
    const struct rt_site *site = sim__thread_line();
    uint64_t due_ns = SIM_NEVER;
    sim_thread_point();
    sim_thread_cancel_point();
    int error = sync_of(sem)->value == 0 ? sim__deadline(clock, until, &due_ns) : 0;
    return error != 0 ? fail(error) : wait_until(sem, due_ns, site);
}

int
sim__sem_timedwait(sem_t *sem, const struct timespec *until)
{
    return sim__sem_clockwait(sem, CLOCK_REALTIME, until);
}

int
sim__sem_trywait(sem_t *sem)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    struct sim_sync *sync = sync_of(sem);
    if (sync->value == 0) {
        sim__sync_event(sync, RT_PROBE_REFUSE, site, 0);
        return fail(EAGAIN);
    }
    take(sync, site);
    return 0;
}

int
sim__sem_post(sem_t *sem)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    struct sim_world *world = sim__thread_world();
    struct sim_sync *sync = sync_of(sem);
    if (sync->value == INT_MAX) {
        return fail(EOVERFLOW);
    }
    sync->value++;
    rt_probe_emit(RT_PROBE_PUT, sim_sync_object(world, sync), NULL, site, 1);
    if (sync->first != NULL) {
        (void)sim_thread_wake_one(world, sync, site, true);
        sim_thread_point_if_woke();
    }
    return 0;
}

int
sim__sem_getvalue(sem_t *sem, int *ret_value)
{
    sim_thread_point();
    *ret_value = (int)sync_of(sem)->value;
    return 0;
}

int
sim__sem_init(sem_t *sem, int shared, unsigned value)
{
    if (value > INT_MAX) {
        return fail(EINVAL);
    }
    struct sim_sync *sync = sim_sync_init(sim__thread_world(), sem, SIM_SYNC_SEMAPHORE);
    sync->value = value;
    sync->flags = INITIALIZED;
    return sim__thread_real.sem_init(sem, shared, value);
}

int
sim__sem_destroy(sem_t *sem)
{
    return sync_of(sem)->first != NULL ? fail(EBUSY) : 0;
}

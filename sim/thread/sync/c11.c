/*
 * c11.c -- <threads.h>, whose types are those of <pthread.h> in the GNU C library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/thread/sync/priv.h"

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "a mtx_t is a pthread_mutex_t");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "a cnd_t is a pthread_cond_t");

static int
status_of(int error)
{
    switch (error) {
    case 0:
        return thrd_success;
    case EBUSY:
        return thrd_busy;
    case ETIMEDOUT:
        return thrd_timedout;
    case ENOMEM:
        return thrd_nomem;
    default:
        return thrd_error;
    }
}

static pthread_mutex_t *
mutex_of(mtx_t *mutex)
{
    return (pthread_mutex_t *)(void *)mutex;
}

static pthread_cond_t *
cond_of(cnd_t *cond)
{
    return (pthread_cond_t *)(void *)cond;
}

int
sim__mtx_init(mtx_t *mutex, int type)
{
    (void)sim_sync_init(sim__thread_world(), mutex, SIM_SYNC_MUTEX);
    return sim__thread_real.mtx_init(mutex, type);
}

void
sim__mtx_destroy(mtx_t *mutex)
{
    (void)sim__pthread_mutex_destroy(mutex_of(mutex));
}

int
sim__mtx_lock(mtx_t *mutex)
{
    return status_of(sim__pthread_mutex_lock(mutex_of(mutex)));
}

int
sim__mtx_timedlock(mtx_t *mutex, const struct timespec *until)
{
    return status_of(sim__pthread_mutex_timedlock(mutex_of(mutex), until));
}

int
sim__mtx_trylock(mtx_t *mutex)
{
    return status_of(sim__pthread_mutex_trylock(mutex_of(mutex)));
}

int
sim__mtx_unlock(mtx_t *mutex)
{
    return status_of(sim__pthread_mutex_unlock(mutex_of(mutex)));
}

int
sim__cnd_init(cnd_t *cond)
{
    return status_of(sim__pthread_cond_init(cond_of(cond), NULL));
}

void
sim__cnd_destroy(cnd_t *cond)
{
    (void)sim__pthread_cond_destroy(cond_of(cond));
}

int
sim__cnd_signal(cnd_t *cond)
{
    return status_of(sim__pthread_cond_signal(cond_of(cond)));
}

int
sim__cnd_broadcast(cnd_t *cond)
{
    return status_of(sim__pthread_cond_broadcast(cond_of(cond)));
}

int
sim__cnd_wait(cnd_t *cond, mtx_t *mutex)
{
    return status_of(sim__pthread_cond_wait(cond_of(cond), mutex_of(mutex)));
}

int
sim__cnd_timedwait(cnd_t *cond, mtx_t *mutex, const struct timespec *until)
{
    return status_of(sim__pthread_cond_timedwait(cond_of(cond), mutex_of(mutex), until));
}

/* ---- Threads. -------------------------------------------------------------------------------- */

/* A function that returns a number, and its argument. */
struct started {
    thrd_start_t fn;
    void *argument;
};

static void *
call(void *argument)
{
    const struct started *started = argument;
    return (void *)(intptr_t)started->fn(started->argument);
}

int
sim__thrd_create(thrd_t *ret_thread, thrd_start_t fn, void *argument)
{
    sim_thread_point();
    struct started *started = sim_new(sim__thread_world(), struct started);
    *started = (struct started){fn, argument};
    return status_of(sim__create(ret_thread, NULL, call, started));
}

int
sim__thrd_join(thrd_t id, int *ret_result)
{
    const struct rt_site *site = sim__thread_line();
    void *result;
    sim_thread_point();
    int error = sim__join(id, &result, SIM_NEVER, site);
    if (error == 0 && ret_result != NULL) {
        *ret_result = (int)(intptr_t)result;
    }
    return status_of(error);
}

int
sim__thrd_detach(thrd_t id)
{
    return status_of(sim__pthread_detach(id));
}

thrd_t
sim__thrd_current(void)
{
    return sim__thread_id(sim_thread_now);
}

void
sim__thrd_yield(void)
{
    sim_thread_yield();
}

/* ---- Keys, and one-time initialization. ------------------------------------------------------ */

int
sim__tss_create(tss_t *ret_key, tss_dtor_t destroy)
{
    return status_of(sim__key_create(ret_key, destroy));
}

void
sim__tss_delete(tss_t key)
{
    (void)sim__pthread_key_delete(key);
}

int
sim__tss_set(tss_t key, void *value)
{
    return status_of(sim__pthread_setspecific(key, value));
}

void *
sim__tss_get(tss_t key)
{
    return sim__pthread_getspecific(key);
}

_Static_assert(sizeof(once_flag) == sizeof(pthread_once_t), "a once_flag is a pthread_once_t");

void
sim__call_once(once_flag *once, void (*fn)(void))
{
    (void)sim__pthread_once((pthread_once_t *)(void *)once, fn);
}

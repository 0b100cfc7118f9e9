/*
 * calls.h -- every call of <pthread.h>, <semaphore.h> and <threads.h> that is simulated.
 *
 * X(type, name, parameters, arguments). The executable exports `name`: on a simulated thread it
 * calls sim__<name>, elsewhere the C library's own (calls.c). What only reads or writes its
 * argument (attributes, pthread_equal) stays the C library's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include "sim/thread/thread.h"

/* clang-format off */

/* mutex.c */
#define SIM_THREAD_MUTEX_CALLS(X) \
    X(int, pthread_mutex_init, (pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes), \
            (mutex, attributes)) \
    X(int, pthread_mutex_destroy, (pthread_mutex_t *mutex), (mutex)) \
    X(int, pthread_mutex_lock, (pthread_mutex_t *mutex), (mutex)) \
    X(int, pthread_mutex_trylock, (pthread_mutex_t *mutex), (mutex)) \
    X(int, pthread_mutex_timedlock, (pthread_mutex_t *mutex, const struct timespec *until), \
            (mutex, until)) \
    X(int, pthread_mutex_clocklock, \
            (pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until), \
            (mutex, clock, until)) \
    X(int, pthread_mutex_unlock, (pthread_mutex_t *mutex), (mutex)) \
    X(int, pthread_mutex_consistent, (pthread_mutex_t *mutex), (mutex))

/* cond.c */
#define SIM_THREAD_COND_CALLS(X) \
    X(int, pthread_cond_init, (pthread_cond_t *cond, const pthread_condattr_t *attributes), \
            (cond, attributes)) \
    X(int, pthread_cond_destroy, (pthread_cond_t *cond), (cond)) \
    X(int, pthread_cond_wait, (pthread_cond_t *cond, pthread_mutex_t *mutex), (cond, mutex)) \
    X(int, pthread_cond_timedwait, \
            (pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until), \
            (cond, mutex, until)) \
    X(int, pthread_cond_clockwait, (pthread_cond_t *cond, pthread_mutex_t *mutex, \
            clockid_t clock, const struct timespec *until), (cond, mutex, clock, until)) \
    X(int, pthread_cond_signal, (pthread_cond_t *cond), (cond)) \
    X(int, pthread_cond_broadcast, (pthread_cond_t *cond), (cond))

/* rwlock.c */
#define SIM_THREAD_RWLOCK_CALLS(X) \
    X(int, pthread_rwlock_init, \
            (pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes), (lock, attributes)) \
    X(int, pthread_rwlock_destroy, (pthread_rwlock_t *lock), (lock)) \
    X(int, pthread_rwlock_rdlock, (pthread_rwlock_t *lock), (lock)) \
    X(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *lock), (lock)) \
    X(int, pthread_rwlock_timedrdlock, \
            (pthread_rwlock_t *lock, const struct timespec *until), (lock, until)) \
    X(int, pthread_rwlock_clockrdlock, \
            (pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until), \
            (lock, clock, until)) \
    X(int, pthread_rwlock_wrlock, (pthread_rwlock_t *lock), (lock)) \
    X(int, pthread_rwlock_trywrlock, (pthread_rwlock_t *lock), (lock)) \
    X(int, pthread_rwlock_timedwrlock, \
            (pthread_rwlock_t *lock, const struct timespec *until), (lock, until)) \
    X(int, pthread_rwlock_clockwrlock, \
            (pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until), \
            (lock, clock, until)) \
    X(int, pthread_rwlock_unlock, (pthread_rwlock_t *lock), (lock))

/* semaphore.c */
#define SIM_THREAD_SEMAPHORE_CALLS(X) \
    X(int, sem_init, (sem_t *sem, int shared, unsigned value), (sem, shared, value)) \
    X(int, sem_destroy, (sem_t *sem), (sem)) \
    X(int, sem_wait, (sem_t *sem), (sem)) \
    X(int, sem_trywait, (sem_t *sem), (sem)) \
    X(int, sem_timedwait, (sem_t *sem, const struct timespec *until), (sem, until)) \
    X(int, sem_clockwait, (sem_t *sem, clockid_t clock, const struct timespec *until), \
            (sem, clock, until)) \
    X(int, sem_post, (sem_t *sem), (sem)) \
    X(int, sem_getvalue, (sem_t *sem, int *ret_value), (sem, ret_value))

/* barrier.c */
#define SIM_THREAD_BARRIER_CALLS(X) \
    X(int, pthread_barrier_init, (pthread_barrier_t *barrier, \
            const pthread_barrierattr_t *attributes, unsigned count), \
            (barrier, attributes, count)) \
    X(int, pthread_barrier_destroy, (pthread_barrier_t *barrier), (barrier)) \
    X(int, pthread_barrier_wait, (pthread_barrier_t *barrier), (barrier)) \
    X(int, pthread_spin_init, (pthread_spinlock_t *lock, int shared), (lock, shared)) \
    X(int, pthread_spin_destroy, (pthread_spinlock_t *lock), (lock)) \
    X(int, pthread_spin_lock, (pthread_spinlock_t *lock), (lock)) \
    X(int, pthread_spin_trylock, (pthread_spinlock_t *lock), (lock)) \
    X(int, pthread_spin_unlock, (pthread_spinlock_t *lock), (lock))

/* key.c */
#define SIM_THREAD_KEY_CALLS(X) \
    X(int, pthread_once, (pthread_once_t *once, void (*fn)(void)), (once, fn)) \
    X(int, pthread_key_delete, (pthread_key_t key), (key)) \
    X(void *, pthread_getspecific, (pthread_key_t key), (key)) \
    X(int, pthread_setspecific, (pthread_key_t key, const void *value), (key, value)) \
    X(int, __cxa_thread_atexit_impl, (void (*fn)(void *), void *object, void *module), \
            (fn, object, module))

/* life.c */
#define SIM_THREAD_LIFE_CALLS(X) \
    X(int, pthread_create, (pthread_t *ret_thread, const pthread_attr_t *attributes, \
            void *(*fn)(void *), void *argument), (ret_thread, attributes, fn, argument)) \
    X(int, pthread_join, (pthread_t id, void **ret_result), (id, ret_result)) \
    X(int, pthread_tryjoin_np, (pthread_t id, void **ret_result), (id, ret_result)) \
    X(int, pthread_timedjoin_np, \
            (pthread_t id, void **ret_result, const struct timespec *until), \
            (id, ret_result, until)) \
    X(int, pthread_clockjoin_np, (pthread_t id, void **ret_result, clockid_t clock, \
            const struct timespec *until), (id, ret_result, clock, until)) \
    X(int, pthread_detach, (pthread_t id), (id)) \
    X(pthread_t, pthread_self, (void), ()) \
    X(int, pthread_setname_np, (pthread_t id, const char *name), (id, name)) \
    X(int, pthread_getname_np, (pthread_t id, char *ret_name, size_t size), (id, ret_name, size)) \
    X(int, pthread_getattr_np, (pthread_t id, pthread_attr_t *ret_attributes), \
            (id, ret_attributes)) \
    X(int, pthread_setconcurrency, (int level), (level)) \
    X(int, pthread_cancel, (pthread_t id), (id)) \
    X(int, pthread_setcancelstate, (int state, int *ret_before), (state, ret_before)) \
    X(int, pthread_setcanceltype, (int type, int *ret_before), (type, ret_before))

/* c11.c */
#define SIM_THREAD_C11_CALLS(X) \
    X(int, mtx_init, (mtx_t *mutex, int type), (mutex, type)) \
    X(int, mtx_lock, (mtx_t *mutex), (mutex)) \
    X(int, mtx_timedlock, (mtx_t *mutex, const struct timespec *until), (mutex, until)) \
    X(int, mtx_trylock, (mtx_t *mutex), (mutex)) \
    X(int, mtx_unlock, (mtx_t *mutex), (mutex)) \
    X(int, cnd_init, (cnd_t *cond), (cond)) \
    X(int, cnd_signal, (cnd_t *cond), (cond)) \
    X(int, cnd_broadcast, (cnd_t *cond), (cond)) \
    X(int, cnd_wait, (cnd_t *cond, mtx_t *mutex), (cond, mutex)) \
    X(int, cnd_timedwait, (cnd_t *cond, mtx_t *mutex, const struct timespec *until), \
            (cond, mutex, until)) \
    X(int, thrd_create, (thrd_t *ret_thread, thrd_start_t fn, void *argument), \
            (ret_thread, fn, argument)) \
    X(int, thrd_join, (thrd_t id, int *ret_result), (id, ret_result)) \
    X(int, thrd_detach, (thrd_t id), (id)) \
    X(thrd_t, thrd_current, (void), ()) \
    X(int, tss_create, (tss_t *ret_key, tss_dtor_t destroy), (ret_key, destroy)) \
    X(int, tss_set, (tss_t key, void *value), (key, value)) \
    X(void *, tss_get, (tss_t key), (key))

#define SIM_THREAD_CALLS(X) \
    SIM_THREAD_MUTEX_CALLS(X) \
    SIM_THREAD_COND_CALLS(X) \
    SIM_THREAD_RWLOCK_CALLS(X) \
    SIM_THREAD_SEMAPHORE_CALLS(X) \
    SIM_THREAD_BARRIER_CALLS(X) \
    SIM_THREAD_KEY_CALLS(X) \
    SIM_THREAD_LIFE_CALLS(X) \
    SIM_THREAD_C11_CALLS(X)

/* Those that return nothing: X(name, parameters, arguments). */
#define SIM_THREAD_VOID_CALLS(X) \
    X(pthread_testcancel, (void), ()) \
    X(mtx_destroy, (mtx_t *mutex), (mutex)) \
    X(cnd_destroy, (cnd_t *cond), (cond)) \
    X(tss_delete, (tss_t key), (key)) \
    X(call_once, (once_flag *once, void (*fn)(void)), (once, fn)) \
    X(thrd_yield, (void), ())

/* clang-format on */

/* The C library's functions, found before the first constructor runs. One that it lacks returns
 * ENOSYS. */
struct sim__thread_real {
#define SIM_THREAD_REAL(type, name, parameters, arguments) type(*name) parameters;
    SIM_THREAD_CALLS(SIM_THREAD_REAL)
#undef SIM_THREAD_REAL
#define SIM_THREAD_REAL(name, parameters, arguments) void(*name) parameters;
    SIM_THREAD_VOID_CALLS(SIM_THREAD_REAL)
#undef SIM_THREAD_REAL
    int (*pthread_key_create)(pthread_key_t *, void (*)(void *));
    void (*pthread_exit)(void *);
    void (*thrd_exit)(int);
};
extern struct sim__thread_real sim__thread_real;

/* What plays them. */
#define SIM_THREAD_PLAYED(type, name, parameters, arguments) type sim__##name parameters;
SIM_THREAD_CALLS(SIM_THREAD_PLAYED)
#undef SIM_THREAD_PLAYED
#define SIM_THREAD_PLAYED(name, parameters, arguments) void sim__##name parameters;
SIM_THREAD_VOID_CALLS(SIM_THREAD_PLAYED)
#undef SIM_THREAD_PLAYED

/* Where the call in progress returns to; read before the thread is switched. */
extern const void *sim__thread_caller;

static inline const struct rt_site *
sim__thread_line(void)
{
    return sim_thread_site(sim__thread_caller);
}

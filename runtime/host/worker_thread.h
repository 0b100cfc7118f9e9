/*
 * worker_thread.h -- a thread that runs the work of a blocking pool.
 *
 * When a piece of work is done the thread calls `tell`, to end the sleep of the
 * runtime's thread: a function of the caller that calls rt_host_notify. That
 * thread then calls rt_worker_thread_collect, for example after each turn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_HOST_WORKER_THREAD_H
#define RT_HOST_WORKER_THREAD_H

#include <pthread.h>

#include "runtime/shard/blocking.h"

struct rt_worker_thread {
    struct rt_worker worker;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct rt_work *work; /* Under the lock: to be run; NULL: none. */
    bool done;            /* Under the lock: it has been run, and was not collected. */
    bool ending;
    void (*tell)(void *argument); /* From the thread. */
    void *argument;
};

/* Makes the thread. `tell` must not be NULL. RT_E_FULL: the system has none. */
RT_MUST_CHECK rt_err rt_worker_thread_init(
        struct rt_worker_thread *worker, void (*tell)(void *argument), void *argument);

/* Calls rt_blocking_done on `pool` if the thread has finished its work; true then. */
bool rt_worker_thread_collect(struct rt_worker_thread *worker, struct rt_blocking_pool *pool);

/* Waits for the thread to end; work that has begun is finished first. */
void rt_worker_thread_fini(struct rt_worker_thread *worker);

#endif

/*
 * worker_thread.c -- a thread that runs the work of a blocking pool.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/host/worker_thread.h"

#include "runtime/base/assert.h"

static void
lock(struct rt_worker_thread *worker)
{
    rt_assert(pthread_mutex_lock(&worker->lock) == 0);
}

static void
unlock(struct rt_worker_thread *worker)
{
    rt_assert(pthread_mutex_unlock(&worker->lock) == 0);
}

/* The next work, or NULL when the thread is to end. */
static struct rt_work *
wait_for_work(struct rt_worker_thread *worker)
{
    lock(worker);
    while (!worker->ending && (worker->work == NULL || worker->done)) {
        rt_assert(pthread_cond_wait(&worker->changed, &worker->lock) == 0);
    }
    struct rt_work *work = worker->done ? NULL : worker->work;
    unlock(worker);
    return work;
}

static void *
thread_main(void *argument)
{
    struct rt_worker_thread *worker = argument;
    struct rt_work *work = wait_for_work(worker);
    while (work != NULL) {
        work->run(work);
        lock(worker);
        worker->done = true;
        unlock(worker);
        worker->tell(worker->argument);
        work = wait_for_work(worker);
    }
    return NULL;
}

static void
start(struct rt_worker *base, struct rt_work *work)
{
    struct rt_worker_thread *worker = rt_container_of(base, struct rt_worker_thread, worker);
    lock(worker);
    rt_assert(worker->work == NULL);
    worker->work = work;
    (void)pthread_cond_signal(&worker->changed);
    unlock(worker);
}

rt_err
rt_worker_thread_init(struct rt_worker_thread *worker, void (*tell)(void *argument), void *argument)
{
    rt_assert(tell != NULL);
    *worker = (struct rt_worker_thread){.worker = {start}, .tell = tell, .argument = argument};
    rt_assert(pthread_mutex_init(&worker->lock, NULL) == 0);
    rt_assert(pthread_cond_init(&worker->changed, NULL) == 0);
    return pthread_create(&worker->thread, NULL, thread_main, worker) == 0 ? RT_OK : RT_E_FULL;
}

bool
rt_worker_thread_collect(struct rt_worker_thread *worker, struct rt_blocking_pool *pool)
{
    lock(worker);
    bool done = worker->done;
    if (done) {
        worker->done = false;
        worker->work = NULL;
    }
    unlock(worker);
    if (done) {
        rt_blocking_done(pool);
    }
    return done;
}

void
rt_worker_thread_fini(struct rt_worker_thread *worker)
{
    lock(worker);
    worker->ending = true;
    (void)pthread_cond_signal(&worker->changed);
    unlock(worker);
    rt_assert(pthread_join(worker->thread, NULL) == 0);
    (void)pthread_cond_destroy(&worker->changed);
    (void)pthread_mutex_destroy(&worker->lock);
}

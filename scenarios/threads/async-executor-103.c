/*
 * async-executor-103.c -- a task is put into the queue of a thread that does not run the executor.
 *
 * smol-rs/async-executor#103, #102 and #104; removed again by #106 (22a9e8b), version 1.9.1.
 *
 * The bug. A thread that schedules a task puts it into its own queue, and wakes itself. Only a
 * thread in run() takes tasks out of queues of threads. One that drives the executor by tick(), a
 * task at a time, checks the global queue, finds nothing there and sleeps.
 *
 * The fix. Tasks go to the global queue, and a sleeping driver is woken: schedule below.
 *
 * Here. The main thread has a queue, spawns a task, and waits for its result; another thread ticks.
 *
 * Cause: never-fired in schedule
 * Must end in: deadlock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    int tasks;
};

static struct queue global = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static _Thread_local struct queue *own; /* Of a thread that was in run() once. */
static pthread_mutex_t result_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t result_cond = PTHREAD_COND_INITIALIZER;
static bool result;

static void
push(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    queue->tasks++;
    pthread_cond_signal(&queue->wake);
    pthread_mutex_unlock(&queue->mutex);
}

static void
schedule(void)
{
#ifdef FIXED
    push(&global);
#else
    push(own != NULL ? own : &global);
#endif
}

static void
run_task(void)
{
    pthread_mutex_lock(&result_mutex);
    result = true;
    pthread_cond_signal(&result_cond);
    pthread_mutex_unlock(&result_mutex);
}

static void *
tick(void *unused)
{
    pthread_mutex_lock(&global.mutex);
    while (global.tasks == 0) {
        pthread_cond_wait(&global.wake, &global.mutex);
    }
    global.tasks--;
    pthread_mutex_unlock(&global.mutex);
    run_task();
    return unused;
}

int
main(void)
{
    static struct queue queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    pthread_t ticker;
    own = &queue;
    pthread_create(&ticker, NULL, tick, NULL);
    schedule();
    pthread_mutex_lock(&result_mutex);
    while (!result) {
        pthread_cond_wait(&result_cond, &result_mutex);
    }
    pthread_mutex_unlock(&result_mutex);
    return pthread_join(ticker, NULL);
}

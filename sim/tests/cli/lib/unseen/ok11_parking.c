/*
 * ok11_parking.c -- a pool whose idle workers lie on a stack, newest first, each parked on a futex of
 * its own with a token: who unparks before the other has parked leaves the token there.
 *
 * Cause: none, it is correct: a token is given under the lock to whom the job was meant for, and looked at before each sleep
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORKERS 3
#define JOBS 6

struct worker {
    atomic_int token; /* 0: none, 1: there, -1: it sleeps. */
    struct worker *below;
    int done;
    pthread_t thread;
};

static struct pool {
    pthread_mutex_t mutex;
    struct worker *idle;
    int jobs[JOBS], head, tail;
    int ended;
    struct worker workers[WORKERS];
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void
worker_park(struct worker *self)
{
    int seen = 0;
    if (atomic_compare_exchange_strong(&self->token, &seen, -1)) {
        while (atomic_load(&self->token) == -1) {
            syscall(SYS_futex, &self->token, FUTEX_WAIT_PRIVATE, -1, NULL, NULL, 0);
        }
    }
    atomic_store(&self->token, 0);
}

static void
worker_unpark(struct worker *worker)
{
    if (atomic_exchange(&worker->token, 1) == -1) {
        syscall(SYS_futex, &worker->token, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
}

static struct worker *
idle_pop(void)
{
    struct worker *worker = pool.idle;
    if (worker != NULL) {
        pool.idle = worker->below;
    }
    return worker;
}

static void
pool_add(int job)
{
    pthread_mutex_lock(&pool.mutex);
    pool.jobs[pool.tail++ % JOBS] = job;
    struct worker *worker = idle_pop();
    pthread_mutex_unlock(&pool.mutex);
    if (worker != NULL) {
        worker_unpark(worker);
    }
}

static void
pool_end(void)
{
    struct worker *worker;
    pthread_mutex_lock(&pool.mutex);
    pool.ended = 1;
    while ((worker = idle_pop()) != NULL) {
        worker_unpark(worker);
    }
    pthread_mutex_unlock(&pool.mutex);
}

/* A job, or -1 at the end. */
static int
pool_take(struct worker *self)
{
    int job = -2;
    while (job == -2) {
        pthread_mutex_lock(&pool.mutex);
        if (pool.head != pool.tail) {
            job = pool.jobs[pool.head++ % JOBS];
        } else if (pool.ended) {
            job = -1;
        } else {
            self->below = pool.idle;
            pool.idle = self;
        }
        pthread_mutex_unlock(&pool.mutex);
        if (job == -2) {
            worker_park(self);
        }
    }
    return job;
}

static void *
worker_main(void *argument)
{
    struct worker *self = argument;
    while (pool_take(self) >= 0) {
        usleep(200);
        self->done++;
    }
    return NULL;
}

int
main(void)
{
    int done = 0;
    for (int i = 0; i < WORKERS; i++) {
        pthread_create(&pool.workers[i].thread, NULL, worker_main, &pool.workers[i]);
    }
    for (int i = 0; i < JOBS; i++) {
        pool_add(i);
        usleep(i % 2 * 300);
    }
    pool_end();
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(pool.workers[i].thread, NULL);
        done += pool.workers[i].done;
    }
    printf("%d jobs\n", done);
    return done != JOBS;
}
// SPDX-License-Identifier: Apache-2.0

// Cause: t_idle.c:41 the last worker counts down and signals without the mutex; a waiter between its test and pthread_cond_wait misses it
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define WORKERS 2
#define JOBS 3

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t idle;
    int next;
    atomic_int pending;
    long sum;
};

static struct pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER, .pending = JOBS};

static int take_job(struct pool *p)
{
    int job = -1;
    pthread_mutex_lock(&p->lock);
    if (p->next < JOBS)
        job = p->next++;
    pthread_mutex_unlock(&p->lock);
    return job;
}

static void finish_job(struct pool *p, int result)
{
    pthread_mutex_lock(&p->lock);
    p->sum += result;
#ifdef FIXED
    if (atomic_fetch_sub(&p->pending, 1) == 1)
        pthread_cond_broadcast(&p->idle);
    pthread_mutex_unlock(&p->lock);
#else
    pthread_mutex_unlock(&p->lock);
    if (atomic_fetch_sub(&p->pending, 1) == 1)
        pthread_cond_broadcast(&p->idle);
#endif
}

static void *worker(void *arg)
{
    struct pool *p = arg;
    int job;
    while ((job = take_job(p)) >= 0)
        finish_job(p, job * job + 1);
    return NULL;
}

static void wait_idle(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    while (atomic_load(&p->pending) > 0)
        pthread_cond_wait(&p->idle, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

int main(void)
{
    pthread_t t[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&t[i], NULL, worker, &pool);
    wait_idle(&pool);
    printf("sum %ld\n", pool.sum);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(t[i], NULL);
    return 0;
}

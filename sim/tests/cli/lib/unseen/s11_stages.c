/*
 * s11_stages.c -- thumbnails: two workers take jobs from a queue, one permit of a semaphore for
 * each job; jobs of one album that lie next to each other are done in one go. A permit without a
 * job tells a worker to end.
 *
 * Cause: queue_take() (line 67) takes a second job and leaves its permit, which later ends a worker
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define WORKERS 2
#define JOBS 7
#define BATCH 2

struct job {
    int picture;
    int album;
};

static struct queue {
    pthread_mutex_t mutex;
    struct job jobs[JOBS];
    unsigned head, tail;
    sem_t permits;
} queue = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct progress {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned done;
} progress = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void
queue_put(int picture, int album)
{
    pthread_mutex_lock(&queue.mutex);
    queue.jobs[queue.tail++ % JOBS] = (struct job){picture, album};
    pthread_mutex_unlock(&queue.mutex);
    sem_post(&queue.permits);
}

static bool
follows(const struct job *before)
{
    return queue.head != queue.tail && queue.jobs[queue.head % JOBS].album == before->album;
}

/* Takes up to BATCH jobs; returns how many. */
static unsigned
queue_take(struct job *ret_jobs)
{
    unsigned count = 0;
    while (sem_wait(&queue.permits) != 0) {
    }
    pthread_mutex_lock(&queue.mutex);
    if (queue.head != queue.tail) {
        ret_jobs[count++] = queue.jobs[queue.head++ % JOBS];
        while (count < BATCH && follows(&ret_jobs[count - 1])) {
#ifdef FIXED
            if (sem_trywait(&queue.permits) != 0) {
                break;
            }
#endif
            ret_jobs[count++] = queue.jobs[queue.head++ % JOBS];
        }
    }
    pthread_mutex_unlock(&queue.mutex);
    return count;
}

static void
progress_add(unsigned count)
{
    pthread_mutex_lock(&progress.mutex);
    progress.done += count;
    pthread_cond_signal(&progress.changed);
    pthread_mutex_unlock(&progress.mutex);
}

static void
progress_await(unsigned done)
{
    pthread_mutex_lock(&progress.mutex);
    while (progress.done < done) {
        pthread_cond_wait(&progress.changed, &progress.mutex);
    }
    pthread_mutex_unlock(&progress.mutex);
}

static void *
worker_main(void *argument)
{
    struct job jobs[BATCH];
    unsigned total = 0, count;
    while ((count = queue_take(jobs)) > 0) {
        usleep(300 * count);
        total += count;
        progress_add(count);
    }
    *(unsigned *)argument = total;
    return NULL;
}

int
main(void)
{
    pthread_t workers[WORKERS];
    unsigned totals[WORKERS] = {0};
    sem_init(&queue.permits, 0, 0);
    for (int i = 0; i < WORKERS; i++) {
        pthread_create(&workers[i], NULL, worker_main, &totals[i]);
    }
    for (int i = 0; i < 3; i++) {
        queue_put(i, 1);
    }
    usleep(2000);
    for (int i = 3; i < JOBS; i++) {
        queue_put(i, i / 5);
    }
    progress_await(JOBS);
    for (int i = 0; i < WORKERS; i++) {
        sem_post(&queue.permits);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(workers[i], NULL);
        printf("worker %d: %u pictures\n", i, totals[i]);
    }
    sem_destroy(&queue.permits);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0

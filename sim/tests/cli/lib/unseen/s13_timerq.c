/* A job scheduler: a heap of jobs by due time, and one thread that runs what is due.
 * Cause: schedule() line 77: the thread is woken only when the heap was empty, and not when the new
 * job is due before the one that it waits for, so that job is late by seconds; repair: signal when
 * the new job is the head of the heap. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define JOBS_MAX 16
#define MS 1000000ll

struct job {
    int64_t due;
    void (*run)(struct job *job);
    int64_t ran;
    const char *name;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job *heap[JOBS_MAX];
    unsigned count;
    bool stop;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 * MS + t.tv_nsec;
}

static void heap_push(struct job *job)
{
    unsigned i = queue.count++;
    assert(i < JOBS_MAX);
    while (i > 0 && queue.heap[(i - 1) / 2]->due > job->due) {
        queue.heap[i] = queue.heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    queue.heap[i] = job;
}

static struct job *heap_pop(void)
{
    struct job *top = queue.heap[0];
    struct job *last = queue.heap[--queue.count];
    unsigned i = 0;
    for (;;) {
        unsigned child = 2 * i + 1;
        if (child >= queue.count)
            break;
        if (child + 1 < queue.count && queue.heap[child + 1]->due < queue.heap[child]->due)
            child++;
        if (queue.heap[child]->due >= last->due)
            break;
        queue.heap[i] = queue.heap[child];
        i = child;
    }
    queue.heap[i] = last;
    return top;
}

static void schedule(struct job *job, int64_t in)
{
    pthread_mutex_lock(&queue.lock);
    job->due = now() + in;
    heap_push(job);
#ifdef FIXED
    if (queue.heap[0] == job)
        pthread_cond_signal(&queue.changed);
#else
    if (queue.count == 1)
        pthread_cond_signal(&queue.changed);
#endif
    pthread_mutex_unlock(&queue.lock);
}

static void *scheduler_main(void *argument)
{
    pthread_mutex_lock(&queue.lock);
    while (!queue.stop || queue.count > 0) {
        if (queue.count == 0) {
            pthread_cond_wait(&queue.changed, &queue.lock);
            continue;
        }
        int64_t due = queue.heap[0]->due;
        if (due > now()) {
            struct timespec until = {due / (1000 * MS), due % (1000 * MS)};
            pthread_cond_timedwait(&queue.changed, &queue.lock, &until);
            continue;
        }
        struct job *job = heap_pop();
        pthread_mutex_unlock(&queue.lock);
        job->ran = now();
        job->run(job);
        pthread_mutex_lock(&queue.lock);
    }
    pthread_mutex_unlock(&queue.lock);
    return argument;
}

static void report(struct job *job)
{
    printf("%s\n", job->name);
    assert(job->ran >= job->due);
    assert(job->ran - job->due < 1000 * MS);
}

int main(void)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&queue.changed, &attr);

    struct job compact = {.run = report, .name = "compact"};
    struct job rotate = {.run = report, .name = "rotate"};
    struct job ping = {.run = report, .name = "ping"};
    pthread_t thread;
    pthread_create(&thread, NULL, scheduler_main, NULL);
    schedule(&compact, 5000 * MS);
    schedule(&rotate, 9000 * MS);
    schedule(&ping, 200 * MS);

    pthread_mutex_lock(&queue.lock);
    queue.stop = true;
    if (queue.count == 0)
        pthread_cond_signal(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
    pthread_join(thread, NULL);
    assert(compact.ran != 0 && rotate.ran != 0 && ping.ran != 0);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */

// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* A pool that parks its workers: one wake for each job, to the worker that parked last; the others
 * may sleep for the whole run. Idle ones leave after a while and are started anew when needed. At
 * the end main waits for the jobs, and returns while workers are parked. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 4
#define JOBS 10

struct worker {
    struct worker *below; /* On the stack of those that are parked. */
    pthread_cond_t wake;
    bool woken;
    bool alive;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_done = PTHREAD_COND_INITIALIZER;
static struct worker workers[WORKERS];
static struct worker *parked;
static int waiting_jobs, done;

static void unpark_self(struct worker *self)
{
    struct worker **at = &parked;
    while (*at != self)
        at = &(*at)->below;
    *at = self->below;
}

/* False: there was no job for long. Called, and returns, with the mutex. */
static bool park(struct worker *self)
{
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 2;
    self->woken = false;
    self->below = parked;
    parked = self;
    while (!self->woken) {
        if (pthread_cond_timedwait(&self->wake, &mutex, &deadline) == ETIMEDOUT && !self->woken) {
            unpark_self(self);
            return false;
        }
    }
    return true;
}

static void *work(void *argument)
{
    struct worker *self = argument;
    pthread_mutex_lock(&mutex);
    for (;;) {
        if (waiting_jobs > 0) {
            waiting_jobs--;
            pthread_mutex_unlock(&mutex);
            usleep(300);
            pthread_mutex_lock(&mutex);
            if (++done == JOBS)
                pthread_cond_signal(&all_done);
        } else if (!park(self)) {
            break;
        }
    }
    self->alive = false;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void submit(void)
{
    pthread_mutex_lock(&mutex);
    waiting_jobs++;
    if (parked != NULL) {
        struct worker *worker = parked;
        parked = worker->below;
        worker->woken = true;
        pthread_cond_signal(&worker->wake);
    } else {
        for (int i = 0; i < WORKERS; i++) {
            pthread_t thread;
            if (!workers[i].alive) {
                workers[i].alive = true;
                if (pthread_create(&thread, NULL, work, &workers[i]) != 0)
                    abort();
                pthread_detach(thread);
                break;
            }
        }
    }
    pthread_mutex_unlock(&mutex);
}

int main(void)
{
    for (int i = 0; i < WORKERS; i++)
        pthread_cond_init(&workers[i].wake, NULL);
    for (int i = 0; i < JOBS; i++) {
        submit();
        usleep(i == JOBS / 2 ? 2500 : 100);
    }
    pthread_mutex_lock(&mutex);
    while (done < JOBS)
        pthread_cond_wait(&all_done, &mutex);
    pthread_mutex_unlock(&mutex);
    printf("%d done\n", JOBS);
    return 0;
}

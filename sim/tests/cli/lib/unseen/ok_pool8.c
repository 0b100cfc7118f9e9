// Correct: a pool of three threads with a bounded queue; posts wait for room, the end drains the queue.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define THREADS 3
#define ROOM 2
#define JOBS 9

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_cond_t room = PTHREAD_COND_INITIALIZER;
static int queue[ROOM];
static int queued;
static int stopped;
static int sum;

static void *worker(void *argument)
{
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (queued == 0 && !stopped)
            pthread_cond_wait(&filled, &mutex);
        if (queued == 0)
            break;
        int job = queue[--queued];
        pthread_cond_signal(&room);
        pthread_mutex_unlock(&mutex);
        usleep(100u * (unsigned)job);
        pthread_mutex_lock(&mutex);
        sum += job;
    }
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void post(int job)
{
    pthread_mutex_lock(&mutex);
    while (queued == ROOM)
        pthread_cond_wait(&room, &mutex);
    queue[queued++] = job;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&mutex);
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 1; i <= JOBS; i++)
        post(i);
    pthread_mutex_lock(&mutex);
    stopped = 1;
    pthread_cond_broadcast(&filled);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", sum);
    return sum == JOBS * (JOBS + 1) / 2 ? 0 : 1;
}

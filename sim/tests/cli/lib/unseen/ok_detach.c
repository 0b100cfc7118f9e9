// Correct: detached threads: a logger that waits for lines until the program ends, and workers that count down a
// semaphore; main returns while the logger still waits.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

#define WORKERS 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t line_there = PTHREAD_COND_INITIALIZER;
static int lines;
static int logged;
static sem_t done;

static void *logger(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (lines == 0)
            pthread_cond_wait(&line_there, &mutex);
        logged += lines;
        lines = 0;
    }
    return NULL;
}

static void *worker(void *argument)
{
    usleep(500u * (unsigned)(1 + (long)argument));
    pthread_mutex_lock(&mutex);
    lines++;
    pthread_cond_signal(&line_there);
    pthread_mutex_unlock(&mutex);
    sem_post(&done);
    return NULL;
}

static void start(void *(*fn)(void *), void *argument)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &attributes, fn, argument);
    pthread_attr_destroy(&attributes);
}

int main(void)
{
    sem_init(&done, 0, 0);
    start(logger, NULL);
    for (long i = 0; i < WORKERS; i++)
        start(worker, (void *)i);
    for (int i = 0; i < WORKERS; i++)
        sem_wait(&done);
    pthread_mutex_lock(&mutex);
    int total = lines + logged;
    pthread_mutex_unlock(&mutex);
    printf("%d lines\n", total);
    return total == WORKERS ? 0 : 1;
}

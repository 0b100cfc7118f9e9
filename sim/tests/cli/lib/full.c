/*
 * full.c -- waits until there is space in a queue, of which nothing is ever taken. All runs fail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t space = PTHREAD_COND_INITIALIZER;
static int queued;

static void *
put(void *argument)
{
    pthread_mutex_lock(&mutex);
    while (queued == 8) {
        pthread_cond_wait(&space, &mutex);
    }
    queued++;
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void
fill(int with)
{
    queued = with;
}

int
main(void)
{
    pthread_t thread;
    fill(8);
    pthread_create(&thread, NULL, put, NULL);
    pthread_join(thread, NULL);
    return 0;
}

/*
 * Who stops the worker waits for its end in no loop, and frees what it uses.
 *
 * Nothing in it is for rewake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static int running = 1;

static void *
work(void *argument)
{
    int *count = argument;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&mutex);
        (*count)++;
        pthread_mutex_unlock(&mutex);
    }
    pthread_mutex_lock(&mutex);
    running = 0;
    pthread_cond_signal(&ended);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

__attribute__((noinline)) static void
wait_for(void)
{
    pthread_cond_wait(&ended, &mutex);
}

__attribute__((noinline)) static void
stop(void)
{
    pthread_mutex_lock(&mutex);
    if (running)
        wait_for();
    pthread_mutex_unlock(&mutex);
}

int
main(void)
{
    pthread_t thread;
    int *count = calloc(1, sizeof(*count));
    pthread_create(&thread, NULL, work, count);
    stop();
    free(count);
    pthread_join(thread, NULL);
    return 0;
}

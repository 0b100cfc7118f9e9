/*
 * trusts.c -- waits that trust whatever ends them, and one that looks again.
 *
 *   trusts once     a wait in no loop: it continues at any time, so its signal is never late
 *   trusts often    the same, again and again, with another lock to take after each
 *   trusts late     in a loop; the signal may be lost, and another one comes later
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t counts = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int ready, ended;
static int count, rounds;

static void *
trust(void *argument)
{
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&mutex);
        pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);
        pthread_mutex_lock(&counts);
        count++;
        pthread_mutex_unlock(&counts);
    }
    ended++;
    return argument;
}

static void *
look(void *argument)
{
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    return argument;
}

int
main(int argc, char **argv)
{
    pthread_t threads[2];
    int late = argc > 1 && strcmp(argv[1], "late") == 0;
    rounds = argc > 1 && strcmp(argv[1], "often") == 0 ? 4 : 1;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, late ? look : trust, NULL);
    if (late) {
        ready = 1;
        pthread_cond_broadcast(&changed);
        usleep(30000);
        pthread_cond_broadcast(&changed);
    }
    while (!late && ended < 2) {
        usleep(30000);
        pthread_mutex_lock(&mutex);
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&mutex);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

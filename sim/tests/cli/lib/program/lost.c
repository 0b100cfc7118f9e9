/*
 * lost.c -- a signal that may come between the check and the wait: it is sent without the mutex.
 *
 * Nothing in it is for rewake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int ready;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t signalled = PTHREAD_COND_INITIALIZER;
static void *
waiter(void *a)
{
    pthread_mutex_lock(&m);
    while (!atomic_load(&ready)) {
        pthread_cond_wait(&signalled, &m);
    }
    pthread_mutex_unlock(&m);
    return a;
}
static void *
ringer(void *a)
{
    atomic_store(&ready, 1);
    pthread_cond_signal(&signalled);
    return a;
}
int
main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, waiter, NULL);
    pthread_create(&b, NULL, ringer, NULL);
    pthread_join(b, NULL);
    pthread_join(a, NULL);
    puts("done");
    return 0;
}

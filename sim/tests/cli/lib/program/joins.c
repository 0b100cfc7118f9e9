/*
 * joins.c -- main waits for a thread that waits for a signal which is never sent.
 *
 * Nothing in it is for rewake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t sent = PTHREAD_COND_INITIALIZER;
static int ready;
static void
take(void)
{
    pthread_mutex_lock(&m);
    while (ready == 0) {
        pthread_cond_wait(&sent, &m);
    }
    pthread_mutex_unlock(&m);
}
static void *
taker(void *a)
{
    take();
    return a;
}
int
main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, taker, NULL);
    pthread_join(thread, NULL);
    return 0;
}

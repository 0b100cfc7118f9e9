/*
 * guarded.c -- a deadlock, beside a spin lock that is taken and given back at once.
 *
 * All wait for `is_open`, which only a thread that finds the spin lock taken would set: so the run
 * passes where it is never given back, and yet that is no cause.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static bool is_open;
static atomic_int registering;
static int registered;

static bool
enter(void)
{
    int none = 0;
    if (!atomic_compare_exchange_strong(&registering, &none, 1)) {
        return false;
    }
    registered++;
    atomic_store_explicit(&registering, 0, memory_order_release);
    return true;
}

static void *
visitor(void *argument)
{
    bool entered = enter();
    pthread_mutex_lock(&mutex);
    if (!entered) {
        is_open = true;
        pthread_cond_broadcast(&opened);
    }
    while (!is_open) {
        pthread_cond_wait(&opened, &mutex);
    }
    pthread_mutex_unlock(&mutex);
    return argument;
}

int
main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, visitor, NULL);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}

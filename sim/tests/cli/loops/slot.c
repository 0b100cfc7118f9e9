/*
 * slot.c -- a queue with one slot, two threads, a mutex and two condition variables: five items.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>

#define ITEMS 5

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;
static int slot;

static void *
produce(void *argument)
{
    for (int i = 1; i <= ITEMS; i++) {
        pthread_mutex_lock(&mutex);
        while (slot != 0) {
            pthread_cond_wait(&emptied, &mutex);
        }
        slot = i;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

int
main(void)
{
    pthread_t producer;
    int sum = 0;
    pthread_create(&producer, NULL, produce, NULL);
    for (int i = 1; i <= ITEMS; i++) {
        pthread_mutex_lock(&mutex);
        while (slot == 0) {
            pthread_cond_wait(&filled, &mutex);
        }
        sum += slot;
        slot = 0;
        pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&mutex);
    }
    pthread_join(producer, NULL);
    return sum == ITEMS * (ITEMS + 1) / 2 ? 0 : 1;
}

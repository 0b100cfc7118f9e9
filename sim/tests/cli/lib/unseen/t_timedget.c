// Cause: t_timedget.c:36 after a wake the clock is asked before the queue: a waiter at its deadline eats the signal for an item and leaves the item to none
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static int items, got;

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int get(int64_t deadline) // 0: wait without end
{
    int have = 1;
    pthread_mutex_lock(&lock);
    while (items == 0) {
        if (!deadline) {
            pthread_cond_wait(&some, &lock);
            continue;
        }
        struct timespec t = {deadline / 1000000, deadline % 1000000 * 1000};
        pthread_cond_timedwait(&some, &lock, &t);
#ifdef FIXED
        if (items == 0 && now_us() >= deadline) {
#else
        if (now_us() >= deadline) {
#endif
            have = 0;
            break;
        }
    }
    if (have) {
        items--;
        got++;
    }
    pthread_mutex_unlock(&lock);
    return have;
}

static void put(void)
{
    pthread_mutex_lock(&lock);
    items++;
    pthread_cond_signal(&some);
    pthread_mutex_unlock(&lock);
}

static void *impatient(void *arg)
{
    *(int *)arg = get(now_us() + 2000);
    return NULL;
}

static void *patient(void *arg)
{
    *(int *)arg = get(0);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int first = 0, second = 0;
    pthread_create(&a, NULL, impatient, &first);
    pthread_create(&b, NULL, patient, &second);
    usleep(2000);
    put();
    pthread_join(a, NULL);
    if (first) // taken: one more for the other
        put();
    pthread_join(b, NULL);
    printf("got %d\n", got);
    return 0;
}

/*
 * ok11_background.c -- a calculation with helpers that are never told to end: they wait for more work
 * when main returns. Results are signalled whether or not anybody waits, and after the unlock.
 *
 * Cause: none, it is correct: who waits at the end is a detached thread, and who is signalled looks at the numbers first
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define HELPERS 2
#define TASKS 4

static struct desk {
    pthread_mutex_t mutex;
    pthread_cond_t work, result;
    unsigned added, taken, finished;
    unsigned long long sum;
} desk = {.mutex = PTHREAD_MUTEX_INITIALIZER,
        .work = PTHREAD_COND_INITIALIZER,
        .result = PTHREAD_COND_INITIALIZER};

static unsigned long long
compute(unsigned task)
{
    unsigned long long value = task + 1;
    for (int i = 0; i < 20; i++) {
        value = value * 6364136223846793005ull + 1442695040888963407ull;
    }
    return value >> 40;
}

static void *
helper_main(void *argument)
{
    unsigned handled = 0;
    for (;;) {
        pthread_mutex_lock(&desk.mutex);
        while (desk.taken == desk.added) {
            pthread_cond_wait(&desk.work, &desk.mutex);
        }
        unsigned task = desk.taken++;
        pthread_mutex_unlock(&desk.mutex);
        unsigned long long value = compute(task);
        handled++;
        pthread_mutex_lock(&desk.mutex);
        desk.finished++;
        desk.sum += value;
        pthread_mutex_unlock(&desk.mutex);
        pthread_cond_signal(&desk.result);
    }
    return argument;
}

static void
desk_add(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        pthread_mutex_lock(&desk.mutex);
        desk.added++;
        pthread_mutex_unlock(&desk.mutex);
        pthread_cond_signal(&desk.work);
    }
}

/* False when it takes longer than `ms`. */
static int
desk_wait(unsigned finished, long ms)
{
    struct timespec limit;
    int err = 0;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_nsec += ms * 1000000;
    limit.tv_sec += limit.tv_nsec / 1000000000;
    limit.tv_nsec %= 1000000000;
    pthread_mutex_lock(&desk.mutex);
    while (desk.finished < finished && err == 0) {
        err = pthread_cond_timedwait(&desk.result, &desk.mutex, &limit);
    }
    int enough = desk.finished >= finished;
    pthread_mutex_unlock(&desk.mutex);
    return enough;
}

int
main(void)
{
    for (int i = 0; i < HELPERS; i++) {
        pthread_t helper;
        pthread_create(&helper, NULL, helper_main, NULL);
        pthread_detach(helper);
    }
    desk_add(TASKS);
    while (!desk_wait(TASKS / 2, 1)) {
        printf("still less than a half\n");
    }
    desk_add(1);
    while (!desk_wait(TASKS + 1, 2)) {
        printf("not all\n");
    }
    printf("sum %llu\n", desk.sum);
    exit(0);
}
// SPDX-License-Identifier: Apache-2.0

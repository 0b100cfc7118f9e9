/*
 * yields.c -- threads that work without a lock, and yield after each piece: 40,000 steps in which
 * nothing is woken, written or ended. With an argument one waits so for what never comes.
 *
 * Nothing in it is for rewake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define THREADS 4
#define PIECES 10000

static atomic_int pieces;
static atomic_bool never;

static void *
work(void *argument)
{
    for (int i = 0; i < PIECES; i++) {
        atomic_fetch_add(&pieces, 1);
        sched_yield();
    }
    return argument;
}

int
main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    (void)argv;
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    while (argc > 1 && !never) {
        sched_yield();
    }
    return pieces == THREADS * PIECES ? 0 : 1;
}

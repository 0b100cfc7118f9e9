/*
 * always.c -- a program that says something about itself: a sum that two threads add to, one after
 * the other with an argument, else at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "always.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static int sum;
static int evaluated;
static void *
add(void *a)
{
    int before = sum;
    sched_yield();
    sum = before + 1;
    SIM_PROGRESS();
    return a;
}
int
main(int count, char **arguments)
{
    pthread_t a, b;
    (void)arguments;
    pthread_create(&a, NULL, add, NULL);
    if (count > 1) {
        pthread_join(a, NULL);
    }
    pthread_create(&b, NULL, add, NULL);
    if (count == 1) {
        pthread_join(a, NULL);
    }
    pthread_join(b, NULL);
    SIM_ALWAYS(++evaluated > 0 && sum == 2);
    printf("evaluated: %d\n", evaluated);
    return 0;
}

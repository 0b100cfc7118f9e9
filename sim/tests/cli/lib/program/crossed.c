/*
 * crossed.c -- two locks, taken in opposite orders.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t right = PTHREAD_RWLOCK_INITIALIZER;

static void *
left_first(void *argument)
{
    pthread_mutex_lock(&left);
    pthread_rwlock_wrlock(&right);
    pthread_rwlock_unlock(&right);
    pthread_mutex_unlock(&left);
    return argument;
}

static void *
right_first(void *argument)
{
    pthread_rwlock_rdlock(&right);
    pthread_mutex_lock(&left);
    pthread_mutex_unlock(&left);
    pthread_rwlock_unlock(&right);
    return argument;
}

int
main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, left_first, NULL);
    pthread_create(&other, NULL, right_first, NULL);
    pthread_join(one, NULL);
    return pthread_join(other, NULL);
}

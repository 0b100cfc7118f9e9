// Cause: s5_lease.c:60 a waiter whose time is over leaves without looking whether a connection was handed to it in the meantime: that connection is lost, and those who wait without a limit are never served.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

struct connection { int uses; };

struct waiter {
    struct waiter *next;
    struct connection *given;
    pthread_cond_t served;
};

static struct {
    pthread_mutex_t lock;
    struct connection *idle;
    struct waiter *first; /* first come, first served */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct connection the_connection;

static void unlink_waiter(struct waiter *waiter)
{
    struct waiter **at = &pool.first;
    while (*at && *at != waiter)
        at = &(*at)->next;
    if (*at)
        *at = waiter->next;
}

static struct connection *lease(const struct timespec *limit)
{
    struct waiter self = {.served = PTHREAD_COND_INITIALIZER}, **at = &pool.first;
    struct connection *got;
    int error = 0;
    pthread_mutex_lock(&pool.lock);
    if ((got = pool.idle)) {
        pool.idle = NULL;
        pthread_mutex_unlock(&pool.lock);
        return got;
    }
    while (*at)
        at = &(*at)->next;
    *at = &self;
    while (!self.given && error != ETIMEDOUT)
        error = limit ? pthread_cond_timedwait(&self.served, &pool.lock, limit)
                      : pthread_cond_wait(&self.served, &pool.lock);
    got = self.given;
#ifdef FIXED
    if (!got)
        unlink_waiter(&self);
#else
    if (error == ETIMEDOUT) {
        unlink_waiter(&self);
        got = NULL;
    }
#endif
    pthread_mutex_unlock(&pool.lock);
    pthread_cond_destroy(&self.served);
    return got;
}

static void give_back(struct connection *connection)
{
    pthread_mutex_lock(&pool.lock);
    struct waiter *waiter = pool.first;
    if (waiter) {
        pool.first = waiter->next;
        waiter->given = connection;
        pthread_cond_signal(&waiter->served);
    } else {
        pool.idle = connection;
    }
    pthread_mutex_unlock(&pool.lock);
}

static void *batch(void *arg)
{
    for (int i = 0; i < 3; i++) {
        struct connection *connection = lease(NULL);
        usleep(500); /* the query */
        connection->uses++;
        give_back(connection);
    }
    return arg;
}

static void *interactive(void *arg)
{
    int *refused = arg;
    for (int i = 0; i < 2; i++) {
        struct timespec limit;
        clock_gettime(CLOCK_REALTIME, &limit);
        if ((limit.tv_nsec += 2000000) >= 1000000000) {
            limit.tv_nsec -= 1000000000;
            limit.tv_sec++;
        }
        struct connection *connection = lease(&limit);
        if (!connection) {
            ++*refused; /* the user tries again later */
            continue;
        }
        connection->uses++;
        give_back(connection);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[3];
    int refused = 0;
    pool.idle = &the_connection;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, i < 2 ? batch : interactive, &refused);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d uses, %d refused\n", the_connection.uses, refused);
    return the_connection.uses + refused == 8 ? 0 : 1;
}

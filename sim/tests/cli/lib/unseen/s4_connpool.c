// Cause: s4_connpool.c:72 a waiter whose time is over gives up without looking whether a connection was handed to it meanwhile, so that this connection is lost and never comes back to the pool.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

/* A pool of connections. Those who wait for one are served in their order. */

enum { CONNECTIONS = 2, CLIENTS = 4, REQUESTS = 3 };

struct waiter {
    struct waiter *next;
    pthread_cond_t served;
    int connection;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t returned = PTHREAD_COND_INITIALIZER;
static struct waiter *waiters;
static int idle[CONNECTIONS] = {0, 1};
static int idle_count = CONNECTIONS;
static int answered, refused;

static struct timespec after_us(long us)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += us * 1000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void forget(struct waiter *waiter)
{
    for (struct waiter **at = &waiters; *at; at = &(*at)->next)
        if (*at == waiter) {
            *at = waiter->next;
            return;
        }
}

/* Returns a connection, or -1 after 2 ms. */
static int borrow(void)
{
    pthread_mutex_lock(&mutex);
    if (idle_count > 0) {
        int connection = idle[--idle_count];
        pthread_mutex_unlock(&mutex);
        return connection;
    }
    struct waiter self = {.connection = -1};
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&self.served, &attributes);
    struct waiter **end = &waiters;
    while (*end)
        end = &(*end)->next;
    *end = &self;
    struct timespec deadline = after_us(2000);
    int error = 0;
    while (self.connection < 0 && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&self.served, &mutex, &deadline);
#ifdef FIXED
    int late = self.connection < 0;
#else
    int late = error == ETIMEDOUT;
#endif
    if (late)
        forget(&self);
    int connection = late ? -1 : self.connection;
    pthread_mutex_unlock(&mutex);
    pthread_cond_destroy(&self.served);
    return connection;
}

static void give_back(int connection)
{
    pthread_mutex_lock(&mutex);
    struct waiter *first = waiters;
    if (first) {
        waiters = first->next;
        first->connection = connection;
        pthread_cond_signal(&first->served);
    } else {
        idle[idle_count++] = connection;
        pthread_cond_signal(&returned);
    }
    pthread_mutex_unlock(&mutex);
}

static void *client(void *argument)
{
    for (int i = 0; i < REQUESTS; i++) {
        int connection = borrow();
        if (connection >= 0) {
            usleep(500);
            give_back(connection);
        }
        pthread_mutex_lock(&mutex);
        *(connection >= 0 ? &answered : &refused) += 1;
        pthread_mutex_unlock(&mutex);
        usleep(300);
    }
    return argument;
}

int main(void)
{
    pthread_t threads[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&threads[i], NULL, client, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_lock(&mutex);
    while (idle_count < CONNECTIONS)
        pthread_cond_wait(&returned, &mutex);
    assert(answered + refused == CLIENTS * REQUESTS);
    pthread_mutex_unlock(&mutex);
    return 0;
}

/* A pool of database connections that are handed directly to the threads that wait, with a limit on the wait.
 * Cause: pool_acquire() (line 90): a wait that has timed out is given up without a look at whether a connection was
 * handed over meanwhile, so that connection is lost. Repair: take `self.granted` where it is set. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS 1
#define CLIENTS 3

struct connection {
    int id;
    int queries;
    struct connection *next;
};

struct waiter {
    pthread_cond_t wake;
    struct connection *granted;
    struct waiter *next;
    bool queued;
};

struct pool {
    pthread_mutex_t lock;
    struct connection *idle;
    struct waiter *first, **last;
    int timeouts;
};

static struct connection connections[CONNECTIONS];
static struct pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void pool_init(void)
{
    pool.last = &pool.first;
    for (int i = 0; i < CONNECTIONS; i++) {
        connections[i].id = i;
        connections[i].next = pool.idle;
        pool.idle = &connections[i];
    }
}

static void unlink_waiter(struct waiter *w)
{
    struct waiter **at = &pool.first;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    if (w->next == NULL)
        pool.last = at;
    w->queued = false;
}

/* limit_ms 0: waits as long as it takes. */
static struct connection *pool_acquire(unsigned limit_ms)
{
    struct waiter self = {.granted = NULL, .queued = true};
    struct timespec until;
    int err = 0;

    pthread_mutex_lock(&pool.lock);
    if (pool.idle != NULL && pool.first == NULL) {
        struct connection *c = pool.idle;
        pool.idle = c->next;
        pthread_mutex_unlock(&pool.lock);
        return c;
    }
    pthread_cond_init(&self.wake, NULL);
    *pool.last = &self;
    pool.last = &self.next;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)limit_ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (self.granted == NULL && err != ETIMEDOUT) {
        if (limit_ms == 0)
            pthread_cond_wait(&self.wake, &pool.lock);
        else
            err = pthread_cond_timedwait(&self.wake, &pool.lock, &until);
    }
#ifdef FIXED
    if (self.granted == NULL) {
#else
    if (err == ETIMEDOUT) {
        self.granted = NULL;
#endif
        if (self.queued)
            unlink_waiter(&self);
        pool.timeouts++;
    }
    pthread_mutex_unlock(&pool.lock);
    pthread_cond_destroy(&self.wake);
    return self.granted;
}

static void pool_release(struct connection *c)
{
    pthread_mutex_lock(&pool.lock);
    struct waiter *w = pool.first;
    if (w != NULL) {
        unlink_waiter(w);
        w->granted = c;
        pthread_cond_signal(&w->wake);
    } else {
        c->next = pool.idle;
        pool.idle = c;
    }
    pthread_mutex_unlock(&pool.lock);
}

static void *client(void *argument)
{
    long number = (long)argument;
    for (int i = 0; i < 2; i++) {
        struct connection *c = pool_acquire(i == 0 ? 4 : 0);
        if (c == NULL) {
            usleep(500);
            continue;
        }
        c->queries++;
        usleep(1500 + 500 * (unsigned)number);
        pool_release(c);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[CLIENTS];
    pool_init();
    for (long i = 0; i < CLIENTS; i++)
        pthread_create(&threads[i], NULL, client, (void *)i);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    printf("done\n");
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */

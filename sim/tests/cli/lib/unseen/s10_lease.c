// SPDX-License-Identifier: Apache-2.0
/* Cause: give_back(), line 47: the last return signals only `unused`, although borrowers may still wait
   for `available`; repair: signal `available` on every return, `unused` besides. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define HANDLES 2
#define CLIENTS 4
#define QUERIES 3

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t available;
    pthread_cond_t unused;
    bool busy[HANDLES];
    int in_use;
    int queries;
};

static struct pool pool = {
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .available = PTHREAD_COND_INITIALIZER,
        .unused = PTHREAD_COND_INITIALIZER,
};

static int
borrow(struct pool *p)
{
    int handle = 0;
    pthread_mutex_lock(&p->lock);
    while (p->in_use == HANDLES)
        pthread_cond_wait(&p->available, &p->lock);
    while (p->busy[handle])
        handle++;
    p->busy[handle] = true;
    p->in_use++;
    pthread_mutex_unlock(&p->lock);
    return handle;
}

static void
give_back(struct pool *p, int handle)
{
    pthread_mutex_lock(&p->lock);
    p->busy[handle] = false;
    p->queries++;
#ifndef FIXED
    pthread_cond_signal(--p->in_use == 0 ? &p->unused : &p->available);
#else
    if (--p->in_use == 0)
        pthread_cond_signal(&p->unused);
    pthread_cond_signal(&p->available);
#endif
    pthread_mutex_unlock(&p->lock);
}

static void *
client(void *argument)
{
    for (int i = 0; i < QUERIES; i++) {
        int handle = borrow(&pool);
        assert(handle < HANDLES);
        give_back(&pool, handle);
    }
    return argument;
}

static void
close_pool(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    while (p->in_use > 0 || p->queries < CLIENTS * QUERIES)
        pthread_cond_wait(&p->unused, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

int
main(void)
{
    pthread_t clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, client, NULL);
    close_pool(&pool);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    printf("%d queries\n", pool.queries);
    return 0;
}

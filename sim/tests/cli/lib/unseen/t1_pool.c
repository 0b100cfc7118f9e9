// Cause: t1_pool.c:44 a returned connection is signalled only when the pool was empty, so two returns in a row wake one of two waiters
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define CONNECTIONS 2
#define WORKERS 4

struct connection {
    int number;
    int queries;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t returned;
    struct connection *idle[CONNECTIONS];
    int count;
};

static struct pool pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0};

static struct connection *pool_get(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    while (p->count == 0)
        pthread_cond_wait(&p->returned, &p->lock);
    struct connection *c = p->idle[--p->count];
    pthread_mutex_unlock(&p->lock);
    return c;
}

static void pool_put(struct pool *p, struct connection *c)
{
    pthread_mutex_lock(&p->lock);
    assert(p->count < CONNECTIONS);
    p->idle[p->count++] = c;
#ifdef FIXED
    pthread_cond_signal(&p->returned);
#else
    if (p->count == 1)
        pthread_cond_signal(&p->returned);
#endif
    pthread_mutex_unlock(&p->lock);
}

static void *serve(void *argument)
{
    for (int i = 0; i < 2; i++) {
        struct connection *c = pool_get(&pool);
        c->queries++;
        usleep(200); // the query
        pool_put(&pool, c);
    }
    return argument;
}

int main(void)
{
    pthread_t workers[WORKERS];
    for (int i = 0; i < CONNECTIONS; i++) {
        struct connection *c = calloc(1, sizeof *c);
        c->number = i;
        pool_put(&pool, c);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, serve, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    int queries = 0;
    while (pool.count > 0) {
        struct connection *c = pool_get(&pool);
        queries += c->queries;
        free(c);
    }
    assert(queries == 2 * WORKERS);
    return 0;
}

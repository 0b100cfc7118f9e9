/* A connection pool with an upper bound, whose users discard connections that failed.
 * Cause: pool_discard() line 74: a discarded connection makes room for a new one, but no waiter is
 * told (only pool_put signals); repair: signal `available` there too. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define POOL_MAX 2
#define CLIENTS 4
#define QUERIES 2

struct conn {
    int id;
    bool broken;
    struct conn *next;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t available;
    struct conn *idle;
    int open;     /* Connections that exist, idle or lent. */
    int serial;
    int discarded;
};

static struct pool pool = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .available = PTHREAD_COND_INITIALIZER,
};

static struct conn *conn_open(int id)
{
    struct conn *conn = calloc(1, sizeof(*conn));
    assert(conn != NULL);
    conn->id = id;
    return conn;
}

static struct conn *pool_get(struct pool *p)
{
    struct conn *conn;

    pthread_mutex_lock(&p->lock);
    while (p->idle == NULL && p->open == POOL_MAX)
        pthread_cond_wait(&p->available, &p->lock);
    if (p->idle != NULL) {
        conn = p->idle;
        p->idle = conn->next;
        conn->next = NULL;
        pthread_mutex_unlock(&p->lock);
        return conn;
    }
    p->open++;
    int id = ++p->serial;
    pthread_mutex_unlock(&p->lock);
    return conn_open(id); /* Connecting is slow: without the lock. */
}

static void pool_put(struct pool *p, struct conn *conn)
{
    pthread_mutex_lock(&p->lock);
    conn->next = p->idle;
    p->idle = conn;
    pthread_cond_signal(&p->available);
    pthread_mutex_unlock(&p->lock);
}

static void pool_discard(struct pool *p, struct conn *conn)
{
    pthread_mutex_lock(&p->lock);
    p->open--;
    p->discarded++;
#ifdef FIXED
    pthread_cond_signal(&p->available);
#endif
    pthread_mutex_unlock(&p->lock);
    free(conn);
}

/* The server closes a session that runs the heavy statement. */
static bool run_query(struct conn *conn, int client, int query)
{
    if (client % 2 == 1 && query == QUERIES - 1)
        conn->broken = true;
    return !conn->broken;
}

static int answered[CLIENTS];

static void *client_main(void *argument)
{
    int me = (int)(long)argument;

    for (int query = 0; query < QUERIES; query++) {
        struct conn *conn = pool_get(&pool);
        bool ok = run_query(conn, me, query);
        if (ok)
            pool_put(&pool, conn);
        else
            pool_discard(&pool, conn);
        answered[me]++;
    }
    return NULL;
}

static void pool_destroy(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    while (p->idle != NULL) {
        struct conn *conn = p->idle;
        p->idle = conn->next;
        p->open--;
        free(conn);
    }
    assert(p->open == 0);
    pthread_mutex_unlock(&p->lock);
}

int main(void)
{
    pthread_t threads[CLIENTS];

    for (long i = 0; i < CLIENTS; i++)
        pthread_create(&threads[i], NULL, client_main, (void *)i);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < CLIENTS; i++)
        assert(answered[i] == QUERIES);
    pool_destroy(&pool);
    printf("%d connections, %d discarded\n", pool.serial, pool.discarded);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * s11_handles.c -- a cache of open connections by name: users share one as long as somebody has it,
 * and the last one closes it. The list is read far more often than it is changed.
 *
 * Cause: conn_put() (line 109) closes a connection that somebody has taken again after the count had come to nothing
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define USERS 3

struct conn {
    char name[16];
    atomic_int users;
    int fd, peer;
    struct conn *next;
};

static struct cache {
    pthread_rwlock_t lock;
    struct conn *conns;
} cache = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static struct conn *
cache_find(const char *name)
{
    struct conn *conn = cache.conns;
    while (conn != NULL && strcmp(conn->name, name) != 0) {
        conn = conn->next;
    }
    return conn;
}

static struct conn *
conn_take(struct conn *conn)
{
    if (conn != NULL) {
        atomic_fetch_add(&conn->users, 1);
    }
    return conn;
}

static struct conn *
conn_open(const char *name)
{
    struct conn *conn = calloc(1, sizeof *conn);
    int pair[2] = {-1, -1};
    snprintf(conn->name, sizeof conn->name, "%s", name);
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0) {
        perror("socketpair");
    }
    conn->fd = pair[0];
    conn->peer = pair[1];
    conn->next = cache.conns;
    cache.conns = conn;
    return conn;
}

static struct conn *
conn_get(const char *name)
{
    pthread_rwlock_rdlock(&cache.lock);
    struct conn *conn = conn_take(cache_find(name));
    pthread_rwlock_unlock(&cache.lock);
    if (conn == NULL) {
        pthread_rwlock_wrlock(&cache.lock);
        conn = conn_take(cache_find(name));
        if (conn == NULL) {
            conn = conn_take(conn_open(name));
        }
        pthread_rwlock_unlock(&cache.lock);
    }
    return conn;
}

static void
conn_close(struct conn *conn)
{
    struct conn **at = &cache.conns;
    while (*at != NULL && *at != conn) {
        at = &(*at)->next;
    }
    if (*at == conn) {
        *at = conn->next;
        close(conn->fd);
        close(conn->peer);
        conn->fd = -1;
    }
}

static void
conn_put(struct conn *conn)
{
    if (atomic_fetch_sub(&conn->users, 1) > 1) {
        return;
    }
    pthread_rwlock_wrlock(&cache.lock);
#ifdef FIXED
    if (atomic_load(&conn->users) == 0) {
        conn_close(conn);
    }
#else
    conn_close(conn);
#endif
    pthread_rwlock_unlock(&cache.lock);
}

static void
conn_query(struct conn *conn, int value)
{
    assert(conn->fd >= 0);
    if (send(conn->fd, &value, sizeof value, 0) < 0) {
        perror("send");
    }
}

static void *
user_main(void *argument)
{
    static const char *const names[] = {"accounts", "orders"};
    int number = (int)(long)argument;
    for (int i = 0; i < 2; i++) {
        struct conn *conn = conn_get(names[(number + i) % 2]);
        conn_query(conn, 10 * number + i);
        usleep(200);
        conn_query(conn, 10 * number + i);
        conn_put(conn);
    }
    return NULL;
}

int
main(void)
{
    pthread_t users[USERS];
    for (long i = 0; i < USERS; i++) {
        pthread_create(&users[i], NULL, user_main, (void *)i);
    }
    for (int i = 0; i < USERS; i++) {
        pthread_join(users[i], NULL);
    }
    printf("%s\n", cache.conns == NULL ? "all closed" : "some open");
    return 0;
}
// SPDX-License-Identifier: Apache-2.0

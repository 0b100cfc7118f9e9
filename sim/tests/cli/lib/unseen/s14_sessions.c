/* A table of sessions with counts of references, whose last user frees the session.
 * Cause: sessions_find() (line 95): the reference is taken after the lock of the table was given back, so that the
 * session may be freed between. Repair: take the reference with the table locked. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BUCKETS 4
#define ALIVE 0x5e551035u
#define DEAD 0xdeadbeefu

struct session {
    struct session *next;
    unsigned magic;
    int key;
    pthread_mutex_t lock;
    int references; /* With `lock` held; the table has one. */
    int requests;
};

struct table {
    pthread_mutex_t lock;
    struct session *buckets[BUCKETS];
    int count;
};

static struct table table = {.lock = PTHREAD_MUTEX_INITIALIZER};
/* Freed sessions are kept for the next login. */
static struct session *spare;
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;

static void session_get(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    assert(s->magic == ALIVE);
    s->references++;
    pthread_mutex_unlock(&s->lock);
}

static void session_put(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    bool last = --s->references == 0;
    if (last)
        s->magic = DEAD;
    pthread_mutex_unlock(&s->lock);
    if (last) {
        pthread_mutex_lock(&spare_lock);
        s->next = spare;
        spare = s;
        pthread_mutex_unlock(&spare_lock);
    }
}

static void sessions_login(int key)
{
    pthread_mutex_lock(&spare_lock);
    struct session *s = spare;
    if (s != NULL)
        spare = s->next;
    pthread_mutex_unlock(&spare_lock);
    if (s == NULL) {
        s = malloc(sizeof *s);
        pthread_mutex_init(&s->lock, NULL);
    }
    pthread_mutex_lock(&s->lock);
    s->magic = ALIVE;
    s->key = key;
    s->references = 1;
    s->requests = 0;
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_lock(&table.lock);
    s->next = table.buckets[key % BUCKETS];
    table.buckets[key % BUCKETS] = s;
    table.count++;
    pthread_mutex_unlock(&table.lock);
}

static struct session *sessions_find(int key)
{
    pthread_mutex_lock(&table.lock);
    struct session *s = table.buckets[key % BUCKETS];
    while (s != NULL && s->key != key)
        s = s->next;
#ifdef FIXED
    if (s != NULL)
        session_get(s);
    pthread_mutex_unlock(&table.lock);
#else
    pthread_mutex_unlock(&table.lock);
    if (s != NULL)
        session_get(s);
#endif
    return s;
}

static void sessions_logout(int key)
{
    pthread_mutex_lock(&table.lock);
    struct session **at = &table.buckets[key % BUCKETS];
    while (*at != NULL && (*at)->key != key)
        at = &(*at)->next;
    struct session *s = *at;
    if (s != NULL) {
        *at = s->next;
        table.count--;
    }
    pthread_mutex_unlock(&table.lock);
    if (s != NULL)
        session_put(s);
}

static void *requests(void *argument)
{
    for (int i = 0; i < 3; i++) {
        struct session *s = sessions_find(7);
        if (s != NULL) {
            pthread_mutex_lock(&s->lock);
            assert(s->key == 7);
            s->requests++;
            pthread_mutex_unlock(&s->lock);
            session_put(s);
        }
        usleep(500);
    }
    return argument;
}

static void *logins(void *argument)
{
    for (int i = 0; i < 2; i++) {
        sessions_logout(7);
        sessions_login(i == 0 ? 8 : 7);
        usleep(700);
    }
    return argument;
}

int main(void)
{
    pthread_t threads[3];
    sessions_login(7);
    pthread_create(&threads[0], NULL, requests, NULL);
    pthread_create(&threads[1], NULL, requests, NULL);
    pthread_create(&threads[2], NULL, logins, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(table.count == 2);
    printf("%d sessions\n", table.count);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */

// Cause: t_rwlock.c:18 table_count() takes the read lock again while its caller holds it; the lock prefers writers, so a writer that came between blocks both
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

struct table {
    pthread_rwlock_t lock;
    int keys[8];
    int count;
};

static struct table table;

static int table_count(struct table *t)
{
    pthread_rwlock_rdlock(&t->lock);
    int n = t->count;
    pthread_rwlock_unlock(&t->lock);
    return n;
}

static int table_has(struct table *t, int key)
{
    int found = 0;
    pthread_rwlock_rdlock(&t->lock);
#ifdef FIXED
    int n = t->count;
#else
    int n = table_count(t);
#endif
    for (int i = 0; i < n; i++)
        found |= t->keys[i] == key;
    pthread_rwlock_unlock(&t->lock);
    return found;
}

static void table_add(struct table *t, int key)
{
    pthread_rwlock_wrlock(&t->lock);
    if (t->count < 8)
        t->keys[t->count++] = key;
    pthread_rwlock_unlock(&t->lock);
}

static void *reader(void *arg)
{
    int hits = 0;
    for (int i = 0; i < 2; i++)
        hits += table_has(&table, i);
    *(int *)arg = hits;
    return NULL;
}

static void *writer(void *arg)
{
    for (int i = 0; i < 2; i++)
        table_add(&table, i);
    return arg;
}

int main(void)
{
    pthread_rwlockattr_t attr;
    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&table.lock, &attr);
    pthread_t r, w;
    int hits = 0;
    pthread_create(&w, NULL, writer, NULL);
    pthread_create(&r, NULL, reader, &hits);
    pthread_join(r, NULL);
    pthread_join(w, NULL);
    printf("count %d, hits %d\n", table_count(&table), hits);
    pthread_rwlock_destroy(&table.lock);
    return 0;
}

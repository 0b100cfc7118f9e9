// Cause: s5_nested.c:56 render() calls store_get() while it holds the read lock, which locks it for reading again: if a writer has queued in between, the second read lock waits for the writer and the writer for the first read lock, and no thread ever continues.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A small settings store: many readers, one reloader, writers preferred. */
#define KEYS 3
#define PAGES 4

struct store {
    pthread_rwlock_t lock;
    int version;
    char value[KEYS][16];
};

static struct store store;

static void store_init(void)
{
    pthread_rwlockattr_t attr;
    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&store.lock, &attr);
    pthread_rwlockattr_destroy(&attr);
}

#ifdef FIXED
static void copy_locked(int key, char *out, size_t size)
{
    snprintf(out, size, "%s", store.value[key]);
}
#endif

static void store_get(int key, char *out, size_t size)
{
    pthread_rwlock_rdlock(&store.lock);
    snprintf(out, size, "%s", store.value[key]);
    pthread_rwlock_unlock(&store.lock);
}

/* All keys of one version, so the lock is held over the whole page. */
static size_t render(char *page, size_t size)
{
    size_t used = 0;
    pthread_rwlock_rdlock(&store.lock);
    used += (size_t)snprintf(page, size, "v%d", store.version);
    for (int key = 0; key < KEYS; key++) {
        char text[16];
#ifdef FIXED
        copy_locked(key, text, sizeof text);
#else
        store_get(key, text, sizeof text);
#endif
        used += (size_t)snprintf(page + used, size - used, " %s", text);
    }
    pthread_rwlock_unlock(&store.lock);
    return used;
}

static void *front_end(void *arg)
{
    char page[128], first[16];
    for (int i = 0; i < PAGES; i++) {
        store_get(0, first, sizeof first);
        render(page, sizeof page);
        usleep(400); /* sends it */
    }
    return arg;
}

static void *reloader(void *arg)
{
    for (int i = 1; i <= 3; i++) {
        usleep(700); /* reads the file */
        pthread_rwlock_wrlock(&store.lock);
        store.version = i;
        for (int key = 0; key < KEYS; key++)
            snprintf(store.value[key], sizeof store.value[key], "k%d-%d", key, i);
        pthread_rwlock_unlock(&store.lock);
    }
    return arg;
}

int main(void)
{
    pthread_t readers[2], writer;
    store_init();
    pthread_create(&writer, NULL, reloader, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&readers[i], NULL, front_end, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(readers[i], NULL);
    pthread_join(writer, NULL);
    printf("version %d\n", store.version);
    pthread_rwlock_destroy(&store.lock);
    return 0;
}

// Cause: t3_fetch.c:54 who finds the page in the cache only at the second look returns without giving its download slot back
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <unistd.h>

#define PAGES 4
#define READERS 4

static struct cache {
    pthread_rwlock_t lock;
    bool ready[PAGES];
    int length[PAGES];
} cache = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static sem_t slots; // downloads at a time

static bool cache_look(int page, int *length)
{
    pthread_rwlock_rdlock(&cache.lock);
    bool ready = cache.ready[page];
    *length = cache.length[page];
    pthread_rwlock_unlock(&cache.lock);
    return ready;
}

static void cache_store(int page, int length)
{
    pthread_rwlock_wrlock(&cache.lock);
    cache.ready[page] = true;
    cache.length[page] = length;
    pthread_rwlock_unlock(&cache.lock);
}

static int download(int page)
{
    usleep(500);
    return 1000 + page;
}

static int fetch(int page)
{
    int length;
    if (cache_look(page, &length))
        return length;
    sem_wait(&slots);
    if (cache_look(page, &length)) { // another reader was faster
#ifdef FIXED
        sem_post(&slots);
#endif
        return length;
    }
    length = download(page);
    cache_store(page, length);
    sem_post(&slots);
    return length;
}

static void *reader(void *argument)
{
    int first = *(int *)argument;
    for (int i = 0; i < PAGES; i++) {
        int page = (first + i) % PAGES;
        assert(fetch(page) == 1000 + page);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[READERS];
    int first[READERS] = {0, 0, 2, 2};
    sem_init(&slots, 0, 2);
    for (int i = 0; i < READERS; i++)
        pthread_create(&threads[i], NULL, reader, &first[i]);
    for (int i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    sem_destroy(&slots);
    return 0;
}

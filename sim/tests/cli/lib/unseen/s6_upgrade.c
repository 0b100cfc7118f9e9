// Cause: s6_upgrade.c:53 a reader that wants to write keeps its share of the lock while it waits for the other readers to leave; two of them at a time wait for each other.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define THREADS 3
#define ROUNDS 3

/* Readers and a writer, with a step from one to the other. */
struct lock {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int readers;
    bool writer;
    bool upgrading;
};

static struct lock lock = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static int table[4];

static void lock_read(struct lock *l)
{
    pthread_mutex_lock(&l->mutex);
    while (l->writer || l->upgrading)
        pthread_cond_wait(&l->changed, &l->mutex);
    l->readers++;
    pthread_mutex_unlock(&l->mutex);
}

static void unlock_read(struct lock *l)
{
    pthread_mutex_lock(&l->mutex);
    l->readers--;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->mutex);
}

/* The caller's share of the lock becomes the whole. False: it is to give its share back first. */
static bool upgrade(struct lock *l)
{
    pthread_mutex_lock(&l->mutex);
#ifdef FIXED
    if (l->upgrading) {
        pthread_mutex_unlock(&l->mutex);
        return false;
    }
#endif
    l->upgrading = true;
    while (l->readers > 1)
        pthread_cond_wait(&l->changed, &l->mutex);
    l->readers = 0;
    l->upgrading = false;
    l->writer = true;
    pthread_mutex_unlock(&l->mutex);
    return true;
}

static void lock_write(struct lock *l)
{
    pthread_mutex_lock(&l->mutex);
    while (l->writer || l->upgrading || l->readers > 0)
        pthread_cond_wait(&l->changed, &l->mutex);
    l->writer = true;
    pthread_mutex_unlock(&l->mutex);
}

static void unlock_write(struct lock *l)
{
    pthread_mutex_lock(&l->mutex);
    l->writer = false;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->mutex);
}

static void *worker(void *argument)
{
    for (int round = 0; round < ROUNDS; round++) {
        int place = round % 4;
        lock_read(&lock);
        bool missing = table[place] == 0;
        if (!missing) {
            unlock_read(&lock);
            continue;
        }
        if (!upgrade(&lock)) {
            unlock_read(&lock);
            lock_write(&lock);
        }
        if (table[place] == 0)
            table[place] = place + 1;
        unlock_write(&lock);
    }
    return argument;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d %d %d\n", table[0], table[1], table[2]);
    return 0;
}

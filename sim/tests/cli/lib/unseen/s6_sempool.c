// Cause: s6_sempool.c:55 pool_get() has taken a permit of the semaphore and returns without a connection, and without the permit back, when the connection is out of date; after as many of those as there are connections every get waits forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CONNECTIONS 2
#define WORKERS 3
#define JOBS 4 /* Of each worker. */

struct connection {
    int in_use;
    int opened_with; /* The credentials that were valid then. */
};

static struct connection connections[CONNECTIONS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t available;
static atomic_int credentials = 1;
static atomic_int done, renewed;

static void wait_available(void)
{
    while (sem_wait(&available) != 0) {
        if (errno != EINTR)
            abort();
    }
}

/* A connection, or NULL: one was out of date and was opened anew, ask again. */
static struct connection *pool_get(void)
{
    struct connection *found = NULL;
    wait_available();
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < CONNECTIONS && found == NULL; i++) {
        if (!connections[i].in_use)
            found = &connections[i];
    }
    if (found == NULL)
        abort();
    int valid = atomic_load(&credentials);
    if (found->opened_with != valid) {
        found->opened_with = valid;
        atomic_fetch_add(&renewed, 1);
        pthread_mutex_unlock(&mutex);
#ifdef FIXED
        sem_post(&available);
#endif
        return NULL;
    }
    found->in_use = 1;
    pthread_mutex_unlock(&mutex);
    return found;
}

static void pool_put(struct connection *connection)
{
    pthread_mutex_lock(&mutex);
    connection->in_use = 0;
    pthread_mutex_unlock(&mutex);
    sem_post(&available);
}

static void *worker(void *argument)
{
    for (int i = 0; i < JOBS; i++) {
        struct connection *connection;
        do
            connection = pool_get();
        while (connection == NULL);
        usleep(100);
        pool_put(connection);
        atomic_fetch_add(&done, 1);
    }
    return argument;
}

/* The administrator, who now and then changes the password. */
static void *administrator(void *argument)
{
    usleep(400);
    atomic_fetch_add(&credentials, 1);
    return argument;
}

int main(void)
{
    pthread_t threads[WORKERS + 1];
    sem_init(&available, 0, CONNECTIONS);
    for (int i = 0; i < CONNECTIONS; i++)
        connections[i].opened_with = 1;
    pthread_create(&threads[WORKERS], NULL, administrator, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i <= WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("%d jobs, %d renewed\n", atomic_load(&done), atomic_load(&renewed));
    return 0;
}

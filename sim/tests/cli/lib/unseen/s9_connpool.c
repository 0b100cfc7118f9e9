// Cause: pool_get() decides with the lock held that it may open one (`open < LIMIT`), but counts it (`pool.open++`)
// only after the handshake, for which it has given back the lock. Others decide the same meanwhile, so more than LIMIT
// are opened. Count it before the unlock.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* A pool of database connections with a limit: idle ones are used again, new ones are opened as
 * long as the limit allows, else the caller waits. Opening one takes a round trip. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define LIMIT 2
#define CALLERS 4

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t returned;
    int idle[CALLERS];
    int idle_count;
    int open;
};

static struct pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
        .returned = PTHREAD_COND_INITIALIZER};
static int server[2];

static int
handshake(void)
{
    static pthread_mutex_t line = PTHREAD_MUTEX_INITIALIZER;
    char answer;
    pthread_mutex_lock(&line);
    (void)!write(server[0], "?", 1);
    (void)!read(server[0], &answer, 1);
    pthread_mutex_unlock(&line);
    return answer;
}

static void *
server_main(void *argument)
{
    char byte;
    char number = 1;
    while (read(server[1], &byte, 1) == 1) {
        (void)!write(server[1], &number, 1);
        number++;
    }
    return argument;
}

static int
pool_get(void)
{
    int connection;
    pthread_mutex_lock(&pool.lock);
    while (pool.idle_count == 0 && pool.open >= LIMIT) {
        pthread_cond_wait(&pool.returned, &pool.lock);
    }
    if (pool.idle_count > 0) {
        connection = pool.idle[--pool.idle_count];
        pthread_mutex_unlock(&pool.lock);
        return connection;
    }
#ifdef FIXED
    pool.open++;
    pthread_mutex_unlock(&pool.lock);
    connection = handshake();
    pthread_mutex_lock(&pool.lock);
#else
    pthread_mutex_unlock(&pool.lock);
    connection = handshake();
    pthread_mutex_lock(&pool.lock);
    pool.open++;
#endif
    assert(pool.open <= LIMIT);
    pthread_mutex_unlock(&pool.lock);
    return connection;
}

static void
pool_put(int connection)
{
    pthread_mutex_lock(&pool.lock);
    pool.idle[pool.idle_count++] = connection;
    pthread_cond_signal(&pool.returned);
    pthread_mutex_unlock(&pool.lock);
}

static void *
caller(void *argument)
{
    int connection = pool_get();
    usleep(100);
    pool_put(connection);
    return argument;
}

int
main(void)
{
    pthread_t answers, callers[CALLERS];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, server) != 0) {
        return 1;
    }
    pthread_create(&answers, NULL, server_main, NULL);
    for (int i = 0; i < CALLERS; i++) {
        pthread_create(&callers[i], NULL, caller, NULL);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i], NULL);
    }
    close(server[0]);
    pthread_join(answers, NULL);
    printf("%d open\n", pool.open);
    return 0;
}

/*
 * A loop ends when nothing is left to watch; who takes the last thing away does not wake it. What
 * else changes then is no number: a loop that finds the former one there dies.
 *
 * Nothing in it is for rewake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>

struct loop {
    pthread_mutex_t mutex;
    long watched;
    void (*turn)(void);
    int epoll;
};

static void
turn(void)
{
}

static void *
work(void *argument)
{
    struct loop *loop = argument;
    struct epoll_event event;
    pthread_mutex_lock(&loop->mutex);
    while (loop->watched > 0) {
        pthread_mutex_unlock(&loop->mutex);
        epoll_wait(loop->epoll, &event, 1, -1);
        pthread_mutex_lock(&loop->mutex);
        loop->turn();
    }
    pthread_mutex_unlock(&loop->mutex);
    return NULL;
}

__attribute__((noinline)) static void
take_away(struct loop *loop)
{
    pthread_mutex_lock(&loop->mutex);
    loop->watched--;
    loop->turn = turn;
    pthread_mutex_unlock(&loop->mutex);
}

int
main(void)
{
    pthread_t thread;
    struct loop *loop = calloc(1, sizeof(*loop));
    pthread_mutex_init(&loop->mutex, NULL);
    loop->watched = 1;
    loop->epoll = epoll_create1(0);
    pthread_create(&thread, NULL, work, loop);
    take_away(loop);
    pthread_join(thread, NULL);
    free(loop);
    return 0;
}

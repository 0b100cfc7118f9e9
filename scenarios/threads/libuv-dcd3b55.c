/*
 * libuv-dcd3b55.c -- a worker wakes the loop after it has given up the lock that keeps it alive.
 *
 * libuv/libuv dcd3b55; reported as joyent/libuv#628, in the library itself:
 * scenarios/real/libuv-joyent-628.c.
 *
 * The bug. A worker puts finished work into the loop's list, unlocks, and then wakes the loop by
 * its descriptor. A loop that is awake for other work takes this one too, has nothing left to wait
 * for, and is closed and freed; the worker reads the descriptor from it.
 *
 * The fix. It wakes the loop before it unlocks: worker below.
 *
 * Here. Two workers finish a piece of work each.
 *
 * Cause: order, worker before loop_close
 * Must end in: use-after-free.
 * Needs: rewake cc, which sees what is read. Without it two runs of a seed differ now and then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WORKERS 2

struct loop {
    pthread_mutex_t mutex;
    int done; /* Pieces of work. */
    int epoll;
    int wakeup; /* An eventfd. */
};

static void *
worker(void *argument)
{
    struct loop *loop = argument;
    pthread_mutex_lock(&loop->mutex);
    loop->done++;
#ifdef FIXED
    eventfd_write(loop->wakeup, 1);
    pthread_mutex_unlock(&loop->mutex);
#else
    pthread_mutex_unlock(&loop->mutex);
    eventfd_write(loop->wakeup, 1);
#endif
    return NULL;
}

static struct loop *
loop_new(void)
{
    struct loop *loop = malloc(sizeof(*loop));
    pthread_mutex_init(&loop->mutex, NULL);
    loop->done = 0;
    loop->epoll = epoll_create1(0);
    loop->wakeup = eventfd(0, EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->wakeup, &event);
    return loop;
}

static void
loop_run(struct loop *loop)
{
    for (int left = WORKERS; left > 0;) {
        struct epoll_event event;
        eventfd_t ignored;
        if (epoll_wait(loop->epoll, &event, 1, -1) > 0) {
            eventfd_read(loop->wakeup, &ignored);
        }
        pthread_mutex_lock(&loop->mutex);
        left -= loop->done;
        loop->done = 0;
        pthread_mutex_unlock(&loop->mutex);
    }
}

static void
loop_close(struct loop *loop)
{
    close(loop->wakeup);
    close(loop->epoll);
    pthread_mutex_destroy(&loop->mutex);
    free(loop);
}

int
main(void)
{
    pthread_t threads[WORKERS];
    struct loop *loop = loop_new();
    for (int i = 0; i < WORKERS; i++) {
        pthread_create(&threads[i], NULL, worker, loop);
    }
    loop_run(loop);
    loop_close(loop);
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}

/*
 * libuv-2226.c -- an async handle counts as woken before its sender has used the handle's loop.
 *
 * libuv/libuv#2226, repaired by #2231 (37042a5); in the library: scenarios/real/libuv-2226.c.
 *
 * The bug. A send sets a handle's pending flag, and then writes to the descriptor of its loop. The
 * loop may be awake for another handle. It finds the flag set and runs the callback, which closes
 * and frees the handle. The sender reads from it which loop it is, and writes to the descriptor of
 * one that may have ended, where libuv aborts.
 *
 * The fix. The flag has a third state, done: a loop takes a handle only when its sender is.
 *
 * Here. Two threads send, to a handle each.
 *
 * Cause: order, async_send before async_io
 * Must end in: crash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define HANDLES 2
enum { IDLE, BUSY, DONE };

struct loop {
    int wakeup; /* An eventfd. */
    struct async *handles[HANDLES];
};

struct async {
    struct loop *loop;
    atomic_int pending;
};

static void
wake_loop(struct loop *loop)
{
    if (eventfd_write(loop->wakeup, 1) != 0) {
        abort();
    }
}

static void *
async_send(void *argument)
{
    struct async *handle = argument;
    int expected = IDLE;
#ifdef FIXED
    if (atomic_compare_exchange_strong(&handle->pending, &expected, BUSY)) {
        wake_loop(handle->loop);
        atomic_store(&handle->pending, DONE);
    }
#else
    if (atomic_compare_exchange_strong(&handle->pending, &expected, DONE)) {
        wake_loop(handle->loop);
    }
#endif
    return NULL;
}

/* Returns how many handles it has closed. The callback of each one closes it. */
static int
async_io(struct loop *loop)
{
    int closed = 0;
    eventfd_t ignored;
    eventfd_read(loop->wakeup, &ignored);
    for (int i = 0; i < HANDLES; i++) {
        struct async *handle = loop->handles[i];
        while (handle != NULL && atomic_load(&handle->pending) == BUSY) {
            sched_yield();
        }
        int expected = DONE;
        if (handle != NULL && atomic_compare_exchange_strong(&handle->pending, &expected, IDLE)) {
            loop->handles[i] = NULL;
            free(handle);
            closed++;
        }
    }
    return closed;
}

int
main(void)
{
    struct loop loop = {.wakeup = eventfd(0, EFD_NONBLOCK)};
    pthread_t threads[HANDLES];
    int epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, loop.wakeup, &(struct epoll_event){.events = EPOLLIN});
    for (int i = 0; i < HANDLES; i++) {
        loop.handles[i] = malloc(sizeof(struct async));
        loop.handles[i]->loop = &loop;
        atomic_init(&loop.handles[i]->pending, IDLE);
    }
    for (int i = 0; i < HANDLES; i++) {
        pthread_create(&threads[i], NULL, async_send, loop.handles[i]);
    }
    for (int open = HANDLES; open > 0;) {
        struct epoll_event event;
        if (epoll_wait(epoll, &event, 1, -1) > 0) {
            open -= async_io(&loop);
        }
    }
    close(loop.wakeup);
    for (int i = 0; i < HANDLES; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}

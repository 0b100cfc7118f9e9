/*
 * libuv-189.c -- the loop clears an async handle's pending flag over a send that relies on it.
 *
 * libuv/libuv#189 (4ed2372), #50, #197.
 *
 * The bug. A send that finds the flag set writes nothing to the loop's descriptor. The loop checks
 * the flag and clears it by a plain store, which nothing orders before what the callback reads. It
 * takes effect after the callback has read, and clears a send that came in between. ("Trampled" is
 * the authors' word.)
 *
 * The fix. An atomic exchange before the callback: async_io below.
 *
 * Here. Another thread sends two messages. Memory is sequentially consistent in a simulated run, so
 * the broken form has the store where it takes effect: after the callback.
 *
 * Cause: erased in async_io
 * Must end in: deadlock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define MESSAGES 2

static atomic_int pending;
static atomic_int sent;
static int received;
static int wakeup; /* An eventfd. */

static void
async_send(void)
{
    if (atomic_exchange(&pending, 1) == 0) {
        eventfd_write(wakeup, 1);
    }
}

static void
callback(void)
{
    received = atomic_load(&sent);
}

static void
async_io(void)
{
    eventfd_t ignored;
    eventfd_read(wakeup, &ignored);
#ifdef FIXED
    if (atomic_exchange(&pending, 0) == 1) {
        callback();
    }
#else
    if (atomic_load(&pending) == 1) {
        callback();
        atomic_store(&pending, 0);
    }
#endif
}

static void *
send_all(void *unused)
{
    for (int i = 0; i < MESSAGES; i++) {
        atomic_fetch_add(&sent, 1);
        async_send();
    }
    return unused;
}

int
main(void)
{
    pthread_t thread;
    int epoll = epoll_create1(0);
    wakeup = eventfd(0, EFD_NONBLOCK);
    epoll_ctl(epoll, EPOLL_CTL_ADD, wakeup, &(struct epoll_event){.events = EPOLLIN});
    pthread_create(&thread, NULL, send_all, NULL);
    while (received < MESSAGES) {
        struct epoll_event event;
        if (epoll_wait(epoll, &event, 1, -1) > 0) {
            async_io();
        }
    }
    return pthread_join(thread, NULL);
}

/*
 * libuv-joyent-534.c -- where there are no atomic operations, each send counts as pending already.
 *
 * joyent/libuv#534.
 *
 * The bug. make_pending() sets a handle's flag and says whether it was set before, by an atomic
 * exchange of the processor. The version for other processors sets it and returns 1, always. So no
 * send writes to the loop's descriptor, and a loop that sleeps is not woken.
 *
 * The fix. It returns 0: a write too many does no harm.
 *
 * Here. Another thread sends once; the loop has a timer of 1 ms, so that it may be awake.
 *
 * Cause: never-fired in make_pending or async_send
 * Must end in: lost-wakeup.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

static int volatile pending;
static int wakeup; /* An eventfd. */

static int
make_pending(void)
{
    pending = 1;
#ifdef FIXED
    return 0;
#else
    return 1;
#endif
}

static void
async_send(void)
{
    if (make_pending() == 0) {
        eventfd_write(wakeup, 1);
    }
}

static void *
send_once(void *unused)
{
    async_send();
    return unused;
}

int
main(void)
{
    pthread_t thread;
    int epoll = epoll_create1(0);
    wakeup = eventfd(0, EFD_NONBLOCK);
    epoll_ctl(epoll, EPOLL_CTL_ADD, wakeup, &(struct epoll_event){.events = EPOLLIN});
    pthread_create(&thread, NULL, send_once, NULL);
    int timeout_ms = 1;
    while (!pending) {
        struct epoll_event event;
        if (epoll_wait(epoll, &event, 1, timeout_ms) > 0) {
            eventfd_t ignored;
            eventfd_read(wakeup, &ignored);
        }
        timeout_ms = -1;
    }
    return pthread_join(thread, NULL);
}

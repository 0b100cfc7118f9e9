/*
 * heph-437.c -- a poller says that it polls after it has checked that there is nothing to do.
 *
 * Thomasdezeeuw/heph#437; the same in ponylang/ponyc#2561.
 *
 * The bug. A wake writes to the poller's eventfd only while the poller says that it polls. The
 * poller finds its queue empty, chooses to wait without a time-out, and says so then. A wake in
 * between finds that it is not polling, and writes nothing.
 *
 * The fix. It says so first, and checks the queue afterwards: coordinator_run below.
 *
 * Here. A coordinator runs three tasks, which another thread schedules.
 *
 * Cause: order, coordinator_run before wake
 * Must end in: lost-wakeup.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define TASKS 3

static atomic_int ready; /* How many tasks are in the run queue. */
static atomic_bool polling;
static int waker; /* An eventfd. */

static void
wake(void)
{
    atomic_fetch_add(&ready, 1);
    if (atomic_exchange(&polling, false)) {
        eventfd_write(waker, 1);
    }
}

static int
determine_timeout(void)
{
    return atomic_load(&ready) > 0 ? 0 : -1;
}

static void
coordinator_run(int epoll)
{
    int ran = 0;
    while ((ran += atomic_exchange(&ready, 0)) < TASKS) {
#ifdef FIXED
        atomic_store(&polling, true);
        int timeout = determine_timeout();
#else
        int timeout = determine_timeout();
        atomic_store(&polling, true);
#endif
        struct epoll_event event;
        if (epoll_wait(epoll, &event, 1, timeout) > 0) {
            eventfd_t ignored;
            eventfd_read(waker, &ignored);
        }
        atomic_store(&polling, false);
    }
}

static void *
schedule(void *unused)
{
    for (int i = 0; i < TASKS; i++) {
        wake();
    }
    return unused;
}

int
main(void)
{
    pthread_t thread;
    int epoll = epoll_create1(0);
    waker = eventfd(0, EFD_NONBLOCK);
    epoll_ctl(epoll, EPOLL_CTL_ADD, waker, &(struct epoll_event){.events = EPOLLIN});
    pthread_create(&thread, NULL, schedule, NULL);
    coordinator_run(epoll);
    return pthread_join(thread, NULL);
}

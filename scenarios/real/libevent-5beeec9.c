/*
 * libevent-5beeec9.c -- a worker runs a loop; main activates an event of it, whose function ends
 * the loop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <stddef.h>

static void
stop(evutil_socket_t fd, short what, void *base)
{
    event_base_loopexit(base, NULL);
}

static void *
work(void *base)
{
    event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY);
    return NULL;
}

int
main(void)
{
    pthread_t worker;
    evthread_use_pthreads();
    struct event_base *base = event_base_new();
    struct event *event = event_new(base, -1, EV_READ | EV_PERSIST, stop, base);
    pthread_create(&worker, NULL, work, base);
    event_active(event, EV_READ, 0);
    pthread_join(worker, NULL);
    event_free(event);
    event_base_free(base);
}

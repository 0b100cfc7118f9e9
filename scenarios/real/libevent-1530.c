/*
 * libevent-1530.c -- main hands work to a loop by making its event active; the event has a time-
 * out, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <stddef.h>

static void
work_or_time(evutil_socket_t fd, short what, void *base)
{
    if (what & EV_WRITE)
        event_base_loopbreak(base);
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
    struct timeval time = {.tv_usec = 1000};
    evthread_use_pthreads();
    struct event_base *base = event_base_new();
    struct event *event = event_new(base, -1, EV_READ, work_or_time, base);
    event_add(event, &time);
    pthread_create(&worker, NULL, work, base);
    event_active(event, EV_WRITE, 0);
    pthread_join(worker, NULL);
    event_free(event);
    event_base_free(base);
}

/*
 * libevent-623.c -- a worker runs a loop that only a sentinel keeps; main removes it, so the loop
 * must end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <stddef.h>

static void
nothing(evutil_socket_t fd, short what, void *argument)
{
}

static void *
work(void *base)
{
    event_base_dispatch(base);
    return NULL;
}

int
main(void)
{
    pthread_t worker;
    evthread_use_pthreads();
    struct event_base *base = event_base_new();
    struct event *sentinel = event_new(base, -1, EV_READ, nothing, NULL);
    event_add(sentinel, NULL);
    pthread_create(&worker, NULL, work, base);
    event_del(sentinel);
    pthread_join(worker, NULL);
    event_free(sentinel);
    event_base_free(base);
}

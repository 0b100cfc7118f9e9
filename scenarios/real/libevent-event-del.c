/*
 * libevent-event-del.c -- a worker's loop calls a function for a byte; main removes the event, and
 * frees its argument.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void
count(evutil_socket_t fd, short what, void *bytes)
{
    char byte;
    *(long *)bytes += read(fd, &byte, 1);
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
    int ends[2];
    evthread_use_pthreads();
    struct event_base *base = event_base_new();
    long *bytes = calloc(1, sizeof(*bytes));
    if (pipe(ends) != 0)
        return 1;
    struct event *event = event_new(base, ends[0], EV_READ | EV_PERSIST, count, bytes);
    event_add(event, NULL);
    pthread_create(&worker, NULL, work, base);
    if (write(ends[1], "a", 1) != 1)
        return 1;
    event_del(event);
    free(bytes);
    pthread_join(worker, NULL);
    event_free(event);
    event_base_free(base);
}

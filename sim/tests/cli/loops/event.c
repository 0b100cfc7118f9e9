/*
 * event.c -- a program over libevent: a pair of buffered ends, a timer, and an event made active by
 * a thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static struct event_base *base;
static struct event *signalled, *timer;
static struct bufferevent *near, *far;
static int rings, bytes, ticks;

static void
check(void)
{
    if (rings == 1 && bytes == 5 && ticks == 1) {
        event_base_loopbreak(base);
    }
}

static void
on_ring(evutil_socket_t fd, short what, void *argument)
{
    (void)fd;
    (void)what;
    (void)argument;
    rings++;
    check();
}

static void
on_timer(evutil_socket_t fd, short what, void *argument)
{
    (void)fd;
    (void)what;
    (void)argument;
    ticks++;
    check();
}

static void
on_read(struct bufferevent *end, void *argument)
{
    char buffer[64];
    size_t size = bufferevent_read(end, buffer, sizeof(buffer));
    if (argument == NULL) {
        bufferevent_write(end, buffer, size);
    } else {
        bytes += (int)size;
        check();
    }
}

static void *
ring(void *argument)
{
    event_active(argument, EV_READ, 0);
    return NULL;
}

int
main(void)
{
    evutil_socket_t pair[2];
    pthread_t thread;
    struct timeval soon = {0, 50000};
    evthread_use_pthreads();
    base = event_base_new();
    if (evutil_socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        return 2;
    }
    evutil_make_socket_nonblocking(pair[0]);
    evutil_make_socket_nonblocking(pair[1]);
    near = bufferevent_socket_new(base, pair[0], BEV_OPT_CLOSE_ON_FREE);
    far = bufferevent_socket_new(base, pair[1], BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(near, on_read, NULL, NULL, base);
    bufferevent_setcb(far, on_read, NULL, NULL, NULL);
    bufferevent_enable(near, EV_READ | EV_WRITE);
    bufferevent_enable(far, EV_READ | EV_WRITE);
    bufferevent_write(near, "hello", 5);
    signalled = event_new(base, -1, EV_PERSIST, on_ring, NULL);
    event_add(signalled, NULL);
    timer = evtimer_new(base, on_timer, NULL);
    event_add(timer, &soon);
    pthread_create(&thread, NULL, ring, signalled);
    event_base_loop(base, 0);
    pthread_join(thread, NULL);
    printf("rings %d, bytes %d, ticks %d\n", rings, bytes, ticks);
    event_free(signalled);
    event_free(timer);
    bufferevent_free(near);
    bufferevent_free(far);
    event_base_free(base);
    return 0;
}

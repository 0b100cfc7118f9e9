/*
 * ev.c -- a program over libev: bytes through a pipe, a timer, and an async wake from a thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ev.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static struct ev_loop *loop;
static ev_io readable;
static ev_timer timer;
static ev_async async;
static int bytes, ticks, wakes;
static int ends[2];

static void
on_readable(struct ev_loop *l, ev_io *w, int events)
{
    char buffer[16];
    (void)events;
    ssize_t size = read(w->fd, buffer, sizeof(buffer));
    bytes += size > 0 ? (int)size : 0;
    if (bytes == 3) {
        ev_io_stop(l, w);
    }
}

static void
on_timer(struct ev_loop *l, ev_timer *w, int events)
{
    (void)l;
    (void)w;
    (void)events;
    ticks++;
}

static void
on_async(struct ev_loop *l, ev_async *w, int events)
{
    (void)events;
    wakes++;
    ev_async_stop(l, w);
}

static void *
wake(void *argument)
{
    (void)argument;
    if (write(ends[1], "abc", 3) != 3) {
        return NULL;
    }
    ev_async_send(loop, &async);
    return NULL;
}

int
main(void)
{
    pthread_t thread;
    loop = ev_default_loop(0);
    if (loop == NULL || pipe(ends) != 0) {
        return 2;
    }
    ev_io_init(&readable, on_readable, ends[0], EV_READ);
    ev_io_start(loop, &readable);
    ev_timer_init(&timer, on_timer, 0.01, 0.);
    ev_timer_start(loop, &timer);
    ev_async_init(&async, on_async);
    ev_async_start(loop, &async);
    pthread_create(&thread, NULL, wake, NULL);
    ev_run(loop, 0);
    pthread_join(thread, NULL);
    printf("bytes %d, ticks %d, wakes %d\n", bytes, ticks, wakes);
    close(ends[0]);
    close(ends[1]);
    ev_loop_destroy(loop);
    return bytes == 3 && ticks == 1 && wakes == 1 ? 0 : 1;
}

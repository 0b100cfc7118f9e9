/*
 * s11_collector.c -- a collector of samples: a thread with a libevent loop reads them from a socket.
 * A new configuration stops the thread and starts another one on the same loop.
 *
 * Cause: collector_stop() (line 73) asks the loop to break, which is forgotten where the thread has not entered the loop yet
 */
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

struct sample {
    int sensor;
    int value;
};

struct collector {
    struct event_base *base;
    struct event *readable;
    struct event *quit;
    pthread_t thread;
    int sockets[2];
    int scale;
    long sum;
    unsigned count;
};

static void
on_sample(evutil_socket_t fd, short what, void *argument)
{
    struct collector *collector = argument;
    struct sample sample;
    (void)what;
    while (recv(fd, &sample, sizeof sample, 0) == sizeof sample) {
        collector->sum += (long)sample.value * collector->scale;
        collector->count++;
    }
}

static void
on_quit(evutil_socket_t fd, short what, void *argument)
{
    struct collector *collector = argument;
    (void)fd;
    (void)what;
    event_base_loopbreak(collector->base);
}

static void *
collector_main(void *argument)
{
    struct collector *collector = argument;
    event_base_loop(collector->base, EVLOOP_NO_EXIT_ON_EMPTY);
    return NULL;
}

static void
collector_start(struct collector *collector, int scale)
{
    collector->scale = scale;
    pthread_create(&collector->thread, NULL, collector_main, collector);
}

static void
collector_stop(struct collector *collector)
{
#ifdef FIXED
    event_active(collector->quit, EV_TIMEOUT, 0);
#else
    event_base_loopbreak(collector->base);
#endif
    pthread_join(collector->thread, NULL);
}

static bool
collector_init(struct collector *collector)
{
    if (evthread_use_pthreads() != 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, collector->sockets) != 0) {
        return false;
    }
    evutil_make_socket_nonblocking(collector->sockets[0]);
    collector->base = event_base_new();
    collector->readable = event_new(
            collector->base, collector->sockets[0], EV_READ | EV_PERSIST, on_sample, collector);
    collector->quit = event_new(collector->base, -1, 0, on_quit, collector);
    return event_add(collector->readable, NULL) == 0;
}

static void
collector_fini(struct collector *collector)
{
    event_free(collector->readable);
    event_free(collector->quit);
    event_base_free(collector->base);
    close(collector->sockets[0]);
    close(collector->sockets[1]);
}

static void
measure(struct collector *collector, int sensor, int count)
{
    for (int i = 0; i < count; i++) {
        struct sample sample = {sensor, 10 * sensor + i};
        if (send(collector->sockets[1], &sample, sizeof sample, 0) != sizeof sample) {
            perror("send");
        }
        usleep(800);
    }
}

int
main(void)
{
    static struct collector collector;
    if (!collector_init(&collector)) {
        return 1;
    }
    for (int scale = 1; scale <= 3; scale++) {
        collector_start(&collector, scale);
        measure(&collector, scale, 3 - scale + 1);
        collector_stop(&collector);
    }
    printf("%u samples, at most %ld\n", collector.count, collector.sum);
    collector_fini(&collector);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0

// Cause: s6_proxy.c:127 when the sink has space again the proxy writes what it holds and does not read on: the edge of the source was consumed before, the source is still full, so no event comes for the rest.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define TOTAL (600 * 1024)
#define CHUNK 16384

static int source[2]; /* The producer writes to [1]. */
static int sink[2];   /* The consumer reads from [1]. */
static char held[CHUNK];
static size_t held_at, held_size;
static bool at_end, finished;

static void *producer(void *argument)
{
    static char data[CHUNK];
    memset(data, 'x', sizeof data);
    for (size_t sent = 0; sent < TOTAL;) {
        size_t size = TOTAL - sent < CHUNK ? TOTAL - sent : CHUNK;
        ssize_t n = write(source[1], data, size);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            abort();
        }
        sent += (size_t)n;
    }
    shutdown(source[1], SHUT_WR);
    return argument;
}

static void *consumer(void *argument)
{
    static char data[CHUNK];
    size_t *received = argument;
    usleep(2000);
    for (;;) {
        ssize_t n = read(sink[1], data, sizeof data);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        *received += (size_t)n;
    }
    return argument;
}

/* False: the sink takes no more for now. */
static bool flush(void)
{
    while (held_size > 0) {
        ssize_t n = write(sink[0], held + held_at, held_size);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            if (errno == EAGAIN)
                return false;
            abort();
        }
        held_at += (size_t)n;
        held_size -= (size_t)n;
    }
    if (at_end && !finished) {
        finished = true;
        shutdown(sink[0], SHUT_WR);
    }
    return true;
}

static void pump(void)
{
    while (flush() && !at_end) {
        ssize_t n = read(source[0], held, sizeof held);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            if (errno == EAGAIN)
                return;
            abort();
        }
        held_at = 0;
        held_size = (size_t)n;
        at_end = n == 0;
    }
}

static void watch(int epoll, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events | EPOLLET, .data.fd = fd};
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        abort();
}

int main(void)
{
    pthread_t threads[2];
    size_t received = 0;
    int epoll = epoll_create1(0);
    if (epoll < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, source) != 0 ||
            socketpair(AF_UNIX, SOCK_STREAM, 0, sink) != 0)
        return 1;
    watch(epoll, source[0], EPOLLIN);
    watch(epoll, sink[0], EPOLLOUT);
    pthread_create(&threads[0], NULL, producer, NULL);
    pthread_create(&threads[1], NULL, consumer, &received);
    while (!finished) {
        struct epoll_event events[2];
        int count = epoll_wait(epoll, events, 2, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == source[0]) {
                pump();
            } else {
#ifdef FIXED
                pump();
#else
                flush();
#endif
            }
        }
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%zu bytes\n", received);
    return received == TOTAL ? 0 : 1;
}

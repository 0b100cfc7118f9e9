// Cause: s4_relay.c:79 resuming the reads of one side assigns EPOLLIN instead of adding it, which drops the EPOLLOUT that this side still needs for its own backlog, so that the backlog is never sent.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* A proxy between two sockets, in both directions. A side whose peer has a backlog is not read. */

struct side {
    int fd;
    uint32_t events;
    char backlog[4096];
    size_t used, passed;
};

struct flow {
    int fd, send;
    size_t bytes;
    useconds_t pause;
};

static int epoll;

static void watch(struct side *side, int operation)
{
    struct epoll_event event = {.events = side->events, .data.ptr = side};
    int result = epoll_ctl(epoll, operation, side->fd, &event);
    assert(result == 0);
}

static void flush(struct side *to)
{
    while (to->used > 0) {
        ssize_t sent = send(to->fd, to->backlog, to->used, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return;
        to->used -= (size_t)sent;
        to->passed += (size_t)sent;
        memmove(to->backlog, to->backlog + sent, to->used);
    }
}

static void on_readable(struct side *from, struct side *to)
{
    if (to->used > 0)
        return;
    ssize_t got = recv(from->fd, to->backlog, sizeof to->backlog, MSG_DONTWAIT);
    if (got <= 0)
        return;
    to->used = (size_t)got;
    flush(to);
    if (to->used > 0) {
        to->events |= EPOLLOUT;
        watch(to, EPOLL_CTL_MOD);
        from->events &= ~(uint32_t)EPOLLIN;
        watch(from, EPOLL_CTL_MOD);
    }
}

static void on_writable(struct side *to, struct side *from)
{
    flush(to);
    if (to->used > 0)
        return;
    to->events &= ~(uint32_t)EPOLLOUT;
    watch(to, EPOLL_CTL_MOD);
#ifdef FIXED
    from->events |= EPOLLIN;
#else
    from->events = EPOLLIN;
#endif
    watch(from, EPOLL_CTL_MOD);
}

/* Sends or receives a number of bytes. */
static void *transfer(void *argument)
{
    struct flow *flow = argument;
    char block[1024] = {0};
    for (size_t left = flow->bytes; left > 0;) {
        size_t size = left < sizeof block ? left : sizeof block;
        ssize_t done = flow->send ? send(flow->fd, block, size, MSG_NOSIGNAL) : recv(flow->fd, block, size, 0);
        assert(done > 0);
        left -= (size_t)done;
        usleep(flow->pause);
    }
    return NULL;
}

int main(void)
{
    enum { REQUESTS = 24 * 1024, ANSWERS = 16 * 1024 };
    int left[2], right[2], space = 4096;
    int failed = socketpair(AF_UNIX, SOCK_STREAM, 0, left) | socketpair(AF_UNIX, SOCK_STREAM, 0, right);
    assert(!failed);
    for (int i = 0; i < 2; i++) {
        setsockopt(left[i], SOL_SOCKET, SO_SNDBUF, &space, sizeof space);
        setsockopt(right[i], SOL_SOCKET, SO_SNDBUF, &space, sizeof space);
    }
    struct side client = {.fd = left[1], .events = EPOLLIN}, server = {.fd = right[1], .events = EPOLLIN};
    epoll = epoll_create1(0);
    watch(&client, EPOLL_CTL_ADD);
    watch(&server, EPOLL_CTL_ADD);

    struct flow flows[4] = {{left[0], 1, REQUESTS, 100}, {right[0], 0, REQUESTS, 250}, {right[0], 1, ANSWERS, 100}, {left[0], 0, ANSWERS, 50}};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, transfer, &flows[i]);
    while (server.passed < REQUESTS || client.passed < ANSWERS) {
        struct epoll_event events[2];
        int count = epoll_wait(epoll, events, 2, -1);
        for (int i = 0; i < count; i++) {
            struct side *side = events[i].data.ptr;
            struct side *other = side == &client ? &server : &client;
            if (events[i].events & EPOLLIN)
                on_readable(side, other);
            if (events[i].events & EPOLLOUT)
                on_writable(side, other);
        }
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

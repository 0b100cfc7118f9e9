// Cause: s4_frames.c:60 a worker that has read only a part of a frame returns without arming the oneshot registration again, so that the rest of the frame is never reported and never read.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* Workers share an epoll instance; EPOLLONESHOT keeps a connection with one of them at a time. */

enum { CONNECTIONS = 2, WORKERS = 2, FRAMES = 2, HEADER = 8, BODY = 16, FRAME = HEADER + BODY };

struct connection {
    int fd;
    size_t used;
    char data[4 * FRAME];
};

static struct connection connections[CONNECTIONS];
static int epoll, stop;
static atomic_int open_connections = CONNECTIONS;

static void watch(struct connection *connection, int operation)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = connection};
    int result = epoll_ctl(epoll, operation, connection->fd, &event);
    assert(result == 0);
}

static void send_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(fd, data, size, MSG_NOSIGNAL);
        assert(sent > 0);
        data += sent;
        size -= (size_t)sent;
    }
}

static void serve(struct connection *c)
{
    ssize_t got = recv(c->fd, c->data + c->used, sizeof c->data - c->used, MSG_DONTWAIT);
    if (got == 0) {
        close(c->fd);
        uint64_t one = 1;
        if (atomic_fetch_sub(&open_connections, 1) == 1 && write(stop, &one, sizeof one) < 0)
            assert(!"eventfd");
        return;
    }
    if (got > 0)
        c->used += (size_t)got;
#ifndef FIXED
    if (c->used < FRAME)
        return;
#endif
    while (c->used >= FRAME) {
        usleep(100);
        send_all(c->fd, "+", 1);
        c->used -= FRAME;
        memmove(c->data, c->data + FRAME, c->used);
    }
    watch(c, EPOLL_CTL_MOD);
}

static void *worker(void *argument)
{
    for (;;) {
        struct epoll_event event;
        if (epoll_wait(epoll, &event, 1, -1) != 1)
            continue;
        if (!event.data.ptr)
            return argument;
        serve(event.data.ptr);
    }
}

static void *client(void *argument)
{
    int fd = *(int *)argument;
    char header[HEADER] = "frame", body[BODY] = "body", answer;
    for (int i = 0; i < FRAMES; i++) {
        send_all(fd, header, sizeof header);
        send_all(fd, body, sizeof body);
        ssize_t got = recv(fd, &answer, 1, 0);
        assert(got == 1 && answer == '+');
        usleep(200);
    }
    close(fd);
    return NULL;
}

int main(void)
{
    int ends[CONNECTIONS];
    pthread_t workers[WORKERS], clients[CONNECTIONS];
    epoll = epoll_create1(EPOLL_CLOEXEC);
    stop = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(epoll, EPOLL_CTL_ADD, stop, &event);
    for (int i = 0; i < CONNECTIONS; i++) {
        int pair[2], result = socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
        assert(result == 0);
        connections[i].fd = pair[0];
        ends[i] = pair[1];
        watch(&connections[i], EPOLL_CTL_ADD);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    for (int i = 0; i < CONNECTIONS; i++)
        pthread_create(&clients[i], NULL, client, &ends[i]);
    for (int i = 0; i < CONNECTIONS; i++)
        pthread_join(clients[i], NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    return 0;
}

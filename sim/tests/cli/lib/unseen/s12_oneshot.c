/*
 * A relay between socket pairs: what arrives at one end is written to the other, with one-shot events.
 * Cause: end_event() (line 86) takes only what was reported out of `armed`, although a one-shot event disarms all that the end was armed for.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define PART 400
#define PARTS 4

struct end {
    int fd;
    uint32_t armed;
    struct end *peer;
    char pending[512]; /* To be written to fd. */
    size_t length;
    int closed;
};

static int epoll_fd;

static uint32_t end_wants(const struct end *end)
{
    uint32_t wants = 0;
    if (!end->closed && end->peer->length == 0)
        wants |= EPOLLIN;
    if (end->length > 0)
        wants |= EPOLLOUT;
    return wants;
}

static void end_update(struct end *end)
{
    uint32_t wants = end_wants(end);
    if (wants == end->armed)
        return;
    struct epoll_event event = {.events = wants | EPOLLONESHOT, .data.ptr = end};
    epoll_ctl(epoll_fd, EPOLL_CTL_MOD, end->fd, &event);
    end->armed = wants;
}

static void end_open(struct end *end, int fd, struct end *peer)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = end};
    end->fd = fd;
    end->peer = peer;
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
    end->armed = EPOLLIN;
}

static void end_flush(struct end *end)
{
    ssize_t n = send(end->fd, end->pending, end->length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) {
        memmove(end->pending, end->pending + n, end->length - n);
        end->length -= n;
    }
    if (end->length == 0 && end->peer->closed)
        shutdown(end->fd, SHUT_WR);
}

static void end_receive(struct end *end)
{
    struct end *to = end->peer;
    ssize_t n = recv(end->fd, to->pending, sizeof to->pending, MSG_DONTWAIT);
    if (n == 0)
        end->closed = 1;
    else if (n > 0)
        to->length = n;
    if (n >= 0)
        end_flush(to);
}

static void end_event(struct end *end, uint32_t events)
{
#ifdef FIXED
    end->armed = 0;
#else
    end->armed &= ~events;
#endif
    if ((events & EPOLLOUT) && end->length > 0)
        end_flush(end);
    if ((events & (EPOLLIN | EPOLLHUP)) && !end->closed && end->peer->length == 0)
        end_receive(end);
    end_update(end);
    end_update(end->peer);
}

static void *relay(void *argument)
{
    struct end *ends = argument;
    while (!ends[0].closed || ends[1].length > 0) {
        struct epoll_event events[4];
        int n = epoll_wait(epoll_fd, events, 4, -1);
        for (int i = 0; i < n; i++)
            end_event(events[i].data.ptr, events[i].events);
    }
    return NULL;
}

/* Sends one part after another, each when the one before was confirmed. */
static void *producer(void *argument)
{
    int fd = *(int *)argument;
    char block[PART] = {0}, confirmed;
    for (int part = 0; part < PARTS; part++) {
        for (size_t sent = 0; sent < sizeof block;) {
            ssize_t n = send(fd, block + sent, sizeof block - sent, MSG_NOSIGNAL);
            assert(n > 0);
            sent += n;
        }
        if (read(fd, &confirmed, 1) != 1)
            break;
    }
    shutdown(fd, SHUT_WR);
    return NULL;
}

static int consume(int fd)
{
    char buffer[300];
    int got = 0, parts = 0;
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) > 0) {
        got += n;
        while (got >= (parts + 1) * PART) {
            parts++;
            if (write(fd, "k", 1) != 1)
                return got;
        }
    }
    return got;
}

int main(void)
{
    static struct end ends[2];
    int left[2], right[2], got;
    pthread_t threads[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, left);
    socketpair(AF_UNIX, SOCK_STREAM, 0, right);
    epoll_fd = epoll_create1(0);
    end_open(&ends[0], left[1], &ends[1]);
    end_open(&ends[1], right[0], &ends[0]);
    pthread_create(&threads[0], NULL, relay, ends);
    pthread_create(&threads[1], NULL, producer, &left[0]);
    got = consume(right[1]);
    pthread_join(threads[1], NULL);
    pthread_join(threads[0], NULL);
    printf("%d bytes\n", got);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0

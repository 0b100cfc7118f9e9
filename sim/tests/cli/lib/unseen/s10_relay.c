// SPDX-License-Identifier: Apache-2.0
/* Cause: on_source(), line 65: it pauses the source although flush() has already emptied the buffer, and only
   on_sink() resumes it, which is not called then; repair: pause only while bytes are left. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CAPACITY 4096
#define HIGH 3072
#define MESSAGES 40
#define LENGTH 512

struct relay {
    int epoll, source, sink;
    char buffer[CAPACITY];
    size_t used;
    bool ended;
};

static void
want(struct relay *r, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.fd = fd};
    epoll_ctl(r->epoll, EPOLL_CTL_MOD, fd, &event);
}

static void
flush(struct relay *r)
{
    while (r->used > 0) {
        ssize_t n = send(r->sink, r->buffer, r->used, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        r->used -= (size_t)n;
        memmove(r->buffer, r->buffer + n, r->used);
    }
    want(r, r->sink, r->used > 0 ? EPOLLOUT : 0);
}

static void
on_sink(struct relay *r)
{
    flush(r);
    if (r->used < HIGH)
        want(r, r->source, r->ended ? 0 : EPOLLIN);
}

static void
on_source(struct relay *r)
{
    bool full;
    ssize_t n = recv(r->source, r->buffer + r->used, CAPACITY - r->used, MSG_DONTWAIT);
    if (n < 0)
        return;
    if (n == 0) {
        r->ended = true;
        want(r, r->source, 0);
        return;
    }
    r->used += (size_t)n;
#ifndef FIXED
    full = r->used >= HIGH;
    flush(r);
#else
    flush(r);
    full = r->used >= HIGH;
#endif
    if (full)
        want(r, r->source, 0);
}

static void *
run(void *argument)
{
    struct relay *r = argument;
    struct epoll_event add = {.events = EPOLLIN, .data.fd = r->source};
    r->epoll = epoll_create1(EPOLL_CLOEXEC);
    epoll_ctl(r->epoll, EPOLL_CTL_ADD, r->source, &add);
    add = (struct epoll_event){.events = 0, .data.fd = r->sink};
    epoll_ctl(r->epoll, EPOLL_CTL_ADD, r->sink, &add);
    while (!r->ended || r->used > 0) {
        struct epoll_event events[2];
        int n = epoll_wait(r->epoll, events, 2, -1);
        for (int i = 0; i < n; i++)
            if (events[i].data.fd == r->source)
                on_source(r);
            else
                on_sink(r);
    }
    shutdown(r->sink, SHUT_WR);
    close(r->epoll);
    return NULL;
}

static void *
produce(void *argument)
{
    int fd = *(int *)argument;
    char message[LENGTH];
    memset(message, 'm', sizeof message);
    for (int i = 0; i < MESSAGES; i++) {
        send(fd, message, sizeof message, 0);
        usleep(500);
    }
    shutdown(fd, SHUT_WR);
    return NULL;
}

int
main(void)
{
    int in[2], out[2];
    size_t total = 0;
    char chunk[1000];
    ssize_t n;
    pthread_t producer, relayer;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, in) || socketpair(AF_UNIX, SOCK_STREAM, 0, out))
        return 1;
    struct relay relay = {.source = in[1], .sink = out[0]};
    pthread_create(&relayer, NULL, run, &relay);
    pthread_create(&producer, NULL, produce, &in[0]);
    while ((n = recv(out[1], chunk, sizeof chunk, 0)) != 0)
        if (n > 0)
            total += (size_t)n;
    pthread_join(producer, NULL);
    pthread_join(relayer, NULL);
    assert(total == (size_t)MESSAGES * LENGTH);
    printf("%zu bytes\n", total);
    return 0;
}

// Cause: d_edge.c:63 the server stops reading as soon as it has one line; with EPOLLET what is left in the socket is not reported again
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *requests[] = {"GET a\n", "GET bb\n", "QUIT\n"};

struct conn {
    int fd;
    size_t used;
    char buf[64];
};

static int send_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno != EINTR)
            return -1;
        if (k > 0) {
            p += k;
            n -= (size_t)k;
        }
    }
    return 0;
}

static void *client(void *arg)
{
    int fd = *(int *)arg, replies = 0;
    char c;
    for (int i = 0; i < 3; i++)
        send_all(fd, requests[i], strlen(requests[i]));
    while (replies < 3) {
        ssize_t k = read(fd, &c, 1);
        if (k == 0 || (k < 0 && errno != EINTR))
            break;
        replies += k == 1 && c == '\n';
    }
    return NULL;
}

static void fill(struct conn *c)
{
    for (;;) {
        ssize_t n = read(c->fd, c->buf + c->used, c->used + 8 < sizeof c->buf ? 8 : sizeof c->buf - c->used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        c->used += (size_t)n;
#ifndef FIXED
        if (memchr(c->buf, '\n', c->used))
            return;
#endif
    }
}

static int answer(struct conn *c) // true after QUIT
{
    int quit = 0;
    for (char *nl; (nl = memchr(c->buf, '\n', c->used));) {
        size_t n = (size_t)(nl - c->buf) + 1;
        quit |= c->buf[0] == 'Q';
        send_all(c->fd, "OK\n", 3);
        memmove(c->buf, c->buf + n, c->used - n);
        c->used -= n;
    }
    return quit;
}

int main(void)
{
    int sv[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) != 0)
        return 1;
    fcntl(sv[0], F_SETFL, O_NONBLOCK);
    struct conn c = {.fd = sv[0]};
    int ep = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.ptr = &c};
    epoll_ctl(ep, EPOLL_CTL_ADD, sv[0], &e);
    pthread_t t;
    pthread_create(&t, NULL, client, &sv[1]);
    for (int quit = 0; !quit;)
        if (epoll_wait(ep, &e, 1, -1) == 1) {
            fill(e.data.ptr);
            quit = answer(e.data.ptr);
        }
    pthread_join(t, NULL);
    puts("served");
    return 0;
}

// Cause: d_oneshot.c:41 serve() returns for an incomplete request without arming EPOLLONESHOT again: the rest of the request wakes no worker
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define SIZE 6
#define REQUESTS 2

struct conn {
    int fd, have, served;
    char buf[SIZE];
};

static int ep;
static struct conn conn;

static void rearm(struct conn *c)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = c};
    epoll_ctl(ep, EPOLL_CTL_MOD, c->fd, &e);
}

static void serve(struct conn *c) // true: the connection has ended
{
    while (c->have < SIZE) {
        ssize_t n = read(c->fd, c->buf + c->have, (size_t)(SIZE - c->have));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
#ifdef FIXED
            if (n < 0)
                rearm(c);
#endif
            return;
        }
        c->have += (int)n;
    }
    c->have = 0;
    c->served++;
    while (write(c->fd, "!", 1) < 0 && errno == EINTR)
        ;
    if (c->served < REQUESTS)
        rearm(c);
}

static void *worker(void *arg)
{
    for (;;) {
        struct epoll_event e;
        int n = epoll_wait(ep, &e, 1, -1);
        if (n == 1) {
            if (!e.data.ptr)
                return arg;
            serve(e.data.ptr);
        }
    }
}

static void *client(void *arg)
{
    int fd = *(int *)arg;
    for (int i = 0; i < REQUESTS; i++) {
        char c;
        const char *p = "HEADER";
        for (ssize_t left = 6, k; left; left -= k, p += k)
            if ((k = write(fd, p, left > 4 ? 4 : (size_t)left)) < 0)
                k = 0;
        while (read(fd, &c, 1) < 0 && errno == EINTR)
            ;
    }
    return NULL;
}

int main(void)
{
    int sv[2], stop[2];
    pthread_t w[2], t;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv) || pipe(stop))
        return 1;
    fcntl(sv[0], F_SETFL, O_NONBLOCK);
    ep = epoll_create1(0);
    conn.fd = sv[0];
    struct epoll_event e = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = &conn};
    epoll_ctl(ep, EPOLL_CTL_ADD, sv[0], &e);
    e = (struct epoll_event){.events = EPOLLIN};
    epoll_ctl(ep, EPOLL_CTL_ADD, stop[0], &e);
    for (int i = 0; i < 2; i++)
        pthread_create(&w[i], NULL, worker, NULL);
    pthread_create(&t, NULL, client, &sv[1]);
    pthread_join(t, NULL);
    if (write(stop[1], "x", 1) != 1)
        return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(w[i], NULL);
    printf("served %d\n", conn.served);
    return 0;
}

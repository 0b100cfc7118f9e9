// Cause: s5_accept.c:57 the listener is edge-triggered and the loop accepts one connection per event: of two connections that arrive before the loop looks, the second stays in the backlog without another edge, and its client waits forever for an answer.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS 3

static struct sockaddr_in address;

static void *client(void *arg)
{
    unsigned number = (unsigned)(size_t)arg;
    char byte = (char)('a' + number);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    usleep(100 + 600 * number); /* looks up the name */
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        struct pollfd ready = {.fd = fd, .events = POLLOUT};
        if (errno != EINTR)
            return "connect";
        while (poll(&ready, 1, -1) < 1)
            continue;
    }
    while (send(fd, &byte, 1, MSG_NOSIGNAL) < 0 && errno == EINTR)
        continue;
    while (recv(fd, &byte, 1, 0) < 0 && errno == EINTR)
        continue;
    close(fd);
    return byte == (char)('A' + number) ? NULL : "answer";
}

static void watch(int epoll, int fd, unsigned events)
{
    struct epoll_event event = {.events = events, .data.fd = fd};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static void on_connection(int epoll, int listener)
{
#ifdef FIXED
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
            watch(epoll, fd, EPOLLIN);
        else if (errno != EINTR && errno != ECONNABORTED)
            return;
    }
#else
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0)
        watch(epoll, fd, EPOLLIN);
#endif
}

static int on_request(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, 0);
    if (n < 0)
        return 0; /* EAGAIN, EINTR: level-triggered, it comes again */
    if (n == 1) {
        byte = (char)(byte - 'a' + 'A');
        while (send(fd, &byte, 1, MSG_NOSIGNAL) < 0 && errno == EINTR)
            continue;
    }
    close(fd);
    return 1;
}

int main(void)
{
    pthread_t threads[CLIENTS];
    socklen_t size = sizeof address;
    int served = 0, wrong = 0, epoll = epoll_create1(EPOLL_CLOEXEC);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 16) < 0)
        return 1;
    getsockname(listener, (struct sockaddr *)&address, &size);
    watch(epoll, listener, EPOLLIN | EPOLLET);
    for (size_t i = 0; i < CLIENTS; i++)
        pthread_create(&threads[i], NULL, client, (void *)i);
    while (served < CLIENTS) {
        struct epoll_event events[8];
        int n = epoll_wait(epoll, events, 8, -1);
        for (int i = 0; i < n; i++) {
            if (events[i].data.fd == listener)
                on_connection(epoll, listener);
            else
                served += on_request(events[i].data.fd);
        }
    }
    for (int i = 0; i < CLIENTS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        wrong += result != NULL;
    }
    printf("served %d, wrong %d\n", served, wrong);
    return wrong;
}

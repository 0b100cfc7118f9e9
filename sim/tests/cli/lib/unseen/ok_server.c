// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* An echo server with a timer that counts idle seconds and closes connections that say nothing. It
 * runs until it is killed: without clients it only ticks. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define CLIENTS_MAX 16
#define IDLE_MAX 30

struct client {
    int fd; /* 0: this place is free. */
    int idle;
};

static struct client clients[CLIENTS_MAX];
static int epoll;

static void watch(int fd, uint64_t data)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = data};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        abort();
}

static void drop(struct client *client)
{
    close(client->fd);
    client->fd = 0;
}

static void on_connection(int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    for (uint64_t i = 0; i < CLIENTS_MAX; i++) {
        if (clients[i].fd == 0) {
            clients[i] = (struct client){.fd = fd};
            watch(fd, 2 + i);
            return;
        }
    }
    close(fd);
}

static void on_client(struct client *client)
{
    char data[256];
    if (client->fd == 0)
        return;
    ssize_t n = recv(client->fd, data, sizeof data, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        drop(client);
        return;
    }
    client->idle = 0;
    for (ssize_t sent = 0; sent < n;) {
        ssize_t part = send(client->fd, data + sent, (size_t)(n - sent), MSG_NOSIGNAL);
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0) {
            drop(client);
            return;
        }
        sent += part;
    }
}

static void on_tick(int timer)
{
    uint64_t ticks;
    if (read(timer, &ticks, sizeof ticks) != (ssize_t)sizeof ticks)
        return;
    for (int i = 0; i < CLIENTS_MAX; i++) {
        if (clients[i].fd != 0 && (clients[i].idle += (int)ticks) > IDLE_MAX)
            drop(&clients[i]);
    }
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(8077),
            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct itimerspec second = {.it_interval.tv_sec = 1, .it_value.tv_sec = 1};
    int one = 1;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    epoll = epoll_create1(0);
    if (listener < 0 || timer < 0 || epoll < 0 ||
            setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
            bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
            listen(listener, 8) != 0 || timerfd_settime(timer, 0, &second, NULL) != 0)
        return 1;
    watch(listener, 0);
    watch(timer, 1);
    for (;;) {
        struct epoll_event events[8];
        int count = epoll_wait(epoll, events, 8, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.u64 == 0)
                on_connection(listener);
            else if (events[i].data.u64 == 1)
                on_tick(timer);
            else
                on_client(&clients[events[i].data.u64 - 2]);
        }
    }
}

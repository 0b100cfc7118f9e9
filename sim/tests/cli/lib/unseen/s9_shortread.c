// Cause: on_readable() takes a read that is shorter than its buffer for "drained" and returns. When the client's close
// was there already with the data, the edge for it is used up (EPOLLET), and the end of the connection is never read.
// It must read on until 0 or EAGAIN.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* A server with edge-triggered epoll: it counts the bytes of each connection until the client ends
 * it. Clients send a small report and close. */
#define _GNU_SOURCE
#include <arpa/inet.h>
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

#define CLIENTS 2

struct connection {
    int fd;
    size_t received;
};

static uint16_t port;
static int finished;

static void *
client(void *argument)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
            .sin_port = port,
            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
        (void)!write(fd, "temperature 21.5\n", 17);
    }
    close(fd);
    return argument;
}

static void
connection_end(struct connection *connection)
{
    close(connection->fd);
    free(connection);
    finished++;
}

static void
on_readable(struct connection *connection)
{
    char bytes[256];
    for (;;) {
        ssize_t size = read(connection->fd, bytes, sizeof(bytes));
        if (size == 0 || (size < 0 && errno != EAGAIN)) {
            connection_end(connection);
            return;
        }
        if (size < 0) {
            return;
        }
        connection->received += (size_t)size;
#ifndef FIXED
        if ((size_t)size < sizeof(bytes)) {
            return;
        }
#endif
    }
}

static void
on_accept(int epoll, int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (fd < 0) {
        return;
    }
    struct connection *connection = calloc(1, sizeof(*connection));
    connection->fd = fd;
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = connection};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

int
main(void)
{
    pthread_t clients[CLIENTS];
    struct sockaddr_in address = {.sin_family = AF_INET,
            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
            listen(listener, 8) != 0 ||
            getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        return 1;
    }
    port = address.sin_port;
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    for (int i = 0; i < CLIENTS; i++) {
        pthread_create(&clients[i], NULL, client, NULL);
    }
    while (finished < CLIENTS) {
        struct epoll_event events[4];
        int count = epoll_wait(epoll, events, 4, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == NULL) {
                on_accept(epoll, listener);
            } else {
                on_readable(events[i].data.ptr);
            }
        }
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i], NULL);
    }
    close(epoll);
    close(listener);
    printf("%d reports\n", finished);
    return 0;
}

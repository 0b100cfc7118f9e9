/*
 * peer.h -- what the compared servers share: arguments, answer, listener.
 *
 *      SERVER PORT echo|http|timeouts
 *
 * echo: each byte goes back. http: each request (an empty line ends it) gets one fixed response.
 * timeouts: as echo, and each arrival starts a timer of its connection again. A server runs until
 * it is killed. Written to be what a user of the library writes, and no shorter: reads of 4 KiB, an
 * answer that does not fit is finished when there is space.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_BENCH_HOST_PEER_H
#define RT_TESTS_BENCH_HOST_PEER_H

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PEER_BUFFER 4096
#define PEER_BACKLOG 4096
#define PEER_TIMEOUT_MS 10000
#define PEER_RESPONSE "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

struct peer {
    unsigned short port;
    bool http;
    bool timeouts;
};

static inline struct peer
peer_arguments(int argc, char **argv)
{
    if (argc != 3) {
        (void)fprintf(stderr, "usage: %s PORT echo|http|timeouts\n", argv[0]);
        exit(2);
    }
    (void)signal(SIGPIPE, SIG_IGN);
    struct peer peer = {(unsigned short)atoi(argv[1]), strcmp(argv[2], "http") == 0,
            strcmp(argv[2], "timeouts") == 0};
    return peer;
}

static inline struct sockaddr_in
peer_address(const struct peer *peer)
{
    struct sockaddr_in address;
    memset(&address, 0, sizeof(address));
    address.sin_family = AF_INET;
    address.sin_port = htons(peer->port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/* A nonblocking listener. */
static inline int
peer_listen(const struct peer *peer)
{
    int one = 1;
    struct sockaddr_in address = peer_address(peer);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
            listen(fd, PEER_BACKLOG) != 0) {
        perror("listen");
        exit(1);
    }
    return fd;
}

static inline void
peer_no_delay(int fd)
{
    int one = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* Replaces the `size` bytes in `buffer` (PEER_BUFFER) by the answer to them; returns its size. A
 * request is never cut in two here: the client waits for each answer. */
static inline size_t
peer_answer(const struct peer *peer, char *buffer, size_t size)
{
    size_t length = 0;
    if (!peer->http) {
        return size;
    }
    for (size_t i = 3; i < size; i++) {
        length += memcmp(buffer + i - 3, "\r\n\r\n", 4) == 0 ? sizeof(PEER_RESPONSE) - 1 : 0;
    }
    for (size_t at = 0; at < length; at += sizeof(PEER_RESPONSE) - 1) {
        memcpy(buffer + at, PEER_RESPONSE, sizeof(PEER_RESPONSE) - 1);
    }
    return length;
}

#endif

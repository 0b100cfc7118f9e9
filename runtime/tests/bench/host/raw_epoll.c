/*
 * raw_epoll.c -- the limit: what epoll itself costs, without any library and without a timer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include <errno.h>
#include <sys/epoll.h>

#include "runtime/tests/bench/host/peer.h"

#define BATCH 256

/* Only while an answer waits for space. */
struct rest {
    size_t from;
    size_t size;
    char bytes[PEER_BUFFER];
};

static struct rest *rests[1 << 16]; /* By descriptor. */
static int epoll;

static void
drop(int fd)
{
    free(rests[fd]);
    rests[fd] = NULL;
    (void)close(fd);
}

static void
accept_all(int listener)
{
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            return;
        }
        peer_no_delay(fd);
        struct epoll_event event = {
                .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {.fd = fd}};
        (void)epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    }
}

/* False: it has to wait for space. */
static bool
send_all(int fd, const char *bytes, size_t size)
{
    ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
    if (sent == (ssize_t)size) {
        return true;
    }
    rests[fd] = malloc(sizeof(struct rest));
    if (rests[fd] == NULL) {
        abort();
    }
    rests[fd]->from = 0;
    rests[fd]->size = size - (sent > 0 ? (size_t)sent : 0);
    memcpy(rests[fd]->bytes, bytes + (size - rests[fd]->size), rests[fd]->size);
    return false;
}

static bool
send_rest(int fd)
{
    struct rest *rest = rests[fd];
    if (rest == NULL) {
        return true;
    }
    ssize_t sent = send(fd, rest->bytes + rest->from, rest->size, MSG_NOSIGNAL);
    rest->from += sent > 0 ? (size_t)sent : 0;
    rest->size -= sent > 0 ? (size_t)sent : 0;
    if (rest->size == 0) {
        free(rest);
        rests[fd] = NULL;
    }
    return rests[fd] == NULL;
}

static void
serve(const struct peer *peer, int fd)
{
    char buffer[PEER_BUFFER];
    while (send_rest(fd)) {
        ssize_t size = recv(fd, buffer, sizeof(buffer), 0);
        if (size == 0 || (size < 0 && errno != EAGAIN)) {
            drop(fd);
            return;
        }
        if (size < 0 || !send_all(fd, buffer, peer_answer(peer, buffer, (size_t)size)) ||
                size < (ssize_t)sizeof(buffer)) {
            return; /* A short read has emptied the socket. */
        }
    }
}

int
main(int argc, char **argv)
{
    struct peer peer = peer_arguments(argc, argv);
    int listener = peer_listen(&peer);
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = listener}};
    epoll = epoll_create1(EPOLL_CLOEXEC);
    (void)epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        struct epoll_event events[BATCH];
        int count = epoll_wait(epoll, events, BATCH, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == listener) {
                accept_all(listener);
            } else {
                serve(&peer, events[i].data.fd);
            }
        }
    }
}

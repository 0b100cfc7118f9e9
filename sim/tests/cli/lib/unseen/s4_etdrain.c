// Cause: s4_etdrain.c:46 a connection whose budget is used up is left with unread data although its registration is edge-triggered, so that what is left is not read until more arrives, which never comes as the client waits for the answer.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* Each event may use a budget of reads, so that one busy client does not hold up the other. */

enum { CLIENTS = 2, BATCHES = 3, RECORD = 32, BATCH = 4 * RECORD, BUDGET = 2 };

struct connection {
    int fd;
    size_t received;
    bool more, closed;
};

static struct connection connections[CLIENTS];

static void serve(struct connection *c)
{
    char record[RECORD];
    for (int reads = 0; reads < BUDGET; reads++) {
        size_t rest = RECORD - c->received % RECORD;
        ssize_t got = recv(c->fd, record, rest, MSG_DONTWAIT);
        if (got == 0) {
            c->closed = true;
            close(c->fd);
        }
        if (got <= 0) {
            c->more = false;
            return;
        }
        c->received += (size_t)got;
        if (c->received % BATCH == 0 && send(c->fd, "+", 1, MSG_NOSIGNAL) != 1)
            assert(!"answer");
    }
#ifdef FIXED
    c->more = true;
#else
    c->more = false;
#endif
}

static void *client(void *argument)
{
    int fd = *(int *)argument;
    char record[RECORD], answer;
    memset(record, 'r', sizeof record);
    for (int i = 0; i < BATCHES; i++) {
        for (size_t sent = 0; sent < BATCH;) {
            size_t rest = RECORD - sent % RECORD;
            ssize_t now = send(fd, record, rest, MSG_NOSIGNAL);
            assert(now > 0);
            sent += (size_t)now;
            usleep(300);
        }
        ssize_t got = recv(fd, &answer, 1, 0);
        assert(got == 1);
    }
    close(fd);
    return NULL;
}

int main(void)
{
    int ends[CLIENTS], epoll = epoll_create1(EPOLL_CLOEXEC);
    pthread_t threads[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        int pair[2], result = socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
        assert(result == 0);
        connections[i].fd = pair[0];
        ends[i] = pair[1];
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = &connections[i]};
        result = epoll_ctl(epoll, EPOLL_CTL_ADD, pair[0], &event);
        assert(result == 0);
        pthread_create(&threads[i], NULL, client, &ends[i]);
    }
    for (;;) {
        bool more = false, closed = true;
        for (int i = 0; i < CLIENTS; i++) {
            more |= connections[i].more;
            closed &= connections[i].closed;
        }
        if (closed)
            break;
        struct epoll_event events[CLIENTS];
        int count = epoll_wait(epoll, events, CLIENTS, more ? 0 : -1);
        for (int i = 0; i < count; i++)
            ((struct connection *)events[i].data.ptr)->more = true;
        for (int i = 0; i < CLIENTS; i++)
            if (connections[i].more && !connections[i].closed)
                serve(&connections[i]);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        assert(connections[i].received == BATCHES * BATCH);
    }
    return 0;
}

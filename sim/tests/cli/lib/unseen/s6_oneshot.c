// Cause: s6_oneshot.c:96 the connection is armed again while it is still marked busy: the other thread can fetch its next event before the mark is gone, leaves it to the busy one, and the one-shot registration stays disabled.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define THREADS 2
#define CONNECTIONS 3
#define BYTES 12

struct connection {
    int fd;
    int peer;
    pthread_mutex_t mutex;
    bool busy; /* A thread serves it. */
    int got;
};

static struct connection connections[CONNECTIONS];
static atomic_int complete;
static int epoll, stop;

static void arm(struct connection *connection, int operation)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = connection};
    if (epoll_ctl(epoll, operation, connection->fd, &event) != 0)
        abort();
}

/* False: another thread serves it. */
static bool enter(struct connection *connection)
{
    pthread_mutex_lock(&connection->mutex);
    bool entered = !connection->busy;
    connection->busy = true;
    pthread_mutex_unlock(&connection->mutex);
    return entered;
}

static void leave(struct connection *connection)
{
    pthread_mutex_lock(&connection->mutex);
    connection->busy = false;
    pthread_mutex_unlock(&connection->mutex);
}

/* Takes what has come; returns whether the connection is complete. */
static int serve(struct connection *connection)
{
    char buffer[4];
    for (;;) {
        ssize_t n = read(connection->fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        connection->got += (int)n;
        if (connection->got == BYTES)
            return 1;
    }
}

static void *thread_main(void *argument)
{
    for (;;) {
        struct epoll_event event;
        if (epoll_wait(epoll, &event, 1, -1) != 1)
            continue;
        struct connection *connection = event.data.ptr;
        if (connection == NULL)
            return argument;
        if (!enter(connection))
            continue;
        if (serve(connection)) {
            if (atomic_fetch_add(&complete, 1) + 1 == CONNECTIONS) {
                uint64_t one = 1;
                while (write(stop, &one, sizeof one) < 0 && errno == EINTR)
                    ;
            }
            continue;
        }
#ifdef FIXED
        leave(connection);
        arm(connection, EPOLL_CTL_MOD);
#else
        arm(connection, EPOLL_CTL_MOD);
        leave(connection);
#endif
    }
}

static void *peer_main(void *argument)
{
    (void)argument;
    for (int i = 0; i < BYTES; i++) {
        for (int j = 0; j < CONNECTIONS; j++) {
            while (write(connections[j].peer, "x", 1) < 0 && errno == EINTR)
                ;
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS + 1];
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    epoll = epoll_create1(0);
    stop = eventfd(0, 0);
    if (epoll < 0 || stop < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, stop, &event) != 0)
        return 1;
    for (int i = 0; i < CONNECTIONS; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
            return 1;
        pthread_mutex_init(&connections[i].mutex, NULL);
        connections[i].fd = pair[0];
        connections[i].peer = pair[1];
        fcntl(pair[0], F_SETFL, O_NONBLOCK);
        arm(&connections[i], EPOLL_CTL_ADD);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread_main, NULL);
    pthread_create(&threads[THREADS], NULL, peer_main, NULL);
    for (int i = 0; i <= THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d complete\n", atomic_load(&complete));
    return 0;
}

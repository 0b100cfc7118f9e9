// Cause: d3_oneshot.c:55 the connection is armed again before it is unlocked; another worker gets the one event, finds it busy, and drops it
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS 2
#define MESSAGES 4

struct connection {
    int fd;
    pthread_mutex_t busy;
    size_t got;
};

static int epoll_fd, stop_fd;
static atomic_int open_connections = CONNECTIONS;

static void arm(struct connection *c, int operation)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = c};
    epoll_ctl(epoll_fd, operation, c->fd, &event);
}

static void *worker(void *argument)
{
    for (;;) {
        struct epoll_event event;
        if (epoll_wait(epoll_fd, &event, 1, -1) != 1)
            continue;
        if (!event.data.ptr) // stop_fd stays readable: all workers end
            return argument;
        struct connection *c = event.data.ptr;
        if (pthread_mutex_trylock(&c->busy) != 0)
            continue; // another worker is at it, and reads all there is
        char bytes[64];
        ssize_t n;
        while ((n = recv(c->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
            c->got += (size_t)n;
        if (n == 0) {
            pthread_mutex_unlock(&c->busy);
            if (--open_connections == 0)
                eventfd_write(stop_fd, 1);
            continue;
        }
#ifdef FIXED
        pthread_mutex_unlock(&c->busy);
        arm(c, EPOLL_CTL_MOD);
#else
        arm(c, EPOLL_CTL_MOD);
        pthread_mutex_unlock(&c->busy);
#endif
    }
}

int main(void)
{
    static struct connection connections[CONNECTIONS];
    pthread_t workers[2];
    int clients[CONNECTIONS];
    epoll_fd = epoll_create1(0);
    stop_fd = eventfd(0, 0);
    struct epoll_event stop = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, stop_fd, &stop);
    for (int i = 0; i < CONNECTIONS; i++) {
        int pair[2];
        assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        connections[i].fd = pair[0];
        clients[i] = pair[1];
        pthread_mutex_init(&connections[i].busy, NULL);
        arm(&connections[i], EPOLL_CTL_ADD);
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    for (int m = 0; m < MESSAGES; m++)
        for (int i = 0; i < CONNECTIONS; i++)
            assert(write(clients[i], "hello", 5) == 5);
    for (int i = 0; i < CONNECTIONS; i++)
        shutdown(clients[i], SHUT_WR);
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    for (int i = 0; i < CONNECTIONS; i++)
        assert(connections[i].got == 5 * MESSAGES);
    return 0;
}

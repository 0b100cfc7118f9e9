// Cause: s6_registry.c:91 the server takes `changed` back in a critical section of its own, after the one that copies the table: a client that is added between the two is in no copy, and the byte in the pipe wakes a server that sees nothing changed.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int table[CLIENTS]; /* Descriptors to serve. */
static int table_size;
static bool changed; /* Since it was copied last. */
static int wake_pipe[2];

static void put(int fd, char byte)
{
    while (write(fd, &byte, 1) < 0 && errno == EINTR)
        ;
}

static int get(int fd, char *byte)
{
    ssize_t n;
    do
        n = read(fd, byte, 1);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

static void *client(void *argument)
{
    int pair[2];
    char reply = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        abort();
    pthread_mutex_lock(&mutex);
    table[table_size++] = pair[0];
    changed = true;
    pthread_mutex_unlock(&mutex);
    put(wake_pipe[1], 'w');
    put(pair[1], 'q');
    if (!get(pair[1], &reply) || reply != 'a')
        abort();
    close(pair[1]);
    return argument;
}

static nfds_t copy_table(struct pollfd *fds, const int *served)
{
    nfds_t count = 1;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < table_size; i++) {
        fds[count].fd = served[i] ? -1 : table[i];
        fds[count].events = POLLIN;
        fds[count++].revents = 0;
    }
#ifdef FIXED
    changed = false;
#endif
    pthread_mutex_unlock(&mutex);
    return count;
}

static bool has_changed(void)
{
    pthread_mutex_lock(&mutex);
    bool answer = changed;
    pthread_mutex_unlock(&mutex);
    return answer;
}

static void *server(void *argument)
{
    struct pollfd fds[1 + CLIENTS] = {{.fd = wake_pipe[0], .events = POLLIN}};
    int served[CLIENTS] = {0};
    nfds_t count = 1;
    int done = 0;
    while (done < CLIENTS) {
        if (has_changed()) {
            count = copy_table(fds, served);
#ifndef FIXED
            pthread_mutex_lock(&mutex);
            changed = false;
            pthread_mutex_unlock(&mutex);
#endif
        }
        if (poll(fds, count, -1) < 0)
            continue;
        if (fds[0].revents & POLLIN) {
            char bytes[16];
            while (read(wake_pipe[0], bytes, sizeof bytes) > 0)
                ;
        }
        for (nfds_t i = 1; i < count; i++) {
            char request;
            if ((fds[i].revents & POLLIN) && get(fds[i].fd, &request)) {
                put(fds[i].fd, 'a');
                close(fds[i].fd);
                fds[i].fd = -1;
                served[i - 1] = 1;
                done++;
            }
        }
    }
    return argument;
}

int main(void)
{
    pthread_t threads[CLIENTS + 1];
    if (pipe(wake_pipe) != 0 || fcntl(wake_pipe[0], F_SETFL, O_NONBLOCK) != 0)
        return 1;
    pthread_create(&threads[CLIENTS], NULL, server, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&threads[i], NULL, client, NULL);
    for (int i = 0; i <= CLIENTS; i++)
        pthread_join(threads[i], NULL);
    puts("all served");
    return 0;
}

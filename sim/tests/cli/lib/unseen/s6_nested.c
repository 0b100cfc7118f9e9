// Cause: s6_nested.c:69 lookup() waits in a loop of its own and empties the wake pipe there, but takes only its answer out of the queue; the outer loop then polls a pipe that is empty while messages are still queued.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ORDERS 3
#define QUEUE 16

enum kind { ORDER, ANSWER };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static enum kind queue[QUEUE];
static int queued;
static int wake_pipe[2];
static int question[2];
static int control[2];

static void put(int fd)
{
    while (write(fd, "x", 1) < 0 && errno == EINTR)
        ;
}

static void post(enum kind kind)
{
    pthread_mutex_lock(&mutex);
    queue[queued++] = kind;
    pthread_mutex_unlock(&mutex);
    put(wake_pipe[1]);
}

/* Takes the oldest message of this kind. */
static int take(enum kind kind)
{
    int found = 0;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < queued && !found; i++) {
        if (queue[i] == kind) {
            memmove(&queue[i], &queue[i + 1], (size_t)(queued - i - 1) * sizeof queue[0]);
            queued--;
            found = 1;
        }
    }
    pthread_mutex_unlock(&mutex);
    return found;
}

static void drain(void)
{
    char bytes[QUEUE];
    while (read(wake_pipe[0], bytes, sizeof bytes) > 0)
        ;
}

static void lookup(void)
{
    struct pollfd fd = {.fd = wake_pipe[0], .events = POLLIN};
    put(question[1]);
    while (!take(ANSWER)) {
        if (poll(&fd, 1, -1) > 0)
            drain();
    }
}

static void *directory(void *argument)
{
    char byte;
    for (int i = 0; i < ORDERS; i++) {
        while (read(question[0], &byte, 1) != 1)
            ;
        usleep(200);
        post(ANSWER);
    }
    return argument;
}

static void *customer(void *argument)
{
    for (int i = 0; i < ORDERS; i++) {
        post(ORDER);
        usleep(150);
    }
    put(control[1]);
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    if (pipe(wake_pipe) != 0 || pipe(question) != 0 || pipe(control) != 0 ||
            fcntl(wake_pipe[0], F_SETFL, O_NONBLOCK) != 0)
        return 1;
    struct pollfd fds[2] = {{.fd = wake_pipe[0], .events = POLLIN},
            {.fd = control[0], .events = POLLIN}};
    pthread_create(&threads[0], NULL, directory, NULL);
    pthread_create(&threads[1], NULL, customer, NULL);
    int done = 0;
    int closed = 0;
    while (done < ORDERS || !closed) {
        if (poll(fds, 2, -1) < 0)
            continue;
        if (fds[1].revents & POLLIN) {
            closed = 1;
            fds[1].fd = -1;
        }
        if (fds[0].revents & POLLIN) {
            drain();
#ifdef FIXED
            while (take(ORDER)) {
                lookup();
                done++;
            }
#else
            if (take(ORDER)) {
                lookup();
                done++;
            }
#endif
        }
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%d orders\n", done);
    return 0;
}

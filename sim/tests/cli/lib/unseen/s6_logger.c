// Cause: s6_logger.c:70 the read has reset the counter of the eventfd, and the logger writes at most two records for it; what is left in the ring has no event any more, and stays there until the next record comes, after the last one forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WRITERS 3
#define RECORDS 6 /* Of each. */
#define AT_ONCE 2

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ring[WRITERS * RECORDS];
static int head, tail;
static int event;
static int control[2];

static void post(void)
{
    uint64_t one = 1;
    while (write(event, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

static void *writer(void *argument)
{
    int number = (int)(intptr_t)argument;
    for (int i = 0; i < RECORDS; i++) {
        pthread_mutex_lock(&mutex);
        ring[tail++] = number * 100 + i;
        pthread_mutex_unlock(&mutex);
        post();
        usleep(100);
    }
    return NULL;
}

/* Writes some records; returns how many are left. */
static int write_some(int *sum)
{
    int left;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < AT_ONCE && head < tail; i++)
        *sum += ring[head++];
    left = tail - head;
    pthread_mutex_unlock(&mutex);
    return left;
}

static void *logger(void *argument)
{
    int sum = 0;
    int quit = 0;
    int written = 0;
    struct pollfd fds[2] = {{.fd = event, .events = POLLIN}, {.fd = control[0], .events = POLLIN}};
    while (!quit || written < WRITERS * RECORDS) {
        if (poll(fds, 2, -1) < 0)
            continue;
        if (fds[0].revents & POLLIN) {
            uint64_t count;
            if (read(event, &count, sizeof count) < 0)
                continue;
            int left = write_some(&sum);
            (void)left;
#ifdef FIXED
            if (left > 0)
                post();
#endif
            pthread_mutex_lock(&mutex);
            written = head;
            pthread_mutex_unlock(&mutex);
        }
        if (fds[1].revents & POLLIN) {
            char order;
            if (read(control[0], &order, 1) == 1) {
                quit = 1;
                fds[1].fd = -1;
                fds[1].revents = 0;
            }
        }
    }
    printf("sum %d\n", sum);
    return argument;
}

int main(void)
{
    pthread_t threads[WRITERS + 1];
    event = eventfd(0, EFD_NONBLOCK);
    if (event < 0 || pipe(control) != 0 || fcntl(control[0], F_SETFL, O_NONBLOCK) != 0)
        return 1;
    pthread_create(&threads[WRITERS], NULL, logger, NULL);
    for (intptr_t i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, writer, (void *)i);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    while (write(control[1], "q", 1) < 0 && errno == EINTR)
        ;
    pthread_join(threads[WRITERS], NULL);
    return 0;
}

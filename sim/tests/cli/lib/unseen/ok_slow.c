// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* A loop with one-shot registrations that hands each report to a slow worker, which arms the
 * descriptor again only after it has read all that was there; meanwhile more arrives unreported. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define FEEDS 3
#define BYTES 6
#define PLACES 8

struct feed {
    int pipe[2];
    int got;
};

static struct feed feeds[FEEDS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static struct feed *queue[PLACES];
static unsigned head, tail;
static int epoll, ended;

static void arm(struct feed *feed, int operation)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = feed};
    if (epoll_ctl(epoll, operation, feed->pipe[0], &event) != 0)
        abort();
}

static void *worker(void *argument)
{
    for (int complete = 0; complete < FEEDS;) {
        pthread_mutex_lock(&mutex);
        while (head == tail)
            pthread_cond_wait(&filled, &mutex);
        struct feed *feed = queue[head++ % PLACES];
        pthread_mutex_unlock(&mutex);
        usleep(5000);
        char data[BYTES];
        ssize_t n = read(feed->pipe[0], data, sizeof data);
        if (n > 0)
            feed->got += (int)n;
        if (feed->got == BYTES)
            complete++;
        else
            arm(feed, EPOLL_CTL_MOD);
    }
    uint64_t one = 1;
    while (write(ended, &one, sizeof one) < 0 && errno == EINTR)
        ;
    return argument;
}

static void *source(void *argument)
{
    struct feed *feed = argument;
    for (int i = 0; i < BYTES; i++) {
        usleep(1000);
        while (write(feed->pipe[1], "x", 1) < 0 && errno == EINTR)
            ;
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[FEEDS + 1];
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    epoll = epoll_create1(0);
    ended = eventfd(0, 0);
    if (epoll < 0 || ended < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, ended, &event) != 0)
        return 1;
    for (int i = 0; i < FEEDS; i++) {
        if (pipe2(feeds[i].pipe, O_NONBLOCK) != 0)
            return 1;
        arm(&feeds[i], EPOLL_CTL_ADD);
        pthread_create(&threads[i], NULL, source, &feeds[i]);
    }
    pthread_create(&threads[FEEDS], NULL, worker, NULL);
    for (int running = 1; running;) {
        struct epoll_event events[4];
        int count = epoll_wait(epoll, events, 4, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == NULL) {
                running = 0;
                continue;
            }
            pthread_mutex_lock(&mutex);
            queue[tail++ % PLACES] = events[i].data.ptr;
            pthread_cond_signal(&filled);
            pthread_mutex_unlock(&mutex);
        }
    }
    for (int i = 0; i <= FEEDS; i++)
        pthread_join(threads[i], NULL);
    puts("all read");
    return 0;
}

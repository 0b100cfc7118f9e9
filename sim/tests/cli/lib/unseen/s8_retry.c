// Cause: schedule_retry() sets the one timerfd for the request that asked last and remembers only that request in
// `scheduled`. When the second request is scheduled before the timer of the first has run out, it overwrites both, so
// main()'s loop sends the second one again and never the first one.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define REQUESTS 2

struct request {
    int number;
    int waits; /* For its retry. */
    int done;
};

static struct request requests[REQUESTS];
static int timer;
static int failures; /* eventfd: numbers of requests that have failed, one at a time */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int failed[REQUESTS];
static int failed_count;
#ifndef FIXED
static struct request *scheduled;
#endif

static void schedule_retry(struct request *request)
{
    struct itimerspec in = {.it_value = {0, 3000000}};
    request->waits = 1;
#ifndef FIXED
    scheduled = request;
#endif
    timerfd_settime(timer, 0, &in, NULL);
}

static void retry_due(void)
{
#ifdef FIXED
    for (int i = 0; i < REQUESTS; i++) {
        if (requests[i].waits) {
            requests[i].waits = 0;
            requests[i].done = 1;
        }
    }
#else
    if (scheduled != NULL) {
        scheduled->waits = 0;
        scheduled->done = 1; /* The second time it works. */
        scheduled = NULL;
    }
#endif
}

static void *network(void *argument)
{
    struct request *request = argument;
    uint64_t one = 1;
    usleep(request->number == 0 ? 1000 : 6000);
    pthread_mutex_lock(&mutex);
    failed[failed_count++] = request->number;
    pthread_mutex_unlock(&mutex);
    return write(failures, &one, sizeof(one)) == sizeof(one) ? NULL : argument;
}

static void take_failures(void)
{
    pthread_mutex_lock(&mutex);
    while (failed_count > 0)
        schedule_retry(&requests[failed[--failed_count]]);
    pthread_mutex_unlock(&mutex);
}

int main(void)
{
    pthread_t threads[REQUESTS];
    int epoll = epoll_create1(0);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    failures = eventfd(0, EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = timer};
    epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event);
    event.data.fd = failures;
    epoll_ctl(epoll, EPOLL_CTL_ADD, failures, &event);
    for (int i = 0; i < REQUESTS; i++) {
        requests[i].number = i;
        pthread_create(&threads[i], NULL, network, &requests[i]);
    }
    while (!requests[0].done || !requests[1].done) {
        uint64_t count;
        if (epoll_wait(epoll, &event, 1, -1) != 1 ||
                read(event.data.fd, &count, sizeof(count)) != sizeof(count))
            continue;
        if (event.data.fd == timer)
            retry_due();
        else
            take_failures();
    }
    for (int i = 0; i < REQUESTS; i++)
        pthread_join(threads[i], NULL);
    puts("all done");
    return 0;
}

// Cause: d_timer.c:70 the loop arms the timerfd for the next deadline it saw before the callbacks, and so undoes the arming by a timer that was added meanwhile
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define MAX 8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t heap[MAX]; // deadlines in ns, sorted
static int count, fired;
static int tfd;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void arm(uint64_t at) // 0: nothing to wait for
{
    struct itimerspec s = {.it_value = {(time_t)(at / 1000000000u), (long)(at % 1000000000u)}};
    timerfd_settime(tfd, TFD_TIMER_ABSTIME, &s, NULL);
}

static void add_timer(uint64_t at)
{
    pthread_mutex_lock(&lock);
    int i = count++;
    for (; i > 0 && heap[i - 1] > at; i--)
        heap[i] = heap[i - 1];
    heap[i] = at;
    if (i == 0)
        arm(at);
    pthread_mutex_unlock(&lock);
}

static uint64_t pop_due(uint64_t now, int *due)
{
    int n = 0;
    while (n < count && heap[n] <= now)
        n++;
    for (int i = n; i < count; i++)
        heap[i - n] = heap[i];
    count -= n;
    *due = n;
    return count ? heap[0] : 0;
}

static void expire(void)
{
    int due;
    pthread_mutex_lock(&lock);
    uint64_t next = pop_due(now_ns(), &due);
#ifdef FIXED
    arm(next);
    pthread_mutex_unlock(&lock);
    fired += due;
#else
    pthread_mutex_unlock(&lock);
    fired += due;
    arm(next);
#endif
}

static void *client(void *arg)
{
    for (int i = 1; i <= 2; i++) {
        add_timer(now_ns() + 1000000u * (unsigned)i);
        usleep(1000);
    }
    return arg;
}

int main(void)
{
    int ep = epoll_create1(EPOLL_CLOEXEC);
    tfd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    struct epoll_event e = {.events = EPOLLIN};
    epoll_ctl(ep, EPOLL_CTL_ADD, tfd, &e);
    pthread_t t;
    pthread_create(&t, NULL, client, NULL);
    while (fired < 2) {
        uint64_t ticks;
        int n = epoll_wait(ep, &e, 1, -1);
        if (n < 0 && errno != EINTR)
            return 1;
        if (n == 1 && read(tfd, &ticks, sizeof ticks) == sizeof ticks)
            expire();
    }
    pthread_join(t, NULL);
    puts("two timers fired");
    return 0;
}

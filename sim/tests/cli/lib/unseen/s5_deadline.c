// Cause: s5_deadline.c:57 arm() turns a deadline that has passed already (the tick before it took long) into a time of zero, and timerfd_settime with zero disarms the timer: the remaining ticks never come.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* One timerfd for a short list of timers, as small daemons do it. */
#define TIMERS 3
#define MS 1000000LL

struct timer {
    const char *name;
    int64_t deadline; /* 0: not set */
    int64_t period;
    unsigned work_us, left;
};

static struct timer timers[TIMERS] = {
    {.name = "flush", .deadline = 2 * MS, .period = 2 * MS, .work_us = 300, .left = 5},
    {.name = "probe", .deadline = 5 * MS, .period = 4 * MS, .work_us = 200, .left = 2},
    {.name = "stats", .deadline = 7 * MS, .period = 4 * MS, .work_us = 500, .left = 2},
};

static int64_t now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static struct timer *earliest(void)
{
    struct timer *first = NULL;
    for (int i = 0; i < TIMERS; i++) {
        struct timer *t = &timers[i];
        if (t->deadline && (!first || t->deadline < first->deadline))
            first = t;
    }
    return first;
}

static void arm(int fd, const struct timer *t)
{
    struct itimerspec spec = {0};
    int64_t delay = t->deadline - now();
#ifdef FIXED
    if (delay < 1)
        delay = 1; /* at once; 0 would be never */
#else
    if (delay < 0)
        delay = 0;
#endif
    spec.it_value.tv_sec = delay / 1000000000LL;
    spec.it_value.tv_nsec = delay % 1000000000LL;
    timerfd_settime(fd, 0, &spec, NULL);
}

static void fire(struct timer *t)
{
    usleep(t->work_us); /* the work of this timer */
    printf("%s\n", t->name);
    t->deadline = --t->left > 0 ? t->deadline + t->period : 0;
}

int main(void)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    int64_t start = now();
    struct timer *next;
    if (fd < 0)
        return 1;
    for (int i = 0; i < TIMERS; i++)
        timers[i].deadline += start;
    while ((next = earliest())) {
        uint64_t expirations;
        fd_set set;
        arm(fd, next);
        FD_ZERO(&set);
        FD_SET(fd, &set);
        if (select(fd + 1, &set, NULL, NULL, NULL) < 1)
            continue;
        if (read(fd, &expirations, sizeof expirations) < 0)
            continue;
        int64_t time = now();
        for (int i = 0; i < TIMERS; i++)
            if (timers[i].deadline && timers[i].deadline <= time)
                fire(&timers[i]);
    }
    puts("all timers have ended");
    close(fd);
    return 0;
}

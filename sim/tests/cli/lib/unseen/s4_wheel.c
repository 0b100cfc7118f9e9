// Cause: s4_wheel.c:80 the next deadline is read before the due jobs run and schedule themselves again, so that with both jobs due at once it is "none", the timer is disarmed, and neither job ever runs again.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <assert.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* Periodic jobs over one timer. */

enum { JOBS = 2, TICKS = 8 };
#define MS INT64_C(1000000)

struct job {
    int64_t due, period;
    bool queued;
    int runs;
};

static struct job jobs[JOBS];
static int timer;
static int ticks;

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 * MS + t.tv_nsec;
}

static int64_t earliest(void)
{
    int64_t due = 0;
    for (int i = 0; i < JOBS; i++)
        if (jobs[i].queued && (due == 0 || jobs[i].due < due))
            due = jobs[i].due;
    return due;
}

/* 0: no deadline. */
static void arm(int64_t due)
{
    struct itimerspec t = {.it_value = {.tv_sec = due / (1000 * MS), .tv_nsec = due % (1000 * MS)}};
    int result = timerfd_settime(timer, TFD_TIMER_ABSTIME, &t, NULL);
    assert(result == 0);
}

static void schedule(struct job *job, int64_t due)
{
    job->due = due;
    job->queued = true;
    if (earliest() == due)
        arm(due);
}

static void run(struct job *job)
{
    usleep(200);
    job->runs++;
    ticks++;
    schedule(job, job->due + job->period);
}

static void on_timer(void)
{
    struct job *batch[JOBS];
    int count = 0;
    int64_t time = now();
    for (int i = 0; i < JOBS; i++)
        if (jobs[i].queued && jobs[i].due <= time) {
            jobs[i].queued = false;
            batch[count++] = &jobs[i];
        }
#ifndef FIXED
    int64_t next = earliest();
#endif
    for (int i = 0; i < count; i++)
        run(batch[i]);
#ifdef FIXED
    int64_t next = earliest();
#endif
    arm(next);
}

int main(void)
{
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    assert(timer >= 0);
    int64_t start = now();
    for (int i = 0; i < JOBS; i++) {
        jobs[i].period = 20 * MS;
        schedule(&jobs[i], start + 10 * MS * (i + 1));
    }
    while (ticks < TICKS) {
        struct pollfd wait = {.fd = timer, .events = POLLIN};
        if (poll(&wait, 1, -1) <= 0)
            continue;
        uint64_t expirations;
        if (read(timer, &expirations, sizeof expirations) == sizeof expirations)
            on_timer();
    }
    printf("%d jobs done\n", jobs[0].runs + jobs[1].runs);
    return 0;
}

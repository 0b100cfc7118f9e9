// SPDX-License-Identifier: Apache-2.0
/* Cause: arm() line 54: where the next deadline has passed since the due jobs were taken, the time that is left
 * is 0, and a timerfd that is set to 0 is disarmed: the job never runs. Repair: at least 1 ns (FIXED). */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define JOBS 6
#define MS INT64_C(1000000)

struct job {
    int64_t due_ns;
    int number;
};

static struct job jobs[JOBS]; /* Sorted, the next one first. */
static int job_count;
static pthread_mutex_t stats_mutex = PTHREAD_MUTEX_INITIALIZER;
static int runs;
static int timer;

static int64_t
now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void
add_job(int64_t due_ns, int number)
{
    int i = job_count++;
    for (; i > 0 && jobs[i - 1].due_ns > due_ns; i--)
        jobs[i] = jobs[i - 1];
    jobs[i] = (struct job){due_ns, number};
}

/* Sets the timer to the first job. */
static void
arm(void)
{
    if (job_count == 0)
        return;
    int64_t left = jobs[0].due_ns - now_ns();
    if (left <= 0)
#ifdef FIXED
        left = 1;
#else
        left = 0;
#endif
    struct itimerspec when = {
            .it_value = {.tv_sec = left / (1000 * MS), .tv_nsec = left % (1000 * MS)}};
    if (timerfd_settime(timer, 0, &when, NULL) != 0)
        abort();
}

static void
run_job(const struct job *job)
{
    pthread_mutex_lock(&stats_mutex);
    runs++;
    printf("job %d\n", job->number);
    pthread_mutex_unlock(&stats_mutex);
}

static void
run_due(int64_t now)
{
    while (job_count > 0 && jobs[0].due_ns <= now) {
        struct job job = jobs[0];
        job_count--;
        for (int i = 0; i < job_count; i++)
            jobs[i] = jobs[i + 1];
        run_job(&job);
    }
}

/* Looks now and then, as an operator would. */
static void *
watch_main(void *argument)
{
    for (int i = 0; i < 3; i++) {
        usleep(4000);
        pthread_mutex_lock(&stats_mutex);
        printf("%s %d runs\n", (const char *)argument, runs > 0);
        pthread_mutex_unlock(&stats_mutex);
    }
    return NULL;
}

int
main(void)
{
    pthread_t watcher;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (epoll < 0 || timer < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event) != 0)
        return 1;
    int64_t begin = now_ns();
    for (int i = 0; i < JOBS; i++)
        add_job(begin + (i + 1) * 3 * MS, i);
    pthread_create(&watcher, NULL, watch_main, "seen:");
    arm();
    while (job_count > 0) {
        uint64_t expirations;
        if (epoll_wait(epoll, &event, 1, -1) != 1)
            continue;
        if (read(timer, &expirations, sizeof(expirations)) != sizeof(expirations))
            continue;
        run_due(now_ns());
        arm();
    }
    pthread_join(watcher, NULL);
    return 0;
}

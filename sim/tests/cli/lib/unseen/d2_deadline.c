// Cause: d2_deadline.c:72 notify_me is set after the time-out was computed; a timer that is added in between notifies nobody, and poll waits forever
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define TIMERS 3
#define NEVER INT64_MAX

struct loop {
    pthread_mutex_t lock;
    int64_t deadlines[TIMERS];
    int used, fired;
    atomic_bool notify_me; // the loop sleeps, or is about to
    int notifier;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t earliest(struct loop *l)
{
    int64_t first = NEVER;
    pthread_mutex_lock(&l->lock);
    for (int i = 0; i < l->used; i++)
        if (l->deadlines[i] < first)
            first = l->deadlines[i];
    pthread_mutex_unlock(&l->lock);
    return first;
}

static int compute_timeout(struct loop *l)
{
    int64_t first = earliest(l);
    int64_t now = now_ms();
    if (first == NEVER)
        return -1;
    return first > now ? (int)(first - now) : 0;
}

static void run_timers(struct loop *l)
{
    int64_t now = now_ms();
    pthread_mutex_lock(&l->lock);
    for (int i = 0; i < l->used; i++)
        if (l->deadlines[i] <= now) {
            l->deadlines[i] = NEVER;
            l->fired++;
        }
    pthread_mutex_unlock(&l->lock);
}

static void *loop_run(void *argument)
{
    struct loop *l = argument;
    while (l->fired < TIMERS) {
        struct pollfd fd = {.fd = l->notifier, .events = POLLIN};
#ifdef FIXED
        atomic_store(&l->notify_me, 1);
        int timeout = compute_timeout(l);
#else
        int timeout = compute_timeout(l);
        atomic_store(&l->notify_me, 1);
#endif
        int ready = poll(&fd, 1, timeout);
        atomic_store(&l->notify_me, 0);
        if (ready > 0) {
            eventfd_t count;
            eventfd_read(l->notifier, &count);
        }
        run_timers(l);
    }
    return NULL;
}

static void timer_add(struct loop *l, int64_t in_ms)
{
    int64_t at = now_ms() + in_ms;
    pthread_mutex_lock(&l->lock);
    l->deadlines[l->used++] = at;
    pthread_mutex_unlock(&l->lock);
    if (atomic_load(&l->notify_me))
        eventfd_write(l->notifier, 1);
}

int main(void)
{
    static struct loop loop = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t thread;
    loop.notifier = eventfd(0, EFD_NONBLOCK);
    pthread_create(&thread, NULL, loop_run, &loop);
    for (int i = 0; i < TIMERS; i++) {
        timer_add(&loop, 2);
        usleep(2000);
    }
    pthread_join(thread, NULL);
    close(loop.notifier);
    return 0;
}

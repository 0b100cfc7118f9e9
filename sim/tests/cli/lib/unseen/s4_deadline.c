// Cause: s4_deadline.c:85 the scheduler says that it polls only after it has computed its time-out and given the mutex back, so that whoever adds a deadline in between does not wake it, and it polls with the old time-out, forever if there was no deadline.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* A thread that calls functions at their deadlines. It is woken only where it polls. */

enum { SLOTS = 4, CALLS = 5 };

struct call {
    int64_t due; /* 0: empty */
    void (*function)(void);
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct call calls[SLOTS];
static atomic_bool polling, stopped;
static int wakeup;
static sem_t called;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void wake(void)
{
    uint64_t one = 1;
    if (polling && write(wakeup, &one, sizeof one) < 0)
        assert(!"eventfd");
}

static void call_after(int64_t delay, void (*function)(void))
{
    pthread_mutex_lock(&mutex);
    int i = 0;
    while (calls[i].due)
        i++;
    assert(i < SLOTS);
    calls[i] = (struct call){now_ns() + delay, function};
    pthread_mutex_unlock(&mutex);
    wake();
}

/* Calls what is due. Returns the next deadline, or 0. */
static int64_t run_due(void)
{
    int64_t next = 0, now = now_ns();
    for (int i = 0; i < SLOTS; i++) {
        if (calls[i].due && calls[i].due <= now) {
            calls[i].due = 0;
            calls[i].function();
        }
        if (calls[i].due && (!next || calls[i].due < next))
            next = calls[i].due;
    }
    return next;
}

static void *scheduler(void *argument)
{
    while (!stopped) {
        pthread_mutex_lock(&mutex);
#ifdef FIXED
        polling = true;
#endif
        int64_t next = run_due();
        pthread_mutex_unlock(&mutex);
        int64_t left = next ? next - now_ns() : -1;
        int timeout = next ? left <= 0 ? 0 : (int)((left + 999999) / 1000000) : -1;
#ifndef FIXED
        polling = true;
#endif
        struct pollfd fd = {.fd = wakeup, .events = POLLIN};
        int ready = stopped ? 0 : poll(&fd, 1, timeout);
        polling = false;
        uint64_t count;
        if (ready == 1 && read(wakeup, &count, sizeof count) < 0)
            continue;
    }
    return argument;
}

static void on_call(void)
{
    sem_post(&called);
}

int main(void)
{
    pthread_t thread;
    wakeup = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    sem_init(&called, 0, 0);
    pthread_create(&thread, NULL, scheduler, NULL);
    for (int i = 0; i < CALLS; i++) {
        usleep(500);
        call_after(1000000, on_call);
        while (sem_wait(&called) != 0) {}
    }
    stopped = true;
    uint64_t one = 1;
    if (write(wakeup, &one, sizeof one) < 0)
        assert(!"eventfd");
    pthread_join(thread, NULL);
    puts("done");
    return 0;
}

/*
 * still.c -- programs beside which timers go on: some stand still, some only work slowly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool ready;
static int bell, asks;

/* A heartbeat: looks once in a minute, and finds nothing to do. */
static void *
beats(void *unused)
{
    for (;;) {
        sleep(60);
        pthread_mutex_lock(&other);
        pthread_mutex_unlock(&other);
    }
    return unused;
}

/* ---- A lost wake-up: set without the mutex. --------------------------------------------------- */

static void *
sets(void *unused)
{
    ready = true;
    pthread_cond_signal(&changed);
    return unused;
}

static int
lost(void)
{
    pthread_t heart, thread;
    pthread_create(&heart, NULL, beats, NULL);
    pthread_create(&thread, NULL, sets, NULL);
    pthread_mutex_lock(&lock);
    while (!ready) {
        pthread_mutex_lock(&other); /* So that the signal may come here. */
        pthread_mutex_unlock(&other);
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    return pthread_join(thread, NULL);
}

/* ---- A loop with a time-out of a minute, whose doorbell nobody rings. ------------------------- */

static void *
asks_once(void *unused)
{
    if (asks++ > 0) {
        eventfd_write(bell, 1);
    }
    return unused;
}

static int
loops(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    pthread_t thread;
    int epoll = epoll_create1(0);
    bell = eventfd(0, EFD_NONBLOCK);
    epoll_ctl(epoll, EPOLL_CTL_ADD, bell, &event);
    pthread_create(&thread, NULL, asks_once, NULL);
    while (epoll_wait(epoll, &event, 1, 60000) <= 0) {
    }
    return pthread_join(thread, NULL);
}

/* ---- Work by the clock, for longer than a run may take. --------------------------------------- */

static int
ticks(void)
{
    volatile int count = 0;
    while (count < 100000) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        pthread_mutex_lock(&lock);
        pthread_cond_timedwait(&changed, &lock, &until);
        pthread_mutex_unlock(&lock);
        count = count + 1;
    }
    return 0;
}

/* ---- Servers: what ends their wait comes from outside of the run. ----------------------------- */

static void *
takes_both(void *unused)
{
    pthread_mutex_lock(&other);
    sleep(2);
    pthread_mutex_lock(&lock);
    return unused;
}

/* Looks at the clock in each `tick_ms`; `says`: writes a line then. */
static int
serves(int tick_ms, bool says)
{
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(0);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    listen(listener, 8);
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    while (epoll_wait(epoll, &event, 1, tick_ms) <= 0) {
        if (says) {
            (void)!write(1, "tick\n", 5);
        }
    }
    return 0;
}

/* In each second it locks `other` 1,500 times; in each second minute it wakes a thread. */
static void *
does_chores(void *condition)
{
    for (int second = 1;; second++) {
        sleep(1);
        for (int i = 0; i < 1500; i++) {
            pthread_mutex_lock(&other);
            pthread_mutex_unlock(&other);
        }
        if (second % 120 == 0) {
            pthread_cond_signal(condition);
        }
    }
}

static void *
is_woken(void *condition)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        pthread_cond_wait(condition, &lock);
    }
}

static int
serves_with_chores(void)
{
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_t thread;
    pthread_create(&thread, NULL, is_woken, &condition);
    pthread_create(&thread, NULL, does_chores, &condition);
    return serves(1000, false);
}

/* Two threads of it are blocked forever. */
static int
serves_locked(void)
{
    pthread_t thread;
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, takes_both, NULL);
    pthread_create(&thread, NULL, beats, NULL);
    sleep(1);
    pthread_create(&thread, NULL, takes_both, NULL);
    pthread_mutex_lock(&other);
    return serves(1000, false);
}

int
main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    return strcmp(what, "lost") == 0     ? lost()
           : strcmp(what, "loops") == 0  ? loops()
           : strcmp(what, "serves") == 0 ? serves(1000, false)
           : strcmp(what, "fast") == 0   ? serves(1, false)
           : strcmp(what, "says") == 0   ? serves(60000, true)
           : strcmp(what, "chores") == 0 ? serves_with_chores()
           : strcmp(what, "locked") == 0 ? serves_locked()
                                         : ticks();
}

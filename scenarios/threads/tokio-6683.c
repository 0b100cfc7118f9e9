/*
 * tokio-6683.c -- a new timer does not wake the driver, since a past deadline counts as its next.
 *
 * tokio-rs/tokio#6683, which repairs #6682.
 *
 * The bug. The driver fires what is due, finds the next deadline, gives up the lock, and then says
 * by next_wake until when it will sleep. A thread that starts a timer in between compares it with
 * the old next_wake, which is earlier, and does not wake the driver. That one saw no timer, and
 * sleeps without a time-out.
 *
 * The fix. next_wake is set before the lock is given up: driver_run below.
 *
 * Here. A thread sleeps three times for 10 ms, by a timer each.
 *
 * Cause: order, driver_run before timer_start
 * Must end in: lost-wakeup.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define SLEEPS 3

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* Of the timers: here, of one. */
static pthread_cond_t fired = PTHREAD_COND_INITIALIZER;
static int64_t deadline_ms;               /* 0: none. */
static atomic_int_least64_t next_wake_ms; /* 0: never. */
static int unpark;                        /* An eventfd. */

static int64_t
now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static void
timer_start(int64_t when_ms)
{
    pthread_mutex_lock(&mutex);
    deadline_ms = when_ms;
    pthread_mutex_unlock(&mutex);
    int64_t next_ms = atomic_load(&next_wake_ms);
    if (next_ms == 0 || when_ms < next_ms) {
        eventfd_write(unpark, 1);
    }
}

static void
sleep_ms(int64_t delay_ms)
{
    timer_start(now_ms() + delay_ms);
    pthread_mutex_lock(&mutex);
    while (deadline_ms != 0) {
        pthread_cond_wait(&fired, &mutex);
    }
    pthread_mutex_unlock(&mutex);
}

static void
driver_run(void)
{
    pthread_mutex_lock(&mutex);
    if (deadline_ms != 0 && deadline_ms <= now_ms()) {
        deadline_ms = 0;
        pthread_cond_signal(&fired);
    }
    int64_t next_ms = deadline_ms;
#ifdef FIXED
    atomic_store(&next_wake_ms, next_ms);
    pthread_mutex_unlock(&mutex);
#else
    pthread_mutex_unlock(&mutex);
    atomic_store(&next_wake_ms, next_ms);
#endif
    struct pollfd events = {.fd = unpark, .events = POLLIN};
    int64_t left_ms = next_ms - now_ms();
    if (poll(&events, 1, next_ms == 0 ? -1 : left_ms > 0 ? (int)left_ms : 0) > 0) {
        eventfd_t ignored;
        eventfd_read(unpark, &ignored);
    }
}

static void *
drive(void *unused)
{
    while (1) {
        driver_run();
    }
    return unused;
}

int
main(void)
{
    pthread_t driver;
    unpark = eventfd(0, EFD_NONBLOCK);
    pthread_create(&driver, NULL, drive, NULL);
    for (int i = 0; i < SLEEPS; i++) {
        sleep_ms(10);
    }
    return 0;
}

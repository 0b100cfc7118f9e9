/*
 * pigweed-f2261b9.c -- a dispatcher that wakes many tasks blocks in its own notify pipe.
 *
 * google/pigweed f2261b9.
 *
 * The bug. A wake writes a byte into a pipe, which the dispatcher waits for and drains. Many wakes
 * in one turn fill the pipe. The next write blocks; where the dispatcher's own thread is the one
 * that wakes, no thread is left to read.
 *
 * The fix. The pipe does not block: where it is full, a wake is pending already.
 *
 * Here. The pipe has one page. Another thread wakes a task, which wakes more others than that.
 *
 * Cause: not-a-wake in wake
 * Must end in: deadlock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define PAGE 4096
#define TASKS (PAGE + 8)

static int notify_pipe[2];
static atomic_int woken; /* How many tasks are in the run queue. */

static void
wake(int tasks)
{
    char byte = 1;
    for (int i = 0; i < tasks; i++) {
        atomic_fetch_add_explicit(&woken, 1, memory_order_relaxed);
        (void)!write(notify_pipe[1], &byte, 1);
    }
}

static void *
wake_first(void *unused)
{
    wake(1);
    return unused;
}

/* Waits for a wake, and returns how many tasks there are to run. */
static int
dispatcher_wait(void)
{
    char bytes[PAGE];
    struct pollfd events = {.fd = notify_pipe[0], .events = POLLIN};
    poll(&events, 1, -1);
    while (read(notify_pipe[0], bytes, sizeof(bytes)) > 0) {
    }
    return atomic_exchange(&woken, 0);
}

int
main(void)
{
    pthread_t thread;
#ifdef FIXED
    (void)!pipe2(notify_pipe, O_NONBLOCK);
#else
    (void)!pipe(notify_pipe);
    fcntl(notify_pipe[0], F_SETFL, O_NONBLOCK);
#endif
    fcntl(notify_pipe[1], F_SETPIPE_SZ, PAGE);
    pthread_create(&thread, NULL, wake_first, NULL);
    for (int ran = 0; ran < 1 + TASKS;) {
        int tasks = dispatcher_wait();
        if (ran == 0 && tasks > 0) {
            wake(TASKS); /* The first task runs. */
        }
        ran += tasks;
    }
    return pthread_join(thread, NULL);
}

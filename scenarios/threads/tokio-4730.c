/*
 * tokio-4730.c -- a worker leaves the driver to run a task, and none takes its place there.
 *
 * tokio-rs/tokio#4730, PR #6245.
 *
 * The bug. Of several workers that have nothing to do, one waits in the driver for I/O and the
 * others for a condition variable. An event makes a task ready. The worker in the driver runs it,
 * and wakes no other worker, as there is nothing else to run. While this task is busy or blocks,
 * no worker polls the driver, and the events of all other tasks wait.
 *
 * The fix. A worker that leaves the driver with a task wakes another one first: leave_driver below.
 *
 * Here. There are two workers. The first task to get its event blocks until the second one has run.
 *
 * Cause: never-fired in leave_driver or worker
 * Must end in: lost-wakeup.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define TASKS 2

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t unparked = PTHREAD_COND_INITIALIZER;
static bool driver_taken;
static int left = TASKS; /* Tasks that have not begun. */
static sem_t second_ran;
static int driver; /* An epoll. */

static void
run_task(int task)
{
    if (task == 0) {
        sem_wait(&second_ran); /* Blocks its worker, as it should not. */
    } else {
        sem_post(&second_ran);
    }
}

/* Returns a task that is ready, or -1. */
static int
poll_driver(void)
{
    struct epoll_event event;
    return epoll_wait(driver, &event, 1, -1) == 1 ? (int)event.data.u32 : -1;
}

static void
leave_driver(int task)
{
    pthread_mutex_lock(&mutex);
    driver_taken = false;
    left -= task >= 0;
    if (left == 0) {
        pthread_cond_broadcast(&unparked);
    }
#ifdef FIXED
    pthread_cond_signal(&unparked);
#endif
    pthread_mutex_unlock(&mutex);
}

static void *
worker(void *unused)
{
    pthread_mutex_lock(&mutex);
    while (left > 0) {
        if (driver_taken) {
            pthread_cond_wait(&unparked, &mutex);
            continue;
        }
        driver_taken = true;
        pthread_mutex_unlock(&mutex);
        int task = poll_driver();
        leave_driver(task);
        if (task >= 0) {
            run_task(task);
        }
        pthread_mutex_lock(&mutex);
    }
    pthread_mutex_unlock(&mutex);
    return unused;
}

int
main(void)
{
    pthread_t workers[2];
    int sources[TASKS];
    sem_init(&second_ran, 0, 0);
    driver = epoll_create1(0);
    for (unsigned i = 0; i < TASKS; i++) {
        sources[i] = eventfd(0, EFD_NONBLOCK);
        struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.u32 = i};
        epoll_ctl(driver, EPOLL_CTL_ADD, sources[i], &event);
    }
    for (int i = 0; i < 2; i++) {
        pthread_create(&workers[i], NULL, worker, NULL);
    }
    for (int i = 0; i < TASKS; i++) {
        eventfd_write(sources[i], 1);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(workers[i], NULL);
    }
    return 0;
}

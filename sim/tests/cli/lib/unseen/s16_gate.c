/* Cause: reopen(), line 79: the number of those who wait is read before the mutex is given up for the report; a worker that finds the gate closed and queues meanwhile is not counted, and after `waiting` was set to 0 nobody posts for it; repair: the number is read in the same critical section that opens the gate. */
/*
 * s16_gate.c -- a tank that workers fill from, and that is cleaned from time to time.
 *
 * The cleaner closes the gate, waits until those inside have left, cleans, and opens it again.
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

#define WORKERS 3
#define FILLS 2

struct gate {
    pthread_mutex_t mutex;
    sem_t drained; /* For the cleaner. */
    sem_t opened;  /* For those outside. */
    int closed;
    int inside;
    int waiting;
};

static struct gate gate = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static int report_fd;

static void
enter(void)
{
    pthread_mutex_lock(&gate.mutex);
    while (gate.closed) {
        gate.waiting++;
        pthread_mutex_unlock(&gate.mutex);
        sem_wait(&gate.opened);
        pthread_mutex_lock(&gate.mutex);
    }
    gate.inside++;
    pthread_mutex_unlock(&gate.mutex);
}

static void
leave(void)
{
    pthread_mutex_lock(&gate.mutex);
    int last = --gate.inside == 0 && gate.closed;
    pthread_mutex_unlock(&gate.mutex);
    if (last) {
        sem_post(&gate.drained);
    }
}

/* Returns when nobody is inside. */
static void
close_gate(void)
{
    pthread_mutex_lock(&gate.mutex);
    gate.closed = 1;
    int wait = gate.inside > 0;
    pthread_mutex_unlock(&gate.mutex);
    if (wait) {
        sem_wait(&gate.drained);
    }
}

static void
report(int waiting)
{
    char line[48];
    int size = snprintf(line, sizeof line, "cleaned, %d waiting\n", waiting);
    ssize_t n = write(report_fd, line, (size_t)size);
    assert(n == size);
}

static void
reopen(void)
{
    pthread_mutex_lock(&gate.mutex);
    int waiting = gate.waiting;
    pthread_mutex_unlock(&gate.mutex);
    report(waiting);
    pthread_mutex_lock(&gate.mutex);
#ifdef FIXED
    waiting = gate.waiting;
#endif
    gate.waiting = 0;
    gate.closed = 0;
    pthread_mutex_unlock(&gate.mutex);
    for (int i = 0; i < waiting; i++) {
        sem_post(&gate.opened);
    }
}

static void *
worker(void *argument)
{
    int *fills = argument;
    for (int i = 0; i < FILLS; i++) {
        enter();
        usleep(200);
        ++*fills;
        leave();
        usleep(100);
    }
    return NULL;
}

static void *
cleaner(void *argument)
{
    (void)argument;
    usleep(150);
    close_gate();
    assert(gate.inside == 0);
    usleep(150);
    reopen();
    return NULL;
}

int
main(void)
{
    pthread_t workers[WORKERS];
    pthread_t cleaning;
    int fills[WORKERS] = {0};
    int ends[2];
    if (pipe(ends) != 0) {
        return 1;
    }
    report_fd = ends[1];
    sem_init(&gate.drained, 0, 0);
    sem_init(&gate.opened, 0, 0);
    pthread_create(&cleaning, NULL, cleaner, NULL);
    for (int i = 0; i < WORKERS; i++) {
        pthread_create(&workers[i], NULL, worker, &fills[i]);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(workers[i], NULL);
        assert(fills[i] == FILLS);
    }
    pthread_join(cleaning, NULL);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */

// SPDX-License-Identifier: Apache-2.0
/* libs: -lev */
/* Cause: main() line 73: the time limit counts from ev_now(), which is from before the long load; most of it
 * is over when it starts. Repair: ev_now_update() before (FIXED). */
#include <ev.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LOAD_US 900000   /* Of the table, before the first request. */
#define ANSWER_US 200000 /* Of the backend. */
#define LIMIT 1.0        /* Seconds. */

static ev_async answered;
static ev_timer limit;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int answer;
static int timed_out;

static void
on_answer(EV_P_ ev_async *watcher, int events)
{
    (void)events;
    pthread_mutex_lock(&mutex);
    printf("answer %d\n", answer);
    pthread_mutex_unlock(&mutex);
    ev_async_stop(EV_A_ watcher);
    ev_timer_stop(EV_A_ & limit);
}

static void
on_limit(EV_P_ ev_timer *watcher, int events)
{
    (void)watcher;
    (void)events;
    timed_out = 1;
    ev_async_stop(EV_A_ & answered);
}

static void *
backend_main(void *argument)
{
    struct ev_loop *loop = argument;
    usleep(ANSWER_US);
    pthread_mutex_lock(&mutex);
    answer = 42;
    pthread_mutex_unlock(&mutex);
    ev_async_send(loop, &answered);
    return NULL;
}

/* Reads the table in pieces. */
static void
load_table(void)
{
    for (int i = 0; i < 9; i++)
        usleep(LOAD_US / 9);
}

int
main(void)
{
    pthread_t backend;
    struct ev_loop *loop = ev_loop_new(EVBACKEND_EPOLL);
    ev_async_init(&answered, on_answer);
    ev_async_start(loop, &answered);
    load_table();
    pthread_create(&backend, NULL, backend_main, loop);
#ifdef FIXED
    ev_now_update(loop);
#endif
    ev_timer_init(&limit, on_limit, LIMIT, 0.0);
    ev_timer_start(loop, &limit);
    ev_run(loop, 0);
    pthread_join(backend, NULL);
    ev_loop_destroy(loop);
    if (timed_out) {
        fprintf(stderr, "the backend has not answered within %.1f s\n", LIMIT);
        return 1;
    }
    return 0;
}

/*
 * async-executor-163.c -- a waker fires while its executor is dropped.
 *
 * smol-rs/async-executor#163.
 *
 * The bug. To schedule a task is to push it into the executor's queue, and to notify a thread that
 * sleeps there. An executor that is dropped empties its queue, which drops the tasks, and frees its
 * state. It may do so between the two, and then the waker notifies what is freed.
 *
 * The fix. A waker holds a reference to the state until it has notified: schedule below.
 *
 * Here. Another thread wakes a task, and the main thread drops the executor.
 *
 * Cause: order, notify before state_drop
 * Must end in: use-after-free.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct state {
    atomic_int references; /* The executor's, and one of each task. */
    pthread_mutex_t mutex;
    pthread_cond_t sleepers;
    int queued; /* Tasks. */
    bool closed;
};

static void
state_drop(struct state *state)
{
    if (atomic_fetch_sub(&state->references, 1) == 1) {
        free(state);
    }
}

static void
notify(struct state *state)
{
    pthread_mutex_lock(&state->mutex);
    pthread_cond_signal(&state->sleepers);
    pthread_mutex_unlock(&state->mutex);
}

/* A push into a queue that is closed drops the task. */
static bool
push(struct state *state)
{
    pthread_mutex_lock(&state->mutex);
    bool closed = state->closed;
    state->queued += !closed;
    pthread_mutex_unlock(&state->mutex);
    return !closed;
}

static void *
schedule(void *argument)
{
    struct state *state = argument;
#ifdef FIXED
    atomic_fetch_add(&state->references, 1);
#endif
    if (!push(state)) {
        state_drop(state);
    } else {
        notify(state);
    }
#ifdef FIXED
    state_drop(state);
#endif
    return NULL;
}

static void
executor_drop(struct state *state)
{
    pthread_mutex_lock(&state->mutex);
    int tasks = state->queued;
    state->queued = 0;
    state->closed = true;
    pthread_mutex_unlock(&state->mutex);
    while (tasks-- > 0) {
        state_drop(state);
    }
    state_drop(state);
}

int
main(void)
{
    pthread_t thread;
    struct state *state = calloc(1, sizeof(*state));
    atomic_init(&state->references, 2);
    pthread_mutex_init(&state->mutex, NULL);
    pthread_cond_init(&state->sleepers, NULL);
    pthread_create(&thread, NULL, schedule, state);
    executor_drop(state);
    return pthread_join(thread, NULL);
}

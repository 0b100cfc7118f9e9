/*
 * futures-rs-868.c -- an AtomicWaker uses its waker after it has given up the right to.
 *
 * rust-lang/futures-rs#868.
 *
 * The bug. register() and wake() share a slot with a waker, and agree by a state on which of them
 * may use it. Once calls of register() had to be coordinated by the caller; when that rule was
 * dropped, wake() still used the waker after it had set the state back. A register() then drops the
 * old waker meanwhile.
 *
 * The fix. wake() takes the waker out before it sets the state back.
 *
 * Here. A future is polled once by a task that is then dropped, and again by a task that waits,
 * while another thread completes it.
 *
 * Cause: order, take_and_wake before waker_drop
 * Must end in: use-after-free.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { WAITING = 0, REGISTERING = 1, WAKING = 2 };

struct waker { /* Of a task that a thread runs. */
    atomic_int references;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool woken;
};

static atomic_uint state;
static struct waker *slot;
static atomic_bool completed;

static void
waker_drop(struct waker *waker)
{
    if (waker != NULL && atomic_fetch_sub(&waker->references, 1) == 1) {
        free(waker);
    }
}

static void
waker_wake(struct waker *waker)
{
    pthread_mutex_lock(&waker->mutex);
    waker->woken = true;
    pthread_cond_signal(&waker->cond);
    pthread_mutex_unlock(&waker->mutex);
}

/* With the right to the slot, which ends here. */
static void
take_and_wake(void)
{
    struct waker *waker = slot;
#ifdef FIXED
    slot = NULL;
    atomic_store(&state, WAITING);
    if (waker != NULL) {
        waker_wake(waker);
        waker_drop(waker);
    }
#else
    atomic_store(&state, WAITING);
    if (waker != NULL) {
        waker_wake(waker);
    }
#endif
}

static void
wake(void)
{
    if (atomic_fetch_or(&state, WAKING) == WAITING) {
        take_and_wake();
    }
}

static void
store(struct waker *waker)
{
    unsigned expected = WAITING;
    if (!atomic_compare_exchange_strong(&state, &expected, REGISTERING)) {
        waker_wake(waker); /* A wake is under way. */
        return;
    }
    atomic_fetch_add(&waker->references, 1);
    waker_drop(slot);
    slot = waker;
    expected = REGISTERING;
    if (!atomic_compare_exchange_strong(&state, &expected, WAITING)) {
        take_and_wake(); /* One came meanwhile. */
    }
}

static bool
future_poll(struct waker *waker)
{
    store(waker);
    return atomic_load(&completed);
}

static struct waker *
waker_new(void)
{
    struct waker *waker = malloc(sizeof(*waker));
    atomic_init(&waker->references, 1);
    pthread_mutex_init(&waker->mutex, NULL);
    pthread_cond_init(&waker->cond, NULL);
    waker->woken = false;
    return waker;
}

static void *
complete(void *unused)
{
    atomic_store(&completed, true);
    wake();
    return unused;
}

int
main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, complete, NULL);
    struct waker *first = waker_new();
    struct waker *second = waker_new();
    bool done = future_poll(first);
    waker_drop(first);
    while (!done && !future_poll(second)) {
        pthread_mutex_lock(&second->mutex);
        while (!second->woken) {
            pthread_cond_wait(&second->cond, &second->mutex);
        }
        second->woken = false;
        pthread_mutex_unlock(&second->mutex);
    }
    waker_drop(second);
    return pthread_join(thread, NULL);
}

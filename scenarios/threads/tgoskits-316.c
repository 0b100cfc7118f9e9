/*
 * tgoskits-316.c -- a task checks its condition, and registers its waker afterwards.
 *
 * rcore-os/tgoskits#316, and staticgc/taskwait#1: users of an AtomicWaker, whose rule (explained in
 * rust-lang/futures-rs#868) they have in the wrong order.
 *
 * The bug. A poll checks whether the event is there, finds that it is not, and registers. An event
 * between the two finds no waker to wake.
 *
 * The fix. Register, then check: poll_event below. The event is set before the wake, as ever.
 *
 * Here. One thread runs the task, another one sets the event.
 *
 * Cause: fired-early in set_event or wake or order, store before set_event
 * Must end in: deadlock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct task {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool woken;
};

static pthread_mutex_t slot_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct task *slot;
static atomic_bool event;

static void
store(struct task *task)
{
    pthread_mutex_lock(&slot_mutex);
    slot = task;
    pthread_mutex_unlock(&slot_mutex);
}

static void
wake(void)
{
    pthread_mutex_lock(&slot_mutex);
    struct task *task = slot;
    slot = NULL;
    pthread_mutex_unlock(&slot_mutex);
    if (task != NULL) {
        pthread_mutex_lock(&task->mutex);
        task->woken = true;
        pthread_cond_signal(&task->cond);
        pthread_mutex_unlock(&task->mutex);
    }
}

static void *
set_event(void *unused)
{
    atomic_store(&event, true);
    wake();
    return unused;
}

static bool
poll_event(struct task *task)
{
#ifdef FIXED
    store(task);
    return atomic_load(&event);
#else
    if (atomic_load(&event)) {
        return true;
    }
    store(task);
    return false;
#endif
}

static void
block_on(struct task *task)
{
    while (!poll_event(task)) {
        pthread_mutex_lock(&task->mutex);
        while (!task->woken) {
            pthread_cond_wait(&task->cond, &task->mutex);
        }
        task->woken = false;
        pthread_mutex_unlock(&task->mutex);
    }
}

int
main(void)
{
    static struct task task = {
            .mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    pthread_t thread;
    pthread_create(&thread, NULL, set_event, NULL);
    block_on(&task);
    return pthread_join(thread, NULL);
}

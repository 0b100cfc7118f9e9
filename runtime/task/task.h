/*
 * task.h -- a task: one poll function, one state word, and its joiner.
 *
 *                       rt_post                    poll begins
 *      UNPOSTED ─────────────────────▶ WOKEN ─────────────────────▶ RUNNING
 *         ▲                              ▲                          │  │  │
 *         │                              │ wake                     │  │  │ wake
 *         │                              │                          │  │  ▼
 *         │                          SLEEPING ◀──── PENDING ────────┘  │ RUNNING_WOKEN
 *         │                              │                             │  │ PENDING: back to WOKEN
 *         │   cancel                     │                             │  │
 *         ├──────────────────────────────┘          cancel by itself   ▼  ▼
 *         │                                                      RUNNING_DEREG
 *         └──── READY, PARKED, or the end of the poll of a RUNNING_DEREG ──┘
 *
 * 1. rt_post: UNPOSTED -> WOKEN, at the tail of the queue, never polled inline (T2).
 * 2. The executor takes the task: WOKEN -> RUNNING. The notified mark is gone *before* the
 *    poll function is called, so a wake during the poll is seen (T6).
 * 3. A wake: SLEEPING -> WOKEN; RUNNING -> RUNNING_WOKEN; WOKEN, RUNNING_WOKEN: nothing (T4, T5).
 * 4. The poll answers PENDING: RUNNING -> SLEEPING, RUNNING_WOKEN -> WOKEN. A task that sleeps
 *    without a stored or cloned waker is a fault, RT_E_NO_WAKER (T12).
 * 5. It answers READY: the task is UNPOSTED, every waker that was stored for it is nulled, then
 *    `cleanup` is called and the runtime does not touch it any more (T7, T9). `cleanup` may free
 *    it, initialise it again or post it again (T10).
 * 6. It answers PARKED without having been woken: UNPOSTED, wakers nulled, no cleanup; it does
 *    not count as present until it is posted again (T13).
 * 7. rt_task_cancel: SLEEPING or WOKEN ends at once; a RUNNING task cancels itself to
 *    RUNNING_DEREG, which takes effect when its poll returns (T15).
 *
 * Ownership. The caller owns the memory; a task is pinned from rt_post until it
 * has finished. Nothing here allocates.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TASK_TASK_H
#define RT_TASK_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/list.h"
#include "runtime/base/small.h"
#include "runtime/task/await.h"
#include "runtime/task/slot.h"
#include "runtime/task/target.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_cx;
struct rt_task;
struct rt_executor;

/* What a poll answers. PARKED: do not poll again until the task is posted again (T13). */
typedef enum rt_poll { RT_PENDING, RT_READY, RT_PARKED } rt_poll;

typedef rt_poll (*rt_poll_fn)(struct rt_task *task, struct rt_cx *cx);
typedef void (*rt_cleanup_fn)(struct rt_task *task);

enum rt_task_state {
    RT_TASK_UNPOSTED,
    RT_TASK_WOKEN,
    RT_TASK_RUNNING,
    RT_TASK_RUNNING_WOKEN,
    RT_TASK_RUNNING_DEREG,
    RT_TASK_SLEEPING
};

/* How the last life of the task ended. */
enum rt_task_end { RT_TASK_NOT_ENDED, RT_TASK_DONE, RT_TASK_CANCELLED, RT_TASK_PARKED };

struct rt_task {
    struct rt_object object;
    enum rt_task_state state : 8;
    enum rt_task_end end : 8;
    bool background;   /* Set before rt_post: completion does not wait for this task (D5). */
    bool output_taken; /* T18 */
    bool cancel_asked; /* T17: asked to end by itself at its next poll. */
    bool detached;     /* T19 */
    rt_poll_fn poll;
    rt_cleanup_fn cleanup; /* NULL: nothing to do. */
    const char *name;      /* Borrowed; shown to people. */
    uint64_t rank;         /* Set before rt_post: for a policy that asks for one (sched.h). */
    void *output;          /* Set by the poll function before READY; read by rt_task_take. */
    struct rt_target target;
    /* Invariant: every slot that holds a waker stored during this task's polls is in here. */
    struct rt_list slots;
    struct rt_slot joiner; /* The task that waits for the end. */
    rt_count polls;        /* Of this life. */
};

/*
 * Makes `task` UNPOSTED. `poll` must not be NULL; `cleanup` may be; `name` is borrowed ("task"
 * when NULL). Initialising a posted task is not detected, for its memory may hold anything: use
 * rt_task_fini first, which detects it (T11).
 */
void rt_task_init(struct rt_task *task, rt_poll_fn poll, rt_cleanup_fn cleanup, const char *name);

/* Ends the use of an UNPOSTED task's memory. Of a posted one: fault RT_E_IN_USE (T11). */
void rt_task_fini(struct rt_task *task);

/*
 * Hands `task` to `executor`, which borrows it until it has finished (T2).
 * RT_E_POSTED when it is posted, here or elsewhere (T3); RT_E_FULL when the executor has no entry
 * left; RT_E_CLOSED after rt_terminate. Nothing has changed in these cases.
 */
#define rt_post(executor, task) rt_post_at((executor), (task), RT_HERE)
RT_MUST_CHECK rt_err rt_post_at(
        struct rt_executor *executor, struct rt_task *task, const struct rt_site *await);

/* Gives it another rank: at once when it is posted, else from the next rt_post on. */
void rt_task_set_rank(struct rt_task *task, uint64_t rank);

/* Wakes it, as its waker would. Not posted: no-op. */
#define rt_task_wake(task) rt_task_wake_at((task), RT_HERE)
void rt_task_wake_at(struct rt_task *task, const struct rt_site *await);

/*
 * Ends it now; a running task, when its poll returns, whatever that answers (T15, T16). A parked
 * one, which is not posted but could be, ends as well (T13). Any other task that is not posted, or
 * that is cancelled already: no-op. Cleanup is called; the joiner is woken.
 */
#define rt_task_cancel(task) rt_task_cancel_at((task), RT_HERE)
void rt_task_cancel_at(struct rt_task *task, const struct rt_site *await);

/*
 * Gives it another waker, as for a future that moves into another task: every waker given out
 * before does nothing any more, every slot that held one is empty, and the task is woken, so that
 * its next poll stores the new one (W11). Everything else stays, the joiner too. Not posted: no-op.
 * Of the task that is being polled: fault RT_E_REENTERED. RT_E_FULL, and nothing has changed, when
 * the generations of its entry are used up and no other entry is free.
 */
#define rt_task_migrate(task) rt_task_migrate_at((task), RT_HERE)
RT_MUST_CHECK rt_err rt_task_migrate_at(struct rt_task *task, const struct rt_site *await);

/* Asks it to end by itself: sets the mark that rt_task_cancel_asked reads, and wakes it (T17). */
#define rt_task_ask_cancel(task) rt_task_ask_cancel_at((task), RT_HERE)
void rt_task_ask_cancel_at(struct rt_task *task, const struct rt_site *await);
static inline bool
rt_task_cancel_asked(const struct rt_task *task)
{
    return task->cancel_asked;
}

/* The owner releases it: a detached task runs on, any other is cancelled (T19). */
#define rt_task_release(task) rt_task_release_at((task), RT_HERE)
void rt_task_release_at(struct rt_task *task, const struct rt_site *await);
void rt_task_detach(struct rt_task *task);

/*
 * READY once `task` has finished or was cancelled; until then PENDING, with `cx` woken exactly once
 * at the end (T19). One waiter at a time: another task waiting is replaced. A task never posted is
 * pending.
 */
#define rt_task_join(task, cx) rt_task_join_at((task), (cx), RT_HERE)
rt_poll rt_task_join_at(struct rt_task *task, struct rt_cx *cx, const struct rt_site *await);

/*
 * Reads what the finished task left in `output`, once (T18).
 * RT_E_AGAIN: not finished; RT_E_CANCELLED: it never will be; RT_E_TAKEN: read before.
 */
RT_MUST_CHECK rt_err rt_task_take(struct rt_task *task, void **ret_output);

static inline bool
rt_task_posted(const struct rt_task *task)
{
    return task->state != RT_TASK_UNPOSTED;
}

/* "sleeping", "woken" …; static. */
const char *rt_task_state_name(enum rt_task_state state);

#ifdef __cplusplus
}
#endif
#endif

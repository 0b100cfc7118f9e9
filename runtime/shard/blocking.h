/*
 * blocking.h -- work that blocks or computes for long, done by one thread beside the runtime's.
 *
 *      IDLE ── rt_blocking_submit ──▶ QUEUED ── its turn ──▶ RUNNING ── rt_blocking_done ──▶ DONE
 *       ▲                               │ forget               │ forget: none waits            │
 *       └───────────────────────────────┴──────────── … ◀──────┴────────── rt_work_poll READY ─┘
 *
 * The pool itself lives on the runtime's thread, and so do queue, waits and wakes.
 * Only the work that the worker runs, one at a time, is on another thread; it
 * touches nothing else. Any code that can run it is a worker: a thread
 * (runtime/host/worker_thread.h), an actor in the simulator.
 *
 * Order. First submitted, first run; one at a time.
 *
 * Ownership. The pool borrows a work from submit until it is DONE or was forgotten while QUEUED;
 * one that is forgotten while it runs stays pinned until rt_work_busy says no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SHARD_BLOCKING_H
#define RT_SHARD_BLOCKING_H

#include "runtime/task/cx.h"
#include "runtime/task/slot.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_work;

enum rt_work_state { RT_WORK_IDLE, RT_WORK_QUEUED, RT_WORK_RUNNING, RT_WORK_DONE };

struct rt_work {
    struct rt_object object;
    enum rt_work_state state;
    bool forgotten;                    /* While it runs: no task waits any more. */
    void (*run)(struct rt_work *work); /* On the worker's thread; calls nothing of the runtime. */
    const char *what;                  /* The wait reason, for people: "the compiled module". */
    struct rt_list link;
    struct rt_slot slot;
};

/* Embedded first in a worker's own struct. */
struct rt_worker {
    /* Begins to run `work` and returns at once. When that is done, rt_blocking_done is to be called
     * on the runtime's thread. Called only while the worker is idle. */
    void (*start)(struct rt_worker *worker, struct rt_work *work);
};

struct rt_blocking_pool {
    struct rt_object object;
    struct rt_worker *worker;
    struct rt_list queued;
    struct rt_work *running; /* The worker's; NULL: it is idle. */
};

/* Makes a pool whose work `worker` (borrowed) runs. */
void rt_blocking_init(struct rt_blocking_pool *pool, struct rt_worker *worker);

/* Ends it. Work queued or running: fault RT_E_IN_USE. */
void rt_blocking_fini(struct rt_blocking_pool *pool);

/* Makes an IDLE work. `run` must not be NULL; `what` is borrowed. */
void rt_work_init(struct rt_work *work, void (*run)(struct rt_work *work), const char *what);

/* Puts `work` at the end of the queue. RT_E_BUSY when it is not IDLE. */
#define rt_blocking_submit(pool, work) rt_blocking_submit_at((pool), (work), RT_HERE)
RT_MUST_CHECK rt_err rt_blocking_submit_at(
        struct rt_blocking_pool *pool, struct rt_work *work, const struct rt_site *await);

/* READY, once, when it is done; it is IDLE then. One waiter: another one replaces it. Of an IDLE
 * work: fault RT_E_FINISHED. */
#define rt_work_poll(work, cx) rt_work_poll_at((work), (cx), RT_HERE)
rt_poll rt_work_poll_at(struct rt_work *work, struct rt_cx *cx, const struct rt_site *await);

/* No task waits for it any more: one that is QUEUED never runs; one that runs continues, and is
 * IDLE afterwards. IDLE already: no-op. */
#define rt_work_forget(work) rt_work_forget_at((work), RT_HERE)
void rt_work_forget_at(struct rt_work *work, const struct rt_site *await);

/* True while the pool or the worker has it: its memory must stay. */
static inline bool
rt_work_busy(const struct rt_work *work)
{
    return work->state == RT_WORK_QUEUED || work->state == RT_WORK_RUNNING;
}

/* Called on the runtime's thread: the worker has finished its work. Wakes the waiter, starts the
 * next. Nothing runs: fault RT_E_INVALID. */
#define rt_blocking_done(pool) rt_blocking_done_at((pool), RT_HERE)
void rt_blocking_done_at(struct rt_blocking_pool *pool, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif

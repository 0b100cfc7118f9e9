/*
 * runtime.h -- executor, timers and reactor over one host, and the loops that drive them.
 *
 *           ┌────────────────── rt_runtime ──────────────────┐
 *  wakes ──▶│ executor ── polls ──▶ tasks                    │
 *           │ timers   ── due ────▶ wakes                    │
 *           │ reactor  ── ready ──▶ wakes                    │
 *           │ io       ── edges ──▶ wakes                    │
 *           └──────────────▲─────────────────────────────────┘
 *                          │ now · subscribe · poll · fetch
 *                       host, net
 *
 * One round of a loop (rt_block_on, rt_run_to_completion):
 *   1. Poll woken tasks, one after the other: at least one, at most `event_interval` of
 *      them, and no further once the task quota is used up, unless very many are woken (X8).
 *   2. Check the condition that ends the loop.
 *   3. Fire the timers that are due.
 *   4. A task is woken: a turn of the reactor that does not block, so that tasks which wake
 *      themselves cannot starve the host (B2). None is woken: a turn that blocks until the next
 *      deadline, a pollable or a notify (B3). Nothing to block on: deadlock (D5). In both cases
 *      the network's events are fetched then (io.h).
 *   5. Wake the tasks that yielded (yield.h), after those the turn has woken (D13).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_RUNTIME_H
#define RT_RUNTIME_H

#include "runtime/compose/future.h"
#include "runtime/compose/group.h"
#include "runtime/compose/join.h"
#include "runtime/compose/race.h"
#include "runtime/compose/select.h"
#include "runtime/compose/stream.h"
#include "runtime/compose/timeout.h"
#include "runtime/compose/try_join.h"
#include "runtime/io/io.h"
#include "runtime/io/reactor.h"
#include "runtime/io/stream.h"
#include "runtime/io/tcp.h"
#include "runtime/task/budget.h"
#include "runtime/task/cx.h"
#include "runtime/task/executor.h"
#include "runtime/task/wait_queue.h"
#include "runtime/task/yield.h"
#include "runtime/time/interval.h"
#include "runtime/time/sleep.h"
#include "runtime/time/timers.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_runtime_config {
    struct rt_host *host; /* Borrowed. */
    struct rt_executor_config executor;
    struct rt_timers_config timers;
    struct rt_reactor_config reactor;
    struct rt_io_config io;  /* All zero: no network. */
    uint32_t event_interval; /* 0: 61. Polls between two polls of the host. */
    uint64_t task_quota_ns;  /* 0: RT_TASK_QUOTA_NS. RT_NEVER: none, the clock is not read. */
    /* The queue of yielding tasks, `deferred_capacity` wakers; NULL: there is none. One per task is
     * always enough for rt_yield_now. */
    struct rt_waker *deferred;
    uint32_t deferred_capacity;
};

struct rt_runtime {
    uint32_t magic;
    bool in_loop;    /* B4 */
    bool firing;     /* Timers are being fired. */
    bool letting;    /* Yielding tasks are being woken. */
    bool frozen;     /* A watchdog polls a task: no completion is taken meanwhile. */
    bool unnotified; /* The last wake that would have notified came while the loop was running. */
    uint32_t event_interval;
    uint32_t foreign_handles; /* Holders outside this thread that may notify (D5). */
    struct rt_host *host;
    struct rt_executor executor;
    struct rt_timers timers;
    struct rt_reactor reactor;
    struct rt_io io;
    struct rt_pollable deadline; /* The next deadline, as a pollable of the host … */
    uint64_t deadline_ns;        /* … and which one it is; RT_NEVER: none subscribed. */
    struct rt_pollable notify;
    struct rt_key *root; /* What rt_block_on waits for: follows a task that migrates. */
    uint64_t turns;      /* So far; a yield waits for the next one. */
    uint64_t task_quota_ns;
    uint64_t round_began_ns; /* Only while there is a quota. */
    struct rt_waker *deferred;
    uint32_t deferred_capacity;
    uint32_t deferred_count;
};

/*
 * Makes a runtime. `config` is copied; what it points at is borrowed. The executor's notify is
 * rt_host_notify unless the caller set another. The host is not notified of wakes inside a loop or
 * turn, which polls those tasks anyway; at its end a loop notifies of those it leaves woken (D7).
 * Timers start at the host's clock unless timers.start_ns is set.
 */
void rt_runtime_init(struct rt_runtime *runtime, const struct rt_runtime_config *config);

/* Ends it, and drops its pollables: faults as rt_executor_fini, rt_timers_fini, rt_reactor_fini. */
void rt_runtime_fini(struct rt_runtime *runtime);

/*
 * Declares that code outside this thread may call rt_host_notify from now on, and that a sleep must
 * end when it does (D5, D8). Errors of rt_host_subscribe.
 */
RT_MUST_CHECK rt_err rt_runtime_hold(struct rt_runtime *runtime);

/* Takes one rt_runtime_hold back. A loop that sleeps wakes up and checks again. */
void rt_runtime_release(struct rt_runtime *runtime);

/*
 * Steps 3 to 5 above, once: fires timers, turns the reactor, wakes yielding tasks. *ret_woken (may
 * be NULL): how many timers were fired and waits woken. RT_TURN_BLOCK does not block when a task is
 * woken, a timer was fired (D4), or a task yielded; with nothing to wait for it is RT_E_DEADLOCK.
 * RT_E_REENTERED from inside a poll or a turn. RT_E_FULL when the host has no capacity for the
 * runtime's pollables.
 */
RT_MUST_CHECK rt_err rt_runtime_turn(
        struct rt_runtime *runtime, enum rt_turn_mode mode, uint32_t *ret_woken);

/* True when a turn would do something now: a timer is due, a waited-for pollable is ready, or a
 * task has yielded. */
bool rt_runtime_turn_useful(const struct rt_runtime *runtime);

/*
 * Appends a clone of `waker` to the queue of yielding tasks; it is woken by the next turn. False,
 * and nothing has happened, when the queue is full or there is none. Tasks use yield.h.
 */
bool rt_runtime_defer_at(
        struct rt_runtime *runtime, const struct rt_waker *waker, const struct rt_site *await);

/*
 * The quota counts from here. A loop and a turn begin rounds by themselves, and so does each call
 * of rt_run_one, rt_run_until_stalled and the like outside a loop; no-op inside one.
 */
void rt_runtime_begin_round(struct rt_runtime *runtime);

/*
 * Step 1 once, for the caller's own loop: polls woken tasks, at most `event_interval` and until the
 * quota is used up (X8). A fault from inside a poll, as rt_run_one.
 */
void rt_runtime_poll_woken(struct rt_runtime *runtime);

/*
 * Posts `root` and runs the loop until it is READY, cancelled or parked (root->end says which);
 * other tasks stay posted (B5). Root is polled only when it is woken (B6), and its own wake during
 * its poll is seen before blocking (B1). RT_E_DEADLOCK: root cannot make progress (B3), it stays
 * posted. RT_E_REENTERED: a loop of this runtime runs already, or one of its tasks is being polled;
 * nothing has changed (B4). Errors of rt_post and rt_runtime_turn.
 */
#define rt_block_on(runtime, root) rt_block_on_at((runtime), (root), RT_HERE)
RT_MUST_CHECK rt_err rt_block_on_at(
        struct rt_runtime *runtime, struct rt_task *root, const struct rt_site *await);

/* Runs the loop until no foreground task is left (D4, D5). Errors as rt_block_on. */
RT_MUST_CHECK rt_err rt_run_to_completion(struct rt_runtime *runtime);

/* The earliest deadline, or RT_NEVER (S4: EarliestTimerExpiry). */
uint64_t rt_runtime_next_deadline(const struct rt_runtime *runtime);

/*
 * Writes the blocked tasks and their reasons into `text` (`size` bytes, always terminated): one
 * line a task in index order, "name: reason, reason" (D5). What does not fit is cut off; `text` may
 * be NULL when `size` is 0. Returns how many tasks sleep.
 */
uint32_t rt_runtime_report(const struct rt_runtime *runtime, char *text, uint32_t size);

#ifdef __cplusplus
}
#endif
#endif

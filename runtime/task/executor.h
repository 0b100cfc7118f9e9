/*
 * executor.h -- polls the tasks.
 *
 * The executor knows which tasks are posted, asks its policy (sched.h) which
 * woken one is next, and polls it. It knows no clock and no host: runtime.h puts
 * those beside it. One thread at a time.
 *
 * Ownership. Borrows its arrays and its policy for its life, and each task from
 * rt_post until it has finished. Nothing here allocates.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TASK_EXECUTOR_H
#define RT_TASK_EXECUTOR_H

#include "runtime/task/cx.h"
#include "runtime/task/sched.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a task is queued that wakes itself while it is polled (D2). */
enum rt_self_wake {
    RT_SELF_WAKE_AFTER_POLL, /* After all tasks woken during the poll. The default. */
    RT_SELF_WAKE_AT_WAKE     /* At the wake; Pigweed's order. */
};

struct rt_executor_config {
    struct rt_slab_entry *entries; /* One per posted task and per open sub-waker target. */
    uint32_t capacity;             /* Of `entries` (and of `links`). */
    struct rt_sched_link *links;   /* `capacity` of them, for the built-in fifo policy … */
    struct rt_sched *sched;        /* … or the caller's policy; then `links` may be NULL. */
    enum rt_self_wake self_wake;
    uint32_t budget; /* Units of each poll (budget.h); 0: off. */
    /* Called when the first task becomes woken outside a run, at most once until the queue has
     * been empty again (D7): the host must run the executor. NULL: no notification. */
    void (*notify)(void *argument);
    void *notify_argument;
    /* Called where a primitive may choose freely (rt_cx_choose): answers a number below `n`, which
     * is at least 2. NULL: 0, whose meaning each such primitive documents. */
    uint32_t (*choose)(void *argument, uint32_t n);
    void *choose_argument;
    /* Whether the caller is on the thread that this executor belongs to: use of its wakers and
     * tasks elsewhere is fault RT_E_FOREIGN (W4, X1). NULL: not checked. */
    bool (*here)(void *argument);
    void *here_argument;
};

/* Exact counts since rt_executor_init (D14). */
struct rt_executor_counters {
    rt_count polled;    /* Polls begun. */
    rt_count completed; /* READY answers. */
    rt_count cancelled;
    rt_count parked;
    rt_count wakes;     /* Wakes that queued a task or marked a running one. */
    rt_count coalesced; /* Wakes of a task that was woken already. */
    rt_count sleeps;    /* Times that the host was asked to block. */
    rt_count clones;    /* Wakers of targets cloned … */
    rt_count returned;  /* … and given back, woken or dropped (W1). */
};

struct rt_executor {
    uint32_t magic;
    bool running;  /* Inside a poll or a run call (D10). */
    bool notified; /* D7: the host has been notified. */
    bool closed;   /* After rt_terminate. */
    enum rt_self_wake self_wake;
    uint32_t budget;       /* Of each poll; RT_BUDGET_UNCONSTRAINED: off. */
    uint32_t budget_left;  /* Of the poll that runs. */
    struct rt_waker_vt vt; /* Of every waker of this executor; see waker.h. */
    struct rt_slab targets;
    struct rt_sched *sched;
    struct rt_sched_fifo fifo;
    uint32_t posted;     /* Tasks that are not UNPOSTED. */
    uint32_t foreground; /* Of those, the ones that are not background tasks. */
    uint32_t woken;      /* Tasks in the policy. */
    struct rt_task *current;
    struct rt_cx cx; /* Of the poll that runs. Here, so that a stale one is found poisoned. */
    struct rt_runtime *runtime;                      /* Set by rt_runtime_init, and with it: */
    void (*begin_round)(struct rt_runtime *runtime); /* A round of polls begins. */
    void (*notify)(void *argument);
    void *notify_argument;
    uint32_t (*choose)(void *argument, uint32_t n);
    void *choose_argument;
    bool (*here)(void *argument);
    void *here_argument;
    struct rt_executor_counters counters;
};

enum rt_stall {
    RT_STALL_COMPLETE, /* No task is left (D3); background ones do not count (D5). */
    RT_STALL_SLEEPING, /* Tasks are left, and all of them sleep. */
    RT_STALL_LIMIT     /* The bound on polls was reached (D2). */
};

struct rt_run_result {
    rt_count polled;    /* Polls in this call. */
    uint32_t remaining; /* Tasks that are still posted. */
    enum rt_stall stall;
};

/* Makes an executor without tasks. `config` is copied; what it points at is borrowed. */
void rt_executor_init(struct rt_executor *executor, const struct rt_executor_config *config);

/* Ends it. Tasks still posted: fault RT_E_IN_USE (D9). */
void rt_executor_fini(struct rt_executor *executor);

/* Cancels every task in index order; rt_post answers RT_E_CLOSED ever after (D9). */
#define rt_terminate(executor) rt_terminate_at((executor), RT_HERE)
void rt_terminate_at(struct rt_executor *executor, const struct rt_site *await);

/*
 * Polls one task, the policy's next. False when none is woken.
 * All run calls answer RT_E_REENTERED from inside a poll (D10); as this one answers a bool, it is a
 * fault there.
 */
bool rt_run_one(struct rt_executor *executor);

/*
 * Polls `task`, which is woken and which its policy has already popped: for code that is policy
 * and loop in one. A task that is not woken: fault RT_E_INVALID.
 */
void rt_run_taken(struct rt_executor *executor, struct rt_task *task);

/* Polls the woken task with slab index `index`, past the policy. False when it is not woken. */
bool rt_run_index(struct rt_executor *executor, uint32_t index);

/*
 * Polls until no task is woken, also those woken or posted meanwhile (D2, T14).
 * `polls_max` bounds the polls; RT_COUNT_MAX: no bound, and then a task that wakes itself forever
 * keeps the call from returning. RT_E_REENTERED from inside a poll.
 */
RT_MUST_CHECK rt_err rt_run_until_stalled(
        struct rt_executor *executor, rt_count polls_max, struct rt_run_result *ret_result);

/* Polls `task` once by hand, from another task's poll; `cx` is passed on (S4, C3). */
rt_poll rt_task_poll_child(struct rt_task *task, struct rt_cx *cx);

/* One of `n` (at least 1) equally correct choices, by `choose` of the configuration; 0 without
 * one. Inside a poll: rt_cx_choose. */
uint32_t rt_executor_choose(const struct rt_executor *executor, uint32_t n);

/* Calls `visit` for each posted task in index order; `visit` must not post or cancel. */
void rt_executor_each(const struct rt_executor *executor,
        void (*visit)(const struct rt_task *task, void *argument), void *argument);

/* The posted task with slab index `index`, or NULL. */
struct rt_task *rt_executor_task(const struct rt_executor *executor, uint32_t index);

/* Walks everything; panics when the executor contradicts itself. */
void rt_executor_audit(const struct rt_executor *executor);

#ifdef __cplusplus
}
#endif
#endif

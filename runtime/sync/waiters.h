/*
 * waiters.h -- a queue of waiters for something that is counted.
 *
 * The common core of this folder. Waiters wait for *units*: permits of a semaphore,
 * capacity of a channel, items in it, the one right to a mutex. A unit is free, or assigned to
 * a waiter, or out of here. A waiter that finds too few joins the queue and is served in the order
 * of joining (K1, K10, K11); one that wants several collects them, and none after it gets any
 * before it has all (K10).
 *                poll: too few are free            the last unit arrives
 *      IDLE ──────────────────────────▶ QUEUED ──────────────────────────▶ GRANTED
 *       │                               ▲ │ │                                 │  │
 *       │ poll: enough     poll again   │ │ └─ woken without a unit ─▶ WOKEN  │  │ leave: the units
 *       ▼                               │ │                                   │  │ go to the next
 *      taken ◀──── poll ────────────────┼─┼───────────────────────────────────┘  ▼
 *                                       │ ▼ not awaited                         IDLE
 *                                     PASSED
 *
 * 1. *A grant is never lost* (K6). A waiter that leaves, granted or with collected units, gives
 *    all of them to the next. Every unit returns through one function, rt_waiters_give.
 * 2. *No barging.* While a waiter queues, nothing is free for others: a new one joins.
 * 3. *Dead waiters are passed over.* The end of a task empties its slots (T9). A waiter whose slot
 *    would wake no task is taken out of the queue when its turn comes, and its collected units go
 *    to the next. Should it be polled again after all (its task had parked, its future has moved),
 *    it joins at its old position, and gets back what the next one has collected there.
 * 4. *A grant is kept until it is polled or dropped.* It cannot be known whether a future that
 *    lives will be polled; so a granted one that is never polled keeps its units, and only those:
 *    later units go to others. Code that stops polling a future must drop it. A task that is
 *    cancelled drops its futures in its cleanup; one that ends without dropping has broken a rule:
 *    a queued future is passed over (3), but what it was granted is gone until the future is
 *    dropped, and the end of the primitive is fault RT_E_IN_USE.
 * 5. *All units are assigned before any task is woken* (W7). A wake may poll, drop, release, close.
 *
 * Ownership. A waiter is embedded in a future, and pinned from the first poll until READY or drop.
 * The queue is unbounded, and leaving it costs O(1).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SYNC_WAITERS_H
#define RT_SYNC_WAITERS_H

#include "runtime/base/assert.h"
#include "runtime/task/budget.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Units that may be free or assigned at a time; sums of two still fit. */
#define RT_UNITS_MAX UINT32_C(0x7fffffff)

struct rt_waiters {
    struct rt_list line;     /* QUEUED, by ticket. */
    struct rt_list resolved; /* GRANTED and WOKEN: out of the queue, not polled since. */
    uint64_t next_ticket;
    uint64_t called;   /* Waiters with a smaller ticket had queued when all were woken last. */
    uint32_t free;     /* Invariant: 0 while an awaited waiter queues. */
    uint32_t assigned; /* Held by waiters of both lists. */
    uint32_t passed;   /* PASSED: in no list, and not dropped. */
    uint32_t object;   /* For traces: what is waited for. */
};

enum rt_waiter_state {
    RT_WAITER_IDLE,    /* Not polled yet, or done. */
    RT_WAITER_QUEUED,  /* In the queue. */
    RT_WAITER_GRANTED, /* Has all that it wants; its next poll takes it. */
    RT_WAITER_WOKEN,   /* Woken without a unit: by a close, a broadcast. */
    RT_WAITER_PASSED   /* Was in the queue; its turn came when no task awaited it. */
};

struct rt_waiter {
    struct rt_list link; /* In `line` while QUEUED, in `resolved` while GRANTED or WOKEN. Not
                          * initialised while IDLE; nor are the ticket and the slot. */
    enum rt_waiter_state state;
    uint32_t wanted;
    uint32_t held;   /* Collected so far. */
    uint64_t ticket; /* Its position: smaller goes first. Kept until READY. */
    struct rt_slot slot;
};

/* A queue with `free` units, for the object numbered `object` in traces. */
void rt_waiters_init(struct rt_waiters *waiters, uint32_t object, uint32_t free);

/* Ends it. A waiter queued, or granted and not polled: fault RT_E_IN_USE, naming `who`. */
void rt_waiters_fini(struct rt_waiters *waiters, const char *who);

/* True, and `units` are the caller's, when so many are free and no waiter queues for them. */
bool rt_waiters_take(struct rt_waiters *waiters, uint32_t units);

/* Gives what is free to queued waiters; for rt_waiters_give. */
void rt__waiters_settle(struct rt_waiters *waiters, const struct rt_site *await);

/* `units` are returned, or new: queued waiters get them, the rest is free. */
static inline void
rt_waiters_give(struct rt_waiters *waiters, uint32_t units, const struct rt_site *await)
{
    rt_assert(units <= RT_UNITS_MAX - waiters->free - waiters->assigned);
    waiters->free += units;
    if (!rt_list_empty(&waiters->line)) {
        rt__waiters_settle(waiters, await);
    }
}

/* Wakes all queued waiters, without a unit, in their order; returns how many. What they had
 * collected is free again: for a close, after which none can be served, and for broadcasts. */
uint32_t rt_waiters_wake_all(struct rt_waiters *waiters, const struct rt_site *await);

/* As rt_waiters_wake_all, in an order that the executor may choose (rt_executor_choose). */
uint32_t rt_waiters_wake_all_chosen(struct rt_waiters *waiters, const struct rt_site *await);

/*
 * There are no units any more, free or assigned (a channel was cleared). A waiter that was granted
 * some finds none at its poll, and queues again at its old position (K7).
 */
void rt_waiters_revoke(struct rt_waiters *waiters);

/* True when no waiter queues and none is resolved: the memory is not in use. */
static inline bool
rt_waiters_idle(const struct rt_waiters *waiters)
{
    return rt_list_empty(&waiters->line) && rt_list_empty(&waiters->resolved);
}

/* True when a waiter that is still awaited queues. Changes nothing: for audits. */
bool rt_waiters_queueing(const struct rt_waiters *waiters);

/* A waiter that wants `wanted` units: 0 is served at once. */
static inline void
rt_waiter_init(struct rt_waiter *waiter, uint32_t wanted)
{
    rt_assert(wanted <= RT_UNITS_MAX);
    waiter->state = RT_WAITER_IDLE;
    waiter->wanted = wanted;
    waiter->held = 0;
}

/* rt_waiter_poll where a waiter queues, or will. */
rt_poll rt__waiter_poll(struct rt_waiter *waiter, struct rt_waiters *waiters, struct rt_cx *cx,
        const char *reason, const struct rt_site *site, const struct rt_site *await);

/*
 * READY: the units are the caller's, and the waiter is IDLE. PENDING: it queues, and the waker of
 * `cx` is stored (another one is replaced, W11); a queued one is not queued twice (K7). With the
 * budget used up (D12) PENDING as well, and nothing has changed: what was granted stays so.
 */
static inline rt_poll
rt_waiter_poll(struct rt_waiter *waiter, struct rt_waiters *waiters, struct rt_cx *cx,
        const char *reason, const struct rt_site *site, const struct rt_site *await)
{
    RT_AWAIT(rt_budget_take_at(cx, await));
    bool quiet = waiter->state == RT_WAITER_IDLE && rt_list_empty(&waiters->line);
    if (quiet && waiters->free >= waiter->wanted) {
        waiters->free -= waiter->wanted;
        return RT_READY;
    }
    return rt__waiter_poll(waiter, waiters, cx, reason, site, await);
}

/* Whether all were woken since it queued: also where its turn came when no task awaited it, as its
 * task was about to store another waker (W11). */
static inline bool
rt_waiter_was_called(const struct rt_waiter *waiter, const struct rt_waiters *waiters)
{
    return waiter->state == RT_WAITER_WOKEN ||
           (waiter->state == RT_WAITER_PASSED && waiter->ticket < waiters->called);
}

/* Stops waiting: its units go to the next (K6). At any time, also twice. */
void rt_waiter_leave(
        struct rt_waiter *waiter, struct rt_waiters *waiters, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif

/*
 * ticker.h -- a runtime that a game calls once a tick.
 *
 *        game ── events ──▶ ┌─────────── rt_ticker ────────────┐
 *                           │ timers ─┐                        │
 *                           │ events ─┴▶ mark ──▶ executor ──┐ │
 *        game ── tick ────▶ │              ▲    (in batches) │ │
 *                           │              └── activities ◀──┘ │
 *                           └──────────────────────────────────┘
 *
 * One tick (G12):
 *   1. The tick number goes up.
 *   2. Tick timers that have elapsed mark their activities.
 *   3. Events that were posted since the last tick go to their subscribers, and mark them.
 *   4. The activities that are ready now are polled, each once, in the order in which they were
 *      marked (G1, G2). One marked, woken or spawned meanwhile is polled in the next tick.
 *
 * An activity is marked by its weak reference: by a timer, an event, its waker, or rt_mark_ready.
 * A dead one is passed over without an error, and the game need not care (G3).
 *
 * Executor. The ticker borrows one whose policy is an rt_sched_batch. A parked activity holds no
 * entry of it, so it needs as many entries as there can be activities, besides those for
 * sub-wakers: a mark that finds none is fault RT_E_FULL. Plain tasks may be posted to it as well;
 * they are polled in the same batches.
 *
 * Ownership. Borrows executor, batch, arrays, and each activity from spawn to its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TICK_TICKER_H
#define RT_TICK_TICKER_H

#include "runtime/task/executor.h"
#include "runtime/tick/activity.h"
#include "runtime/tick/batch.h"
#include "runtime/tick/timer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_ticker_config {
    struct rt_executor *executor; /* With `batch` as its policy, or below it. */
    struct rt_sched_batch *batch;
    struct rt_slab_entry *entries; /* One for each activity that can be alive. */
    uint32_t capacity;
    struct rt_event *events; /* For events posted between two ticks; NULL with 0. */
    uint32_t events_capacity;
};

struct rt_ticker {
    uint32_t magic;
    bool ticking;
    struct rt_executor *executor;
    struct rt_sched_batch *batch;
    struct rt_slab activities;
    uint64_t tick; /* Ticks begun so far: the number of the one that runs, or ran last. */
    struct rt_tick_timers timers;
    struct rt_event_sink posted;
    struct rt_list subscriptions; /* In the order in which they were made. */
};

/* What one tick did. */
struct rt_tick_result {
    uint32_t elapsed; /* Timers. */
    uint32_t events;  /* Taken from what was posted. */
    uint32_t polled;
};

/* Makes a ticker at tick 0. `config` is copied; what it points at is borrowed. */
void rt_ticker_init(struct rt_ticker *ticker, const struct rt_ticker_config *config);

/* True when no activity is alive, no timer started and no subscription made. */
bool rt_ticker_idle(const struct rt_ticker *ticker);

/* Ends it. Not idle: fault RT_E_IN_USE. */
void rt_ticker_fini(struct rt_ticker *ticker);

/* Drops every activity, parked ones too, in the order of their indices. */
#define rt_ticker_drop_all(ticker) rt_ticker_drop_all_at((ticker), RT_HERE)
void rt_ticker_drop_all_at(struct rt_ticker *ticker, const struct rt_site *await);

/* One tick. *ret_result may be NULL. RT_E_REENTERED from inside a poll or a tick. */
#define rt_tick(ticker, ret_result) rt_tick_at((ticker), (ret_result), RT_HERE)
RT_MUST_CHECK rt_err rt_tick_at(
        struct rt_ticker *ticker, struct rt_tick_result *ret_result, const struct rt_site *await);

/* ---- Activities, by weak reference. ---------------------------------------------------------- */

/*
 * Gives `activity` an id, which it knows from now on, and marks it: it is polled for the first time
 * in the next tick that begins (G4). RT_E_POSTED when it is alive; RT_E_FULL when ticker or
 * executor has no entry left; RT_E_CLOSED after rt_terminate. Nothing has changed then.
 */
#define rt_spawn(ticker, activity) rt_spawn_at((ticker), (activity), RT_HERE)
RT_MUST_CHECK rt_err rt_spawn_at(
        struct rt_ticker *ticker, struct rt_activity *activity, const struct rt_site *await);

/* The activity, to be used now and not kept; NULL once it has ended. */
struct rt_activity *rt_upgrade(const struct rt_ticker *ticker, struct rt_key id);

/* It is polled in the next batch. Marked already: still once (G2). False: it is dead. */
#define rt_mark_ready(ticker, id) rt_mark_ready_at((ticker), (id), RT_HERE)
bool rt_mark_ready_at(struct rt_ticker *ticker, struct rt_key id, const struct rt_site *await);

/* Ends it as rt_activity_drop does. False: it was dead. */
#define rt_cancel(ticker, id) rt_cancel_at((ticker), (id), RT_HERE)
bool rt_cancel_at(struct rt_ticker *ticker, struct rt_key id, const struct rt_site *await);

/* How many activities are alive, parked ones included. */
uint32_t rt_ticker_alive(const struct rt_ticker *ticker);

/* ---- Events. --------------------------------------------------------------------------------- */

/*
 * Puts `event` into the sink of `id`, then marks it (G5). RT_E_STALE: it is dead (G6). RT_E_FULL:
 * its sink is full; the event is dropped, and the activity marked, as it has unread events. The
 * event may be a compound literal: `&(struct rt_event){.kind = K, .subject = S}`.
 */
#define rt_event_push(ticker, id, ...) rt_event_push_at((ticker), (id), (__VA_ARGS__), RT_HERE)
RT_MUST_CHECK rt_err rt_event_push_at(struct rt_ticker *ticker, struct rt_key id,
        const struct rt_event *event, const struct rt_site *await);

/* Posts `event` for the subscribers at the beginning of the next tick. RT_E_FULL: dropped. */
#define rt_event_post(ticker, ...) rt_event_post_at((ticker), (__VA_ARGS__), RT_HERE)
RT_MUST_CHECK rt_err rt_event_post_at(
        struct rt_ticker *ticker, const struct rt_event *event, const struct rt_site *await);

/* Subscribes an activity to the events of one subject. Pinned while it is made. */
struct rt_subscription {
    struct rt_list link;
    struct rt_key id;
    uint32_t subject;
    uint32_t posted; /* The number of the sink that its events are posted to. */
    uint64_t kinds;  /* One bit for each kind. */
    struct rt_defer cancel;
};

/* A subscription that is not made. */
void rt_subscription_init(struct rt_subscription *subscription);

/* Makes it for `activity`, and defers its end to `scope`. Made already: fault RT_E_IN_USE. */
#define rt_subscribe(subscription, activity, scope, subject, kinds) \
    rt_subscribe_at((subscription), (activity), (scope), (subject), (kinds), RT_HERE)
void rt_subscribe_at(struct rt_subscription *subscription, const struct rt_activity *activity,
        struct rt_scope *scope, uint32_t subject, uint64_t kinds, const struct rt_site *await);

/* Ends it early. True iff it was made. */
#define rt_unsubscribe(subscription) rt_unsubscribe_at((subscription), RT_HERE)
bool rt_unsubscribe_at(struct rt_subscription *subscription, const struct rt_site *await);

/* Walks everything; panics when the ticker contradicts itself. */
void rt_ticker_audit(const struct rt_ticker *ticker);

#ifdef __cplusplus
}
#endif
#endif

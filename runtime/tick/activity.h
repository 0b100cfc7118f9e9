/*
 * activity.h -- a task of a game: named by an id, sent events, cleaned up when dropped.
 *
 *      struct wander { struct rt_activity activity; ... };
 *
 *      static rt_poll wander_poll(struct rt_activity *activity, struct rt_cx *cx);
 *      rt_activity_init(&wander->activity, wander_poll, NULL, "wander");
 *      rt_spawn(&ticker, &wander->activity);          // ticker.h
 *
 * References. The owner has the memory, all others an id: a *weak reference*, which answers
 * nothing once the activity has ended, even when the memory was reused (G3). The activity knows its
 * own id before its first poll (G4); as that is weak too, no activity can keep itself alive, and
 * the owner's drop ends it whatever references exist (G11).
 *
 * Clean-ups. What the activity holds while it waits (a timer, a path, a subscription) is
 * deferred to its scope. The scope ends when the activity does, by itself or not, and before the
 * call that cancels it returns; of one that cancels itself, when its poll returns (G10).
 *
 * Waiting. An activity that waits to be marked, by an event or a tick timer, answers RT_PARKED: it
 * is not polled before it is marked (G7). RT_AWAIT returns RT_PARKED to the caller. One that has
 * *also* stored its waker in a slot answers RT_PENDING, for parking nulls its wakers (T13); it can
 * be marked all the same.
 *
 * Sub-activities. A part of an activity that is one itself, as `goto` is of `wander`: polled by its
 * parent, with a separate scope inside the parent's. It can fail, and it can be dropped.
 *
 * Ownership. The owner has the memory; it is pinned from rt_spawn to the end of the activity. Its
 * `cleanup`, called after the scope has ended, may free it or spawn it again (T10).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TICK_ACTIVITY_H
#define RT_TICK_ACTIVITY_H

#include "runtime/base/slab.h"
#include "runtime/task/cx.h"
#include "runtime/task/scope.h"
#include "runtime/tick/event.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_activity;
struct rt_ticker;

typedef rt_poll (*rt_activity_fn)(struct rt_activity *activity, struct rt_cx *cx);
typedef void (*rt_activity_cleanup_fn)(struct rt_activity *activity);

struct rt_activity {
    struct rt_task task;
    rt_activity_fn poll;
    rt_activity_cleanup_fn cleanup; /* NULL: nothing to do. */
    struct rt_ticker *ticker;       /* Since rt_spawn. */
    struct rt_key id;               /* {0, 0} while it is not alive. */
    struct rt_scope scope;
    struct rt_event_sink sink;
    uint64_t heard; /* Of the events that went in, those before its last poll began. */
};

/*
 * Makes an activity that is not alive, with a sink that refuses every event. `cleanup` may be NULL;
 * `name` is borrowed ("activity" when NULL). Not while it is alive: rt_activity_fini first.
 */
void rt_activity_init(struct rt_activity *activity, rt_activity_fn poll,
        rt_activity_cleanup_fn cleanup, const char *name);

/* Gives it memory for `capacity` events; before rt_spawn. */
void rt_activity_lend_events(struct rt_activity *activity, struct rt_event *events,
        uint32_t capacity, enum rt_sink_full full);

/* Ends the use of its memory. Of one that is alive: fault RT_E_IN_USE (T11). */
void rt_activity_fini(struct rt_activity *activity);

/* The weak reference to it; {0, 0} while it is not alive. */
static inline struct rt_key
rt_activity_id(const struct rt_activity *activity)
{
    return activity->id;
}

static inline bool
rt_activity_alive(const struct rt_activity *activity)
{
    return activity->id.generation != 0;
}

/* The owner releases it: it ends now, with its clean-ups, or, where it drops itself, when its poll
 * returns (G10, G11). Not alive: no-op. */
#define rt_activity_drop(activity) rt_activity_drop_at((activity), RT_HERE)
void rt_activity_drop_at(struct rt_activity *activity, const struct rt_site *await);

/* The activity whose poll this is. Of a task that is none: fault RT_E_INVALID. */
struct rt_activity *rt_activity_of(const struct rt_cx *cx);

/* Takes its oldest event. False: there is none. Never waits. */
#define rt_event_pop(activity, ret_event) rt_event_sink_pop(&(activity)->sink, (ret_event))

/* READY with the next event of the activity that is polled; parks until there is one. It needs no
 * state between polls: a spurious poll finds no event and parks again (G5). */
#define rt_next_event(cx, ret_event) rt_next_event_at((cx), (ret_event), RT_HERE)
rt_poll rt_next_event_at(struct rt_cx *cx, struct rt_event *ret_event, const struct rt_site *await);

/* Parks once: PARKED at the first poll, READY at the second, whatever marked the activity; a third
 * is fault RT_E_FINISHED (G7). All zero: initialised. */
struct rt_park {
    uint32_t polls;
};
rt_poll rt_park_poll(struct rt_park *park, struct rt_cx *cx);

struct rt_subactivity;
typedef rt_poll (*rt_subactivity_fn)(struct rt_subactivity *sub, struct rt_cx *cx);

struct rt_subactivity {
    struct rt_scope scope;
    rt_subactivity_fn poll;
    const char *name;
    rt_err error; /* How it ended; RT_OK until rt_sub_fail. */
    bool begun;
};

/* Makes a sub-activity that is not begun. `name` is borrowed ("sub-activity" when NULL). One that
 * has ended may be initialised again; not one in between. */
void rt_sub_init(struct rt_subactivity *sub, rt_subactivity_fn poll, const char *name);

/*
 * Polls it; at the first poll its scope enters `outer`, that of its parent. READY: its scope has
 * ended, and `error` is the result. A poll after that, or after it was dropped, is fault
 * RT_E_FINISHED (T20).
 */
rt_poll rt_sub_poll(struct rt_subactivity *sub, struct rt_scope *outer, struct rt_cx *cx);

/* For its poll function: `return rt_sub_fail(sub, error);` */
rt_poll rt_sub_fail(struct rt_subactivity *sub, rt_err error);

/* Interrupts it: what it holds is given back, the innermost first. Ended already: no-op. */
void rt_sub_drop(struct rt_subactivity *sub);

#ifdef __cplusplus
}
#endif
#endif

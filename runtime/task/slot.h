/*
 * slot.h -- stores one waker until its event comes.
 *
 * Everything a task can wait for has a slot. Storing needs no allocation: the slot
 * is linked into the task that polled, so that the end of the task empties it
 * (T9), and it keeps the reason and the source line, so that a report can print
 * what a blocked task waits for.
 *
 *      task ──slots──▶ slot ──▶ slot ──▶ slot        one list per task
 *                       │waker   │waker   │waker     the task's own, or a sub-waker
 *
 * rt_slot_store is for a slot with one rightful waiter: another one is refused
 * (W5). rt_slot_replace is for futures that move: only the last task to poll is
 * woken (W11).
 *
 * Ownership. A slot is embedded in its owner and pinned while it holds a waker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TASK_SLOT_H
#define RT_TASK_SLOT_H

#include "runtime/base/error.h"
#include "runtime/base/list.h"
#include "runtime/task/waker.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_cx;

struct rt_slot {
    struct rt_object object;
    uint32_t owner;           /* For traces: the object that is waited for; 0: the slot itself. */
    uint32_t whose;           /* For traces: the object that the stored waker wakes. */
    struct rt_list task_link; /* Linked exactly while a waker is stored. */
    struct rt_waker waker;    /* Null while empty. */
    const char *reason;       /* Why, for people; static or outliving the store. */
    const struct rt_site *site;
    const struct rt_site *await;
};

/* Makes an empty slot. */
void rt_slot_init(struct rt_slot *slot);

/* Empties it without a wake (W8). The slot may be freed afterwards. */
#define rt_slot_fini(slot) rt_slot_clear_at((slot), RT_HERE)

/*
 * Stores a waker of `cx` (W5). Empty: stored. The same target: kept, with the newer reason.
 * Another: RT_E_BUSY, slot unchanged; but a waker whose target is gone is replaced.
 * `reason` is borrowed until the slot is empty.
 */
#define rt_slot_store(slot, cx, reason) rt_slot_store_at((slot), (cx), (reason), RT_HERE, RT_HERE)
RT_MUST_CHECK rt_err rt_slot_store_at(struct rt_slot *slot, struct rt_cx *cx, const char *reason,
        const struct rt_site *site, const struct rt_site *await);

/* As rt_slot_store, but another target's waker is dropped for the new one (W11). */
#define rt_slot_replace(slot, cx, reason) \
    rt_slot_replace_at((slot), (cx), (reason), RT_HERE, RT_HERE)
void rt_slot_replace_at(struct rt_slot *slot, struct rt_cx *cx, const char *reason,
        const struct rt_site *site, const struct rt_site *await);

/* Empties the slot, then wakes the waker that was in it (W6). True when there was one. */
#define rt_slot_wake(slot) rt_slot_wake_at((slot), RT_HERE)
bool rt_slot_wake_at(struct rt_slot *slot, const struct rt_site *await);

/* Empties the slot without a wake. True when there was a waker. */
#define rt_slot_clear(slot) rt_slot_clear_at((slot), RT_HERE)
bool rt_slot_clear_at(struct rt_slot *slot, const struct rt_site *await);

/* Takes the waker out without a wake; the caller owns it now (null when there was none). */
#define rt_slot_take(slot) rt_slot_take_at((slot), RT_HERE)
struct rt_waker rt_slot_take_at(struct rt_slot *slot, const struct rt_site *await);

static inline bool
rt_slot_empty(const struct rt_slot *slot)
{
    return rt_waker_is_null(&slot->waker);
}

/*
 * Whether a wake would reach a target. False for an empty slot, which the end of a task leaves
 * (T9), and for the waker of a combinator that is gone. What is granted to one of several waiters
 * must not go to such a slot: it would be lost.
 */
bool rt_slot_awaited(const struct rt_slot *slot);

#ifdef __cplusplus
}
#endif
#endif

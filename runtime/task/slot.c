/*
 * slot.c -- storing a waker, and the four ways in which a slot becomes empty.
 *
 *      store, replace      empty -> full          STORE
 *      the same again      full  -> full          KEEP
 *      another             full  -> full          REPLACE, STORE   (replace only)
 *      wake                full  -> empty, wake   FIRE
 *      clear, take, end    full  -> empty         ERASE
 *
 * Every change of a slot is finished before a foreign waker is called: its clone
 * comes before the change, its wake or drop after (W6, W7).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/slot.h"

#include "runtime/task/cx.h"
#include "runtime/task/internal.h"

#include "runtime/base/banned.h"

/* A common mistake in C, and it should not read like a bug of the runtime. */
static inline void
check_slot(const struct rt_slot *slot)
{
    rt_assert(slot != NULL);
    if (__builtin_expect(slot->object.magic != RT__SLOT_MAGIC, 0)) {
        rt_fault(RT_E_INVALID, NULL,
                slot->object.magic == RT__SLOT_FREED
                        ? "a slot was used after its memory was freed"
                        : "a slot was used that rt_slot_init never made");
    }
}

/* For traces: the object that is waited for. */
static inline uint32_t
shown_as(const struct rt_slot *slot)
{
    return slot->owner != 0 ? slot->owner : slot->object.id;
}

/* Drops a counted waker that the slot held; the executor's own wakers are not counted here. */
static void
release(struct rt_waker *waker, const struct rt_site *await)
{
    if (!rt_waker_is_null(waker) && !rt__waker_is_local(waker)) {
        rt_waker_drop_at(waker, await);
    }
}

/* Empties the slot and returns what was in it, as it was held. */
static inline struct rt_waker
empty(struct rt_slot *slot)
{
    rt_assert(rt_slot_empty(slot) == rt_list_empty(&slot->task_link));
    struct rt_waker waker = slot->waker;
    rt_list_unlink(&slot->task_link);
    slot->waker = RT_WAKER_NULL;
    slot->whose = 0;
    slot->reason = NULL;
    slot->site = NULL;
    slot->await = NULL;
    return waker;
}

static inline void
note(struct rt_slot *slot, const char *reason, const struct rt_site *site,
        const struct rt_site *await)
{
    slot->reason = reason;
    slot->site = site;
    slot->await = await;
}

/* A waker of `cx` as a slot holds it, and for traces, what it wakes: mostly the task itself, which
 * needs no lookup. */
static inline struct rt_waker
hold(const struct rt_cx *cx, uint32_t *ret_whose, const struct rt_site *await)
{
    if (__builtin_expect(rt__cx_is_own(cx), 1)) {
        *ret_whose = cx->task->target.name;
        return cx->waker;
    }
    const struct rt_target *target = rt__waker_target(&cx->waker);
    *ret_whose = target != NULL ? target->name : 0;
    return rt__waker_is_local(&cx->waker) ? cx->waker : rt_waker_clone_at(&cx->waker, await);
}

/* Puts `waker`, held as a slot holds it, into the empty slot. */
static inline void
fill(struct rt_slot *slot, struct rt_task *task, struct rt_waker waker, uint32_t whose)
{
    rt_assert(!rt_waker_is_null(&waker));
    rt_assert(rt_slot_empty(slot));
    rt_assert(rt_list_empty(&slot->task_link));
    slot->waker = waker;
    slot->whose = whose;
    rt_list_push_back(&task->slots, &slot->task_link);
}

/* The slot has it already. The task may differ, when a future has moved with its waker. */
static inline void
keep(struct rt_slot *slot, struct rt_cx *cx, const char *reason, const struct rt_site *site,
        const struct rt_site *await)
{
    rt_assert(!rt_slot_empty(slot));
    rt_assert(!rt_list_empty(&slot->task_link));
    rt_list_unlink(&slot->task_link);
    rt_list_push_back(&cx->task->slots, &slot->task_link);
    note(slot, reason, site, await);
    RT_PROBE_REASON(reason);
    RT_PROBE(KEEP, shown_as(slot), site, await, slot->whose);
}

/* Stores the waker of `cx`, whatever was there. */
static RT_HOT void
put(struct rt_slot *slot, struct rt_cx *cx, const char *reason, const struct rt_site *site,
        const struct rt_site *await)
{
    uint32_t whose;
    struct rt_waker waker = hold(cx, &whose, await);
    struct rt_waker old = RT_WAKER_NULL;
    if (!rt_slot_empty(slot)) {
        RT_PROBE(REPLACE, shown_as(slot), site, await, slot->whose);
        old = empty(slot);
    }
    fill(slot, cx->task, waker, whose);
    note(slot, reason, site, await);
    RT_PROBE_REASON(reason);
    RT_PROBE(STORE, shown_as(slot), site, await, slot->whose);
    release(&old, await);
}

/* A waker whose target is gone does not block the slot. */
static bool
holder_is_gone(const struct rt_slot *slot)
{
    return rt__waker_is_local(&slot->waker) && rt__waker_target(&slot->waker) == NULL;
}

static inline void
check_store(const struct rt_slot *slot, const struct rt_cx *cx)
{
    check_slot(slot);
    rt_cx_check(cx);
    rt_assert(!rt_waker_is_null(&cx->waker));
    rt_assert(cx->task != NULL);
}

void
rt_slot_init(struct rt_slot *slot)
{
    rt_assert(slot != NULL);
    *slot = (struct rt_slot){
            .object = {RT__SLOT_MAGIC, RT_PROBE_OBJECT(SLOT)},
            .waker = RT_WAKER_NULL,
    };
    rt_list_init(&slot->task_link);
}

rt_err
rt_slot_store_at(struct rt_slot *slot, struct rt_cx *cx, const char *reason,
        const struct rt_site *site, const struct rt_site *await)
{
    check_store(slot, cx);
    if (rt_waker_will_wake(&slot->waker, &cx->waker)) {
        keep(slot, cx, reason, site, await);
        return RT_OK;
    }
    if (!rt_slot_empty(slot) && !holder_is_gone(slot)) {
        return RT_E_BUSY;
    }
    put(slot, cx, reason, site, await);
    return RT_OK;
}

void
rt_slot_replace_at(struct rt_slot *slot, struct rt_cx *cx, const char *reason,
        const struct rt_site *site, const struct rt_site *await)
{
    check_store(slot, cx);
    if (rt_waker_will_wake(&slot->waker, &cx->waker)) {
        keep(slot, cx, reason, site, await);
    } else {
        put(slot, cx, reason, site, await);
    }
}

/* rt__slot_detach, after the check. */
static RT_HOT struct rt__detached
detach(struct rt_slot *slot)
{
    struct rt__detached detached = {RT_WAKER_NULL, shown_as(slot), slot->whose};
    detached.waker = empty(slot);
    rt_assert(rt_slot_empty(slot));
    rt_assert(rt_list_empty(&slot->task_link));
    return detached;
}

struct rt__detached
rt__slot_detach(struct rt_slot *slot)
{
    check_slot(slot);
    if (rt_slot_empty(slot)) {
        return (struct rt__detached){RT_WAKER_NULL, 0, 0}; /* Most tasks have no joiner. */
    }
    return detach(slot);
}

/* rt__slot_fire, where there is a waker. */
static inline void
fire(struct rt__detached *detached, const struct rt_site *await)
{
    RT_PROBE(FIRE, detached->object, RT_HERE, await, detached->whose);
    if (rt__waker_is_local(&detached->waker)) {
        uintptr_t word = detached->waker.data;
        struct rt_executor *executor = rt__waker_executor(&detached->waker);
        rt__target_wake(rt__target_lookup(executor, word), word, await);
    } else {
        rt_waker_wake_at(&detached->waker, await);
    }
}

void
rt__slot_fire(struct rt__detached *detached, const struct rt_site *await)
{
    if (!rt_waker_is_null(&detached->waker)) {
        fire(detached, await);
    }
}

bool
rt_slot_wake_at(struct rt_slot *slot, const struct rt_site *await)
{
    check_slot(slot);
    if (rt_slot_empty(slot)) {
        RT_PROBE(FIRE_EMPTY, shown_as(slot), RT_HERE, await, 0);
        return false;
    }
    struct rt__detached detached = detach(slot);
    fire(&detached, await);
    return true;
}

bool
rt_slot_clear_at(struct rt_slot *slot, const struct rt_site *await)
{
    check_slot(slot);
    if (rt_slot_empty(slot)) {
        return false;
    }
    RT_PROBE(ERASE, shown_as(slot), RT_HERE, await, slot->whose);
    struct rt_waker waker = empty(slot);
    release(&waker, await);
    return true;
}

struct rt_waker
rt_slot_take_at(struct rt_slot *slot, const struct rt_site *await)
{
    check_slot(slot);
    if (rt_slot_empty(slot)) {
        return RT_WAKER_NULL;
    }
    RT_PROBE(ERASE, shown_as(slot), RT_HERE, await, slot->whose);
    struct rt_waker waker = empty(slot);
    /* The slot held a local one without a count; the new owner must have one. */
    return rt__waker_is_local(&waker) ? rt_waker_clone_at(&waker, await) : waker;
}

bool
rt_slot_awaited(const struct rt_slot *slot)
{
    check_slot(slot);
    return !rt_slot_empty(slot) && !holder_is_gone(slot);
}

void
rt__slots_erase(struct rt_list *slots, const struct rt_site *await)
{
    /* Always the first: a foreign drop may have changed the list. */
    while (!rt_list_empty(slots)) {
        struct rt_slot *slot = rt_container_of(slots->next, struct rt_slot, task_link);
        bool had = rt_slot_clear_at(slot, await);
        rt_assert(had);
    }
}

/*
 * children.c -- sub-wakers: which children are to be polled, and what their wakes reach.
 *
 * The parent's waker is stored before any child is polled, and a child's bit is
 * cleared before that child is: a wake at any point of the poll then either comes
 * before the child checked, or leaves its bit set and the parent woken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/children.h"

#include "runtime/compose/internal.h"

#include "runtime/base/banned.h"

/* ---- Wakes. ---------------------------------------------------------------------------------- */

void
rt__child_mark(struct rt_child *child)
{
    rt_assert(!child->finished);
    if (!child->woken) {
        child->woken = true;
        child->parent->woken += 1;
    }
}

/*
 * Where its bit is set already, the poll that takes it is under way or the parent is woken: nothing
 * to do. Otherwise the parent is woken if it has not been since it last stored its waker.
 */
void
rt__child_wake(struct rt_child *child, const struct rt_site *await)
{
    struct rt_parent *parent = child->parent;
    RT_PROBE(SUBWAKE, parent->object.id, RT_HERE, await, (uint64_t)child->index);
    if (child->woken) {
        return;
    }
    rt__child_mark(child);
    if (!rt_slot_empty(&parent->slot)) {
        (void)rt_slot_wake_at(&parent->slot, await);
    }
}

static void
child_woken(struct rt_target *target, const struct rt_site *await)
{
    struct rt_child *child = rt_container_of(target, struct rt_child, target);
    rt_assert(child->parent->executor == target->executor);
    rt__child_wake(child, await);
}

static void
clear_bit(struct rt_child *child)
{
    if (child->woken) {
        rt_assert(child->parent->woken > 0);
        child->woken = false;
        child->parent->woken -= 1;
    }
}

/* ---- The parent. ----------------------------------------------------------------------------- */

void
rt__parent_init(struct rt_parent *parent, struct rt_object object, const char *name)
{
    rt_assert(parent != NULL);
    *parent = (struct rt_parent){.object = object, .name = name};
    rt_slot_init(&parent->slot);
    parent->slot.owner = object.id;
}

/* True at the first poll by the task of `cx`, whatever other tasks did before. */
static bool
take_task(struct rt_parent *parent, const struct rt_cx *cx)
{
    struct rt_key before = parent->task;
    parent->task = cx->task->target.key;
    return parent->task.index != before.index || parent->task.generation != before.generation;
}

bool
rt__parent_begin(struct rt_parent *parent, struct rt_cx *cx, const struct rt_site *site,
        const struct rt_site *await)
{
    rt_cx_check(cx);
    if (parent->executor == NULL) {
        parent->executor = cx->executor;
    }
    if (parent->executor != cx->executor) {
        rt_fault(RT_E_INVALID, parent->name, "a combinator was polled on another executor");
    }
    bool moved = take_task(parent, cx);
    bool all = moved || parent->woken == 0;
    rt_slot_replace_at(&parent->slot, cx, parent->name, site, await);
    return all;
}

void
rt__parent_leave(struct rt_parent *parent, const struct rt_site *await)
{
    (void)rt_slot_clear_at(&parent->slot, await);
}

const char *
rt__parent_audit(const struct rt_parent *parent)
{
    if (parent->woken != 0 && !rt_slot_empty(&parent->slot)) {
        return "a child was woken, and its parent still waits to hear of it";
    }
    return NULL;
}

/* ---- One child. ------------------------------------------------------------------------------ */

void
rt__child_init(struct rt_child *child, struct rt_parent *parent, uint32_t index)
{
    *child = (struct rt_child){.parent = parent, .future = child->future, .index = index};
}

struct rt_cx
rt__child_begin(struct rt_child *child, const struct rt_cx *cx)
{
    struct rt_target *target = &child->target;
    if (target->key.generation == 0) {
        target->name = child->parent->object.id;
        if (rt_target_open(target, cx->executor, child_woken) != RT_OK) {
            rt_fault(RT_E_FULL, child->parent->name, "the executor has no entry for each child");
        }
    }
    clear_bit(child);
    return rt_cx_for_child(cx, rt_target_waker(target));
}

void
rt__child_end(struct rt_child *child)
{
    rt_target_close(&child->target);
    clear_bit(child);
    child->finished = true;
}

/* ---- An array of futures. -------------------------------------------------------------------- */

void
rt__children_init(struct rt_children *children, struct rt_object object, const char *name,
        struct rt_child *array, uint32_t count)
{
    rt_assert(children != NULL);
    rt_assert(array != NULL || count == 0);
    *children = (struct rt_children){.array = array, .count = count};
    rt__parent_init(&children->parent, object, name);
    for (uint32_t i = 0; i < count; i++) {
        rt_assert(array[i].future != NULL);
        rt__child_init(&array[i], &children->parent, i);
        rt__child_mark(&array[i]);
    }
    if (count > 0) {
        RT_PROBE_AUDIT(&children->parent.object, rt__children_audit);
    }
}

/* All have finished or were dropped: the audit has nothing left to check. */
static void
finish(struct rt_children *children, struct rt_child *child)
{
    rt__child_end(child);
    children->finished += 1;
    if (children->finished == children->count) {
        rt_assert(children->parent.woken == 0);
        RT_PROBE_AUDIT(&children->parent.object, NULL);
    }
}

rt_poll
rt__children_poll(struct rt_children *children, struct rt_child *child, const struct rt_cx *cx)
{
    rt_assert(child->parent == &children->parent);
    struct rt_cx child_cx = rt__child_begin(child, cx);
    rt_poll answer = rt_future_poll(child->future, &child_cx);
    rt_cx_poison(&child_cx); /* It was for this poll only (C1). */
    if (answer == RT_READY) {
        finish(children, child);
    }
    return answer;
}

/* The parent goes first, each target before its future. */
void
rt__children_drop(struct rt_children *children, const struct rt_site *await)
{
    rt__parent_leave(&children->parent, await);
    for (uint32_t i = 0; i < children->count; i++) {
        struct rt_child *child = &children->array[i];
        if (!child->finished) {
            finish(children, child);
            rt_future_drop(child->future);
        }
    }
}

const char *
rt__children_audit(const struct rt_object *object)
{
    const struct rt_children *children = rt_container_of(object, struct rt_children, parent.object);
    uint32_t woken = 0;
    uint32_t finished = 0;
    for (uint32_t i = 0; i < children->count; i++) {
        const struct rt_child *child = &children->array[i];
        woken += child->woken ? 1 : 0;
        finished += child->finished ? 1 : 0;
        if (child->finished && (child->woken || child->target.key.generation != 0)) {
            return "a child has finished, and can still be woken";
        }
    }
    if (woken != children->parent.woken || finished != children->finished) {
        return "the children that are woken or have finished are not as many as are counted";
    }
    return rt__parent_audit(&children->parent);
}

/*
 * join.c -- wait for all of several futures.
 *
 * The parent's waker is stored before any child is polled, and a child's bit is
 * cleared before that child is: a wake at any moment of the poll then either comes
 * before the child looked, or leaves its bit set and the parent woken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/join.h"

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

#define RT_JOIN_MAGIC 0x524a4f4eu

static struct rt_join *
join_of(struct rt_future *future)
{
    struct rt_join *join = rt_container_of(future, struct rt_join, future);
    rt_check(&join->object, RT_JOIN_MAGIC);
    return join;
}

/*
 * A child was woken. Where its bit is set already, the poll that takes it is under
 * way or the parent was told: nothing to do. Otherwise the parent is woken if it
 * has not been since it last stored its waker.
 */
static void
child_woken(struct rt_target *target, const struct rt_site *await)
{
    struct rt_join_child *child = rt_container_of(target, struct rt_join_child, target);
    struct rt_join *join = child->join;
    rt_check(&join->object, RT_JOIN_MAGIC);
    rt_assert(!child->finished);
    RT_PROBE(SUBWAKE, join->object.id, RT_HERE, await, (uint64_t)(child - join->children));
    if (child->woken) {
        return;
    }
    child->woken = true;
    join->woken += 1;
    if (!rt_slot_empty(&join->parent)) {
        (void)rt_slot_wake_at(&join->parent, await);
    }
}

static void
clear_bit(struct rt_join *join, struct rt_join_child *child)
{
    if (child->woken) {
        rt_assert(join->woken > 0);
        child->woken = false;
        join->woken -= 1;
    }
}

/* A finished child's wakers are dead (J4). */
static void
finish_child(struct rt_join *join, struct rt_join_child *child)
{
    rt_target_close(&child->target);
    clear_bit(join, child);
    child->finished = true;
    join->finished += 1;
}

static void
poll_child(struct rt_join *join, struct rt_join_child *child, const struct rt_cx *cx)
{
    struct rt_cx child_cx = rt_cx_for_child(cx, rt_target_waker(&child->target));
    clear_bit(join, child);
    rt_poll answer = rt_future_poll(child->future, &child_cx);
    rt_cx_poison(&child_cx); /* It was for this poll only (C1). */
    if (answer == RT_READY) {
        finish_child(join, child);
    }
}

/* Opens one target a child, at the first poll: only then is the executor known. */
static void
open_targets(struct rt_join *join, struct rt_executor *executor)
{
    if (join->executor != NULL) {
        if (join->executor != executor) {
            rt_fault(RT_E_INVALID, join->future.name, "a join was polled on another executor");
        }
        return;
    }
    join->executor = executor;
    for (uint32_t i = 0; i < join->count; i++) {
        struct rt_target *target = &join->children[i].target;
        target->name = join->object.id;
        if (rt_target_open(target, executor, child_woken) != RT_OK) {
            rt_fault(RT_E_FULL, join->future.name, "the executor has no entry for each child");
        }
    }
}

/* True when it is the first poll by the task of `cx`, whatever others did before. */
static bool
take_task(struct rt_join *join, const struct rt_cx *cx)
{
    struct rt_key before = join->task;
    join->task = cx->task->target.key;
    return join->task.index != before.index || join->task.generation != before.generation;
}

static rt_poll
poll_children(struct rt_join *join, struct rt_cx *cx, const struct rt_site *await)
{
    open_targets(join, cx->executor);
    bool moved = take_task(join, cx);
    bool all = moved || join->woken == 0;
    rt_slot_replace_at(&join->parent, cx, "join", RT_HERE, await);
    for (uint32_t i = 0; i < join->count; i++) {
        struct rt_join_child *child = &join->children[i];
        if (!child->finished && (all || child->woken)) {
            poll_child(join, child, cx);
        }
    }
    if (join->finished < join->count) {
        return RT_PENDING;
    }
    rt_assert(join->woken == 0);
    (void)rt_slot_clear_at(&join->parent, await);
    return RT_READY;
}

/* As somebody's child. The line that awaits is not known then. */
static rt_poll
future_poll(struct rt_future *future, struct rt_cx *cx)
{
    return poll_children(join_of(future), cx, NULL);
}

/* Nobody hears what the dropping wakes: the parent goes first, each target before its child. */
static void
future_drop(struct rt_future *future)
{
    struct rt_join *join = join_of(future);
    (void)rt_slot_clear_at(&join->parent, NULL);
    for (uint32_t i = 0; i < join->count; i++) {
        struct rt_join_child *child = &join->children[i];
        if (!child->finished) {
            finish_child(join, child);
            rt_future_drop(child->future);
        }
    }
}

void
rt_join_init(struct rt_join *join, struct rt_join_child *children, uint32_t count)
{
    rt_assert(join != NULL);
    rt_assert(children != NULL || count == 0);
    *join = (struct rt_join){
            .object = {RT_JOIN_MAGIC, RT_PROBE_OBJECT(JOIN)},
            .children = children,
            .count = count,
            .woken = count,
    };
    rt_future_init(&join->future, future_poll, future_drop, "join");
    rt_slot_init(&join->parent);
    join->parent.owner = join->object.id;
    for (uint32_t i = 0; i < count; i++) {
        rt_assert(children[i].future != NULL);
        children[i] = (struct rt_join_child){
                .join = join,
                .future = children[i].future,
                .woken = true,
        };
    }
}

rt_poll
rt_join_poll_at(struct rt_join *join, struct rt_cx *cx, const struct rt_site *await)
{
    rt_check(&join->object, RT_JOIN_MAGIC);
    rt_cx_check(cx);
    if (join->future.finished) {
        rt_fault(RT_E_FINISHED, join->future.name, "a join was polled that is ready or given up");
    }
    rt_poll answer = poll_children(join, cx, await);
    if (answer == RT_READY) {
        join->future.finished = true;
    }
    return answer;
}

void
rt_join_drop(struct rt_join *join)
{
    rt_check(&join->object, RT_JOIN_MAGIC);
    rt_future_drop(&join->future);
}

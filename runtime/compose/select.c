/*
 * select.c -- wait until at least one of several futures is ready, and get all that are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/select.h"

#include "runtime/compose/internal.h"

#include "runtime/base/banned.h"

#define RT_SELECT_MAGIC 0x5253454cu

static struct rt_select *
select_of(struct rt_future *future)
{
    struct rt_select *select = rt_container_of(future, struct rt_select, future);
    rt_check(&select->children.parent.object, RT_SELECT_MAGIC);
    return select;
}

/* A child that was ready is in this poll's set, and in no later one. */
static rt_poll
poll_children(struct rt_select *select, struct rt_cx *cx, const struct rt_site *await)
{
    struct rt_children *children = &select->children;
    bool all = rt__parent_begin(&children->parent, cx, RT_HERE, await);
    select->ready = 0;
    for (uint32_t i = 0; i < children->count; i++) {
        struct rt_child *child = &children->array[i];
        child->selected =
                rt__child_due(child, all) && rt__children_poll(children, child, cx) == RT_READY;
        select->ready += child->selected ? 1 : 0;
    }
    if (select->ready == 0) {
        return RT_PENDING;
    }
    rt__parent_leave(&children->parent, await);
    return RT_READY;
}

/* As a child of another. The line that awaits is not known then. */
static rt_poll
future_poll(struct rt_future *future, struct rt_cx *cx)
{
    return poll_children(select_of(future), cx, NULL);
}

static void
future_drop(struct rt_future *future)
{
    rt__children_drop(&select_of(future)->children, NULL);
}

rt_err
rt_select_init(struct rt_select *select, struct rt_child *children, uint32_t count)
{
    rt_assert(select != NULL);
    if (count == 0) {
        return RT_E_INVALID;
    }
    struct rt_object object = {RT_SELECT_MAGIC, RT_PROBE_OBJECT(GROUP)};
    select->ready = 0;
    rt_future_init(&select->future, future_poll, future_drop, "select");
    rt__children_init(&select->children, object, "select", children, count);
    return RT_OK;
}

rt_poll
rt_select_poll_at(struct rt_select *select, struct rt_cx *cx, const struct rt_site *await)
{
    rt_check(&select->children.parent.object, RT_SELECT_MAGIC);
    rt_cx_check(cx);
    rt__future_begin(&select->future);
    return rt__future_end(&select->future, poll_children(select, cx, await));
}

bool
rt_select_has(const struct rt_select *select, uint32_t index)
{
    rt_check(&select->children.parent.object, RT_SELECT_MAGIC);
    rt_assert(index < select->children.count);
    return select->children.array[index].selected;
}

bool
rt_select_again(struct rt_select *select)
{
    rt_check(&select->children.parent.object, RT_SELECT_MAGIC);
    bool any = select->children.finished < select->children.count;
    select->future.finished = !any;
    return any;
}

void
rt_select_drop_at(struct rt_select *select, const struct rt_site *await)
{
    rt_check(&select->children.parent.object, RT_SELECT_MAGIC);
    select->future.finished = true;
    rt__children_drop(&select->children, await);
}

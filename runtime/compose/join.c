/*
 * join.c -- wait for all of several futures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/join.h"

#include "runtime/compose/internal.h"

#include "runtime/base/banned.h"

#define RT_JOIN_MAGIC 0x524a4f4eu

static struct rt_join *
join_of(struct rt_future *future)
{
    struct rt_join *join = rt_container_of(future, struct rt_join, future);
    rt_check(&join->children.parent.object, RT_JOIN_MAGIC);
    return join;
}

static rt_poll
poll_children(struct rt_children *children, struct rt_cx *cx, const struct rt_site *await)
{
    bool all = rt__parent_begin(&children->parent, cx, RT_HERE, await);
    for (uint32_t i = 0; i < children->count; i++) {
        struct rt_child *child = &children->array[i];
        if (rt__child_due(child, all)) {
            (void)rt__children_poll(children, child, cx);
        }
    }
    if (children->finished < children->count) {
        return RT_PENDING;
    }
    rt__parent_leave(&children->parent, await);
    return RT_READY;
}

/* As a child of another. The line that awaits is not known then. */
static rt_poll
future_poll(struct rt_future *future, struct rt_cx *cx)
{
    return poll_children(&join_of(future)->children, cx, NULL);
}

static void
future_drop(struct rt_future *future)
{
    rt__children_drop(&join_of(future)->children, NULL);
}

void
rt_join_init(struct rt_join *join, struct rt_child *children, uint32_t count)
{
    rt_assert(join != NULL);
    struct rt_object object = {RT_JOIN_MAGIC, RT_PROBE_OBJECT(JOIN)};
    rt_future_init(&join->future, future_poll, future_drop, "join");
    rt__children_init(&join->children, object, "join", children, count);
}

rt_poll
rt_join_poll_at(struct rt_join *join, struct rt_cx *cx, const struct rt_site *await)
{
    rt_check(&join->children.parent.object, RT_JOIN_MAGIC);
    rt_cx_check(cx);
    rt__future_begin(&join->future);
    return rt__future_end(&join->future, poll_children(&join->children, cx, await));
}

void
rt_join_drop(struct rt_join *join)
{
    rt_check(&join->children.parent.object, RT_JOIN_MAGIC);
    rt_future_drop(&join->future);
}

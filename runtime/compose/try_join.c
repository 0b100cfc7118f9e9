/*
 * try_join.c -- wait for all of several futures that may fail, or for the first failure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/try_join.h"

#include "runtime/compose/internal.h"

#include "runtime/base/banned.h"

#define RT_TRY_JOIN_MAGIC 0x5254524au

static struct rt_try_join *
try_join_of(struct rt_future *future)
{
    struct rt_try_join *join = rt_container_of(future, struct rt_try_join, future);
    rt_check(&join->children.parent.object, RT_TRY_JOIN_MAGIC);
    return join;
}

/* Whether the child, which is READY, has failed; the rest is dropped then. */
static bool
has_failed(struct rt_try_join *join, const struct rt_child *child, const struct rt_site *await)
{
    const rt_err *error = join->errors[child->index];
    if (error == NULL || *error == RT_OK) {
        return false;
    }
    join->err = *error; /* Before the drops: the pointer may be into a dropped future. */
    join->failed = child->index;
    rt__children_drop(&join->children, await);
    return true;
}

static rt_poll
poll_children(struct rt_try_join *join, struct rt_cx *cx, const struct rt_site *await)
{
    struct rt_children *children = &join->children;
    bool all = rt__parent_begin(&children->parent, cx, RT_HERE, await);
    for (uint32_t i = 0; i < children->count; i++) {
        struct rt_child *child = &children->array[i];
        if (!rt__child_due(child, all) || rt__children_poll(children, child, cx) != RT_READY) {
            continue;
        }
        if (has_failed(join, child, await)) {
            return RT_READY;
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
    return poll_children(try_join_of(future), cx, NULL);
}

static void
future_drop(struct rt_future *future)
{
    rt__children_drop(&try_join_of(future)->children, NULL);
}

void
rt_try_join_init(struct rt_try_join *join, struct rt_child *children, const rt_err *const *errors,
        uint32_t count)
{
    rt_assert(join != NULL);
    rt_assert(errors != NULL || count == 0);
    struct rt_object object = {RT_TRY_JOIN_MAGIC, RT_PROBE_OBJECT(JOIN)};
    join->errors = errors;
    join->err = RT_OK;
    join->failed = 0;
    rt_future_init(&join->future, future_poll, future_drop, "try_join");
    rt__children_init(&join->children, object, "try_join", children, count);
}

rt_poll
rt_try_join_poll_at(struct rt_try_join *join, struct rt_cx *cx, const struct rt_site *await)
{
    rt_check(&join->children.parent.object, RT_TRY_JOIN_MAGIC);
    rt_cx_check(cx);
    rt__future_begin(&join->future);
    return rt__future_end(&join->future, poll_children(join, cx, await));
}

void
rt_try_join_drop(struct rt_try_join *join)
{
    rt_check(&join->children.parent.object, RT_TRY_JOIN_MAGIC);
    rt_future_drop(&join->future);
}

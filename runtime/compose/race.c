/*
 * race.c -- wait for the first of several futures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/race.h"

#include "runtime/compose/internal.h"

#include "runtime/base/banned.h"

#define RT_RACE_MAGIC 0x52524143u

static struct rt_race *
race_of(struct rt_future *future)
{
    struct rt_race *race = rt_container_of(future, struct rt_race, future);
    rt_check(&race->children.parent.object, RT_RACE_MAGIC);
    return race;
}

/* The child with which this poll begins; the next poll's default is one further, whatever was
 * chosen now. */
static uint32_t
take_start(struct rt_race *race, const struct rt_cx *cx)
{
    uint32_t count = race->children.count;
    uint32_t usual = race->start;
    race->start = (usual + 1) % count;
    return (usual + rt_cx_choose(cx, count)) % count;
}

static rt_poll
poll_children(struct rt_race *race, struct rt_cx *cx, const struct rt_site *await)
{
    struct rt_children *children = &race->children;
    bool all = rt__parent_begin(&children->parent, cx, RT_HERE, await);
    uint32_t at = take_start(race, cx);
    for (uint32_t i = 0; i < children->count; i++) {
        struct rt_child *child = &children->array[at];
        if (rt__child_due(child, all) && rt__children_poll(children, child, cx) == RT_READY) {
            race->winner = at;
            rt__children_drop(children, await);
            return RT_READY;
        }
        at = (at + 1) % children->count;
    }
    return RT_PENDING;
}

/* As a child of another. The line that awaits is not known then. */
static rt_poll
future_poll(struct rt_future *future, struct rt_cx *cx)
{
    return poll_children(race_of(future), cx, NULL);
}

static void
future_drop(struct rt_future *future)
{
    rt__children_drop(&race_of(future)->children, NULL);
}

rt_err
rt_race_init(struct rt_race *race, struct rt_child *children, uint32_t count)
{
    rt_assert(race != NULL);
    if (count == 0) {
        return RT_E_INVALID;
    }
    struct rt_object object = {RT_RACE_MAGIC, RT_PROBE_OBJECT(GROUP)};
    race->start = 0;
    race->winner = 0;
    rt_future_init(&race->future, future_poll, future_drop, "race");
    rt__children_init(&race->children, object, "race", children, count);
    return RT_OK;
}

rt_poll
rt_race_poll_at(struct rt_race *race, struct rt_cx *cx, const struct rt_site *await)
{
    rt_check(&race->children.parent.object, RT_RACE_MAGIC);
    rt_cx_check(cx);
    rt__future_begin(&race->future);
    return rt__future_end(&race->future, poll_children(race, cx, await));
}

void
rt_race_drop(struct rt_race *race)
{
    rt_check(&race->children.parent.object, RT_RACE_MAGIC);
    rt_future_drop(&race->future);
}

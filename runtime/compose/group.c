/*
 * group.c -- any number of streams as one, with members that are added and removed.
 *
 * Nothing here wakes the group's own task when a round ends early: a bit that is still set
 * was set during the round, and then the parent was woken with it (children.h, rule 2), or
 * before it, and then a member that yielded has woken it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/group.h"

#include "runtime/compose/internal.h"
#include "runtime/task/budget.h"

#include "runtime/base/banned.h"

#define RT_GROUP_MAGIC 0x52475250u

/* Members that yielded in one round (J11). */
#define YIELDS_MAX 2u

static struct rt_group_member *
member_at(const struct rt_group *group, uint32_t index)
{
    return rt_slab_at(&group->members, index, NULL);
}

static void
check_outside_poll(const struct rt_group *group)
{
    rt_check(&group->parent.object, RT_GROUP_MAGIC);
    if (group->polling) {
        rt_fault(RT_E_REENTERED, group->parent.name,
                "a group was polled or dropped inside the poll of its member");
    }
}

/* ---- Members. -------------------------------------------------------------------------------- */

rt_err
rt_group_insert_at(struct rt_group *group, struct rt_group_member *member, struct rt_stream *stream,
        struct rt_key *ret_key, const struct rt_site *await)
{
    rt_check(&group->parent.object, RT_GROUP_MAGIC);
    rt_assert(member != NULL);
    rt_assert(stream != NULL);
    rt_assert(ret_key != NULL);
    if (group->dropped) {
        rt_fault(RT_E_FINISHED, group->parent.name, "a stream was inserted into a dropped group");
    }
    rt_err err = rt_slab_insert(&group->members, member, ret_key);
    if (err != RT_OK) {
        return err;
    }
    *member = (struct rt_group_member){.stream = stream};
    rt__child_init(&member->child, &group->parent, ret_key->index);
    rt__child_wake(&member->child, await);
    return RT_OK;
}

/* Its key is stale, its wakers are dead; the stream is as it was. */
static void
take_out(struct rt_group *group, struct rt_group_member *member, struct rt_key key)
{
    void *gone = rt_slab_remove(&group->members, key);
    rt_assert(gone == member);
    rt__child_end(&member->child);
}

bool
rt_group_remove(struct rt_group *group, struct rt_key key)
{
    rt_check(&group->parent.object, RT_GROUP_MAGIC);
    struct rt_group_member *member = rt_slab_get(&group->members, key);
    if (member == NULL) {
        return false;
    }
    if (member->polled) {
        rt_fault(RT_E_REENTERED, group->parent.name, "a member removed itself in its own poll");
    }
    take_out(group, member, key);
    rt_stream_drop(member->stream);
    return true;
}

uint32_t
rt_group_size(const struct rt_group *group)
{
    rt_check(&group->parent.object, RT_GROUP_MAGIC);
    return group->members.used;
}

/* ---- One round. ------------------------------------------------------------------------------ */

/* Every member is to be polled, in this round or, where that ends early, in the next ones. */
static void
mark_all(struct rt_group *group)
{
    for (uint32_t i = 0; i < group->members.touched; i++) {
        struct rt_group_member *member = member_at(group, i);
        if (member != NULL) {
            rt__child_mark(&member->child);
        }
    }
}

static rt_poll
poll_member(struct rt_group *group, struct rt_group_member *member, const struct rt_cx *cx,
        void **ret_item)
{
    struct rt_cx child_cx = rt__child_begin(&member->child, cx);
    group->polling = true;
    member->polled = true;
    rt_poll answer = rt_stream_poll(member->stream, &child_cx, ret_item);
    member->polled = false;
    group->polling = false;
    rt_cx_poison(&child_cx); /* It was for this poll only (C1). */
    return answer;
}

/* From `group->next` on once around, until the first item: then *ret_item is not NULL, and the key
 * is its member's. */
static void
round_trip(struct rt_group *group, const struct rt_cx *cx, struct rt_key *ret_key, void **ret_item)
{
    uint32_t entries = group->members.touched;
    uint32_t polls = group->members.used;
    uint32_t yields = 0;
    uint32_t at = group->next;
    for (uint32_t i = 0; i < entries && polls > 0 && yields < YIELDS_MAX; i++, at++) {
        at = at < entries ? at : 0;
        struct rt_group_member *member = rt_slab_at(&group->members, at, ret_key);
        if (member == NULL || !member->child.woken) {
            continue;
        }
        polls--;
        if (poll_member(group, member, cx, ret_item) == RT_PENDING) {
            yields += member->child.woken ? 1 : 0;
        } else if (*ret_item == NULL) {
            take_out(group, member, *ret_key);
        } else {
            rt__child_mark(&member->child);
            group->next = at + 1;
            return;
        }
    }
    if (yields == YIELDS_MAX) {
        group->next = at; /* Two that always yield must not shut out the others either. */
    }
}

static rt_poll
poll_members(struct rt_group *group, struct rt_cx *cx, struct rt_key *ret_key, void **ret_item,
        const struct rt_site *await)
{
    RT_AWAIT(rt_budget_take_at(cx, await));
    rt_budget_restore(cx); /* The members may need it. */
    uint32_t budget_left = rt_budget_left(cx);
    struct rt_key key = {0, 0};
    void *item = NULL;
    if (rt__parent_begin(&group->parent, cx, RT_HERE, await)) {
        mark_all(group);
    }
    round_trip(group, cx, &key, &item);
    if (item == NULL && group->members.used > 0) {
        rt_assert(rt__parent_audit(&group->parent) == NULL);
        return RT_PENDING;
    }
    rt__parent_leave(&group->parent, await);
    if (item != NULL) {
        if (rt_budget_left(cx) == budget_left) {
            /* Its member took none: one that always has an item would keep the thread (D12). */
            (void)rt_budget_take_at(cx, await);
        }
        RT_PROBE(CONSUME, group->parent.object.id, RT_HERE, await, (uint64_t)1);
    }
    if (ret_key != NULL) {
        *ret_key = item != NULL ? key : (struct rt_key){0, 0};
    }
    *ret_item = item;
    return RT_READY;
}

rt_poll
rt_group_poll_at(struct rt_group *group, struct rt_cx *cx, struct rt_key *ret_key, void **ret_item,
        const struct rt_site *await)
{
    check_outside_poll(group);
    rt_cx_check(cx);
    rt_assert(ret_item != NULL);
    if (group->dropped) {
        rt_fault(RT_E_FINISHED, group->parent.name, "a group was polled that was dropped");
    }
    return poll_members(group, cx, ret_key, ret_item, await);
}

/* ---- The whole. ------------------------------------------------------------------------------ */

static struct rt_group *
group_of(struct rt_stream *stream)
{
    return rt_container_of(stream, struct rt_group, stream);
}

/* As a stream of another. The line that awaits is not known then. */
static rt_poll
stream_poll(struct rt_stream *stream, struct rt_cx *cx, void **ret_item)
{
    return rt_group_poll_at(group_of(stream), cx, NULL, ret_item, NULL);
}

/* The drops wake no task: the parent goes first, each target before its stream. */
static void
stream_drop(struct rt_stream *stream)
{
    struct rt_group *group = group_of(stream);
    check_outside_poll(group);
    group->dropped = true;
    rt__parent_leave(&group->parent, NULL);
    for (uint32_t i = 0; i < group->members.touched; i++) {
        struct rt_key key;
        struct rt_group_member *member = rt_slab_at(&group->members, i, &key);
        if (member != NULL) {
            take_out(group, member, key);
            rt_stream_drop(member->stream);
        }
    }
    RT_PROBE_AUDIT(&group->parent.object, NULL);
}

const char *
rt__group_audit(const struct rt_object *object)
{
    const struct rt_group *group = rt_container_of(object, struct rt_group, parent.object);
    uint32_t woken = 0;
    for (uint32_t i = 0; i < group->members.touched; i++) {
        const struct rt_group_member *member = member_at(group, i);
        woken += member != NULL && member->child.woken ? 1 : 0;
    }
    if (woken != group->parent.woken) {
        return "the members that are woken are not as many as are counted";
    }
    return rt__parent_audit(&group->parent);
}

void
rt_group_init(struct rt_group *group, struct rt_slab_entry *entries, uint32_t capacity)
{
    rt_assert(group != NULL);
    struct rt_object object = {RT_GROUP_MAGIC, RT_PROBE_OBJECT(GROUP)};
    *group = (struct rt_group){.next = 0};
    rt_stream_init(&group->stream, stream_poll, stream_drop, "group");
    rt__parent_init(&group->parent, object, "group");
    rt_slab_init(&group->members, entries, capacity);
    RT_PROBE_AUDIT(&group->parent.object, rt__group_audit);
}

void
rt_group_drop(struct rt_group *group)
{
    check_outside_poll(group);
    if (!group->dropped) {
        group->stream.ended = true;
        stream_drop(&group->stream);
    }
}

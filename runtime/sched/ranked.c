/*
 * ranked.c -- priority and earliest deadline first: one heap, two readings of a rank.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sched/ranked.h"

#include <stddef.h>

#include "runtime/base/assert.h"
#include "runtime/base/list.h"

#include "runtime/base/banned.h"

static struct rt_sched_ranked *
ranked_of(struct rt_sched *sched)
{
    return rt_container_of(sched, struct rt_sched_ranked, sched);
}

static void
ranked_push(struct rt_sched *sched, uint32_t id)
{
    struct rt_sched_ranked *ranked = ranked_of(sched);
    rt_assert(id < ranked->heap.capacity);
    rt_sched_heap_push(&ranked->heap, id, ranked->keys[id]);
}

static uint32_t
ranked_pop(struct rt_sched *sched)
{
    return rt_sched_heap_pop(&ranked_of(sched)->heap);
}

static void
ranked_remove(struct rt_sched *sched, uint32_t id)
{
    (void)rt_sched_heap_remove(&ranked_of(sched)->heap, id);
}

/* A queued task goes after the others of the new key. */
static void
set_key(struct rt_sched_ranked *ranked, uint32_t id, uint64_t key)
{
    rt_assert(id < ranked->heap.capacity);
    bool queued = rt_sched_heap_remove(&ranked->heap, id);
    ranked->keys[id] = key;
    if (queued) {
        rt_sched_heap_push(&ranked->heap, id, key);
    }
}

/* Greater is sooner, and 0 last. */
static void
priority_rank(struct rt_sched *sched, uint32_t id, uint64_t rank)
{
    set_key(ranked_of(sched), id, UINT64_MAX - rank);
}

/* Smaller is sooner, but 0 is none: after them all. */
static void
edf_rank(struct rt_sched *sched, uint32_t id, uint64_t rank)
{
    set_key(ranked_of(sched), id, rank - 1);
}

static const struct rt_sched_ops priority_ops = {
        .push = ranked_push,
        .pop = ranked_pop,
        .remove = ranked_remove,
        .admit = priority_rank,
        .rank = priority_rank,
};

static const struct rt_sched_ops edf_ops = {
        .push = ranked_push,
        .pop = ranked_pop,
        .remove = ranked_remove,
        .admit = edf_rank,
        .rank = edf_rank,
};

static void
init(struct rt_sched_ranked *ranked, const struct rt_sched_ops *ops,
        struct rt_sched_heap_entry *entries, uint64_t *keys, uint32_t capacity)
{
    rt_assert(ranked != NULL);
    rt_assert(keys != NULL || capacity == 0);
    ranked->sched.ops = ops;
    ranked->keys = keys;
    rt_sched_heap_init(&ranked->heap, entries, capacity);
    for (uint32_t i = 0; i < capacity; i++) {
        keys[i] = UINT64_MAX;
    }
}

void
rt_sched_priority_init(struct rt_sched_ranked *ranked, struct rt_sched_heap_entry *entries,
        uint64_t *keys, uint32_t capacity)
{
    init(ranked, &priority_ops, entries, keys, capacity);
}

void
rt_sched_edf_init(struct rt_sched_ranked *ranked, struct rt_sched_heap_entry *entries,
        uint64_t *keys, uint32_t capacity)
{
    init(ranked, &edf_ops, entries, keys, capacity);
}

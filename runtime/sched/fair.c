/*
 * fair.c -- start-time fair queueing over a heap of start tags.
 *
 * All tags in the queue are at or after the virtual time, and a finish is at most a
 * quantum after it. So the virtual time can be subtracted from all of them when it
 * has become large, and nothing ever wraps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sched/fair.h"

#include <stddef.h>

#include "runtime/base/assert.h"
#include "runtime/base/list.h"

#include "runtime/base/banned.h"

#define VIRTUAL_TIME_MAX (UINT64_C(1) << 62)

static struct rt_sched_fair *
fair_of(struct rt_sched *sched)
{
    return rt_container_of(sched, struct rt_sched_fair, sched);
}

/* Virtual time begins again at 0, for all tasks. Once in 2^42 polls at the earliest. */
static void
rebase(struct rt_sched_fair *fair)
{
    uint64_t base = fair->virtual_time;
    for (uint32_t i = 0; i < fair->heap.capacity; i++) {
        struct rt_sched_share *share = &fair->shares[i];
        struct rt_sched_heap_entry *entry = &fair->heap.entries[i];
        share->finish = share->finish > base ? share->finish - base : 0;
        if (entry->position != RT_SCHED_NONE) {
            rt_assert(entry->key >= base);
            entry->key -= base;
        }
    }
    fair->virtual_time = 0;
}

static void
fair_push(struct rt_sched *sched, uint32_t id)
{
    struct rt_sched_fair *fair = fair_of(sched);
    rt_assert(id < fair->heap.capacity);
    struct rt_sched_share *share = &fair->shares[id];
    uint64_t start = share->finish > fair->virtual_time ? share->finish : fair->virtual_time;
    share->finish = start + share->step;
    rt_sched_heap_push(&fair->heap, id, start);
}

static uint32_t
fair_pop(struct rt_sched *sched)
{
    struct rt_sched_fair *fair = fair_of(sched);
    uint32_t id = rt_sched_heap_pop(&fair->heap);
    if (id == RT_SCHED_NONE) {
        return id;
    }
    rt_assert(fair->heap.entries[id].key >= fair->virtual_time);
    fair->virtual_time = fair->heap.entries[id].key;
    if (fair->virtual_time >= VIRTUAL_TIME_MAX) {
        rebase(fair);
    }
    return id;
}

/* Its finish stays: it is polled anyway, or its task has ended. */
static void
fair_remove(struct rt_sched *sched, uint32_t id)
{
    (void)rt_sched_heap_remove(&fair_of(sched)->heap, id);
}

/* From the next push on. */
static void
fair_rank(struct rt_sched *sched, uint32_t id, uint64_t rank)
{
    struct rt_sched_fair *fair = fair_of(sched);
    rt_assert(id < fair->heap.capacity);
    uint64_t weight = rank == 0 ? 1 : rank;
    fair->shares[id].step = weight < RT_SCHED_QUANTUM ? RT_SCHED_QUANTUM / weight : 1;
}

/* The number names another task from now on: it starts with no debt. */
static void
fair_admit(struct rt_sched *sched, uint32_t id, uint64_t rank)
{
    fair_rank(sched, id, rank);
    fair_of(sched)->shares[id].finish = 0;
}

static const struct rt_sched_ops fair_ops = {
        .push = fair_push,
        .pop = fair_pop,
        .remove = fair_remove,
        .admit = fair_admit,
        .rank = fair_rank,
};

void
rt_sched_fair_init(struct rt_sched_fair *fair, struct rt_sched_heap_entry *entries,
        struct rt_sched_share *shares, uint32_t capacity)
{
    rt_assert(fair != NULL);
    rt_assert(shares != NULL || capacity == 0);
    fair->sched.ops = &fair_ops;
    fair->shares = shares;
    fair->virtual_time = 0;
    rt_sched_heap_init(&fair->heap, entries, capacity);
    for (uint32_t i = 0; i < capacity; i++) {
        shares[i] = (struct rt_sched_share){.step = RT_SCHED_QUANTUM};
    }
}

/*
 * heap.c -- a binary heap of numbers, each with its position.
 *
 *      position  0  1  2  3  4      the children of position i are 2i + 1 and 2i + 2
 *      member    7  2  9  4  1      entries[i].member
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sched/heap.h"

#include <stddef.h>

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

static struct rt_sched_heap_entry *
at(const struct rt_sched_heap *heap, uint32_t position)
{
    return &heap->entries[heap->entries[position].member];
}

static bool
before(const struct rt_sched_heap_entry *a, const struct rt_sched_heap_entry *b)
{
    return a->key != b->key ? a->key < b->key : a->ticket < b->ticket;
}

static void
verify(const struct rt_sched_heap *heap)
{
#ifdef RT_VERIFY
    for (uint32_t position = 0; position < heap->count; position++) {
        rt_assert(heap->entries[position].member < heap->capacity);
        rt_assert(at(heap, position)->position == position);
        rt_assert(position == 0 || before(at(heap, (position - 1) / 2), at(heap, position)));
    }
#else
    (void)heap;
#endif
}

static void
put(struct rt_sched_heap *heap, uint32_t position, uint32_t id)
{
    heap->entries[position].member = id;
    heap->entries[id].position = position;
}

static void
swap(struct rt_sched_heap *heap, uint32_t a, uint32_t b)
{
    uint32_t id = heap->entries[a].member;
    put(heap, a, heap->entries[b].member);
    put(heap, b, id);
}

static void
rise(struct rt_sched_heap *heap, uint32_t position)
{
    while (position > 0 && before(at(heap, position), at(heap, (position - 1) / 2))) {
        swap(heap, position, (position - 1) / 2);
        position = (position - 1) / 2;
    }
}

static void
sink(struct rt_sched_heap *heap, uint32_t position)
{
    for (;;) {
        uint32_t least = position;
        for (uint32_t child = 2 * position + 1; child <= 2 * position + 2; child++) {
            if (child < heap->count && before(at(heap, child), at(heap, least))) {
                least = child;
            }
        }
        if (least == position) {
            return;
        }
        swap(heap, position, least);
        position = least;
    }
}

void
rt_sched_heap_init(
        struct rt_sched_heap *heap, struct rt_sched_heap_entry *entries, uint32_t capacity)
{
    rt_assert(heap != NULL);
    rt_assert(entries != NULL || capacity == 0);
    rt_assert(capacity < RT_SCHED_NONE / 2);
    *heap = (struct rt_sched_heap){.entries = entries, .capacity = capacity};
    for (uint32_t i = 0; i < capacity; i++) {
        entries[i] = (struct rt_sched_heap_entry){.position = RT_SCHED_NONE};
    }
}

void
rt_sched_heap_push(struct rt_sched_heap *heap, uint32_t id, uint64_t key)
{
    rt_assert(id < heap->capacity);
    rt_assert(heap->entries[id].position == RT_SCHED_NONE);
    heap->entries[id].key = key;
    heap->entries[id].ticket = heap->next_ticket++;
    put(heap, heap->count, id);
    heap->count++;
    rise(heap, heap->count - 1);
    verify(heap);
}

bool
rt_sched_heap_remove(struct rt_sched_heap *heap, uint32_t id)
{
    rt_assert(id < heap->capacity);
    uint32_t position = heap->entries[id].position;
    if (position == RT_SCHED_NONE) {
        return false;
    }
    rt_assert(position < heap->count);
    heap->count--;
    heap->entries[id].position = RT_SCHED_NONE;
    if (position != heap->count) {
        /* The last one moves here, and may belong above this position as well as below. */
        put(heap, position, heap->entries[heap->count].member);
        rise(heap, position);
        sink(heap, position);
    }
    verify(heap);
    return true;
}

uint32_t
rt_sched_heap_pop(struct rt_sched_heap *heap)
{
    if (heap->count == 0) {
        return RT_SCHED_NONE;
    }
    uint32_t id = heap->entries[0].member;
    (void)rt_sched_heap_remove(heap, id);
    return id;
}

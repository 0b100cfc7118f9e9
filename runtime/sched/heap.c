/*
 * heap.c -- a binary heap of numbers, each knowing its place.
 *
 *      place   0  1  2  3  4        the children of place i are 2i + 1 and 2i + 2
 *      member  7  2  9  4  1        entries[i].member
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sched/heap.h"

#include <stddef.h>

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

static struct rt_sched_heap_entry *
at(const struct rt_sched_heap *heap, uint32_t place)
{
    return &heap->entries[heap->entries[place].member];
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
    for (uint32_t place = 0; place < heap->count; place++) {
        rt_assert(heap->entries[place].member < heap->capacity);
        rt_assert(at(heap, place)->place == place);
        rt_assert(place == 0 || before(at(heap, (place - 1) / 2), at(heap, place)));
    }
#else
    (void)heap;
#endif
}

static void
put(struct rt_sched_heap *heap, uint32_t place, uint32_t id)
{
    heap->entries[place].member = id;
    heap->entries[id].place = place;
}

static void
swap(struct rt_sched_heap *heap, uint32_t a, uint32_t b)
{
    uint32_t id = heap->entries[a].member;
    put(heap, a, heap->entries[b].member);
    put(heap, b, id);
}

static void
rise(struct rt_sched_heap *heap, uint32_t place)
{
    while (place > 0 && before(at(heap, place), at(heap, (place - 1) / 2))) {
        swap(heap, place, (place - 1) / 2);
        place = (place - 1) / 2;
    }
}

static void
sink(struct rt_sched_heap *heap, uint32_t place)
{
    for (;;) {
        uint32_t least = place;
        for (uint32_t child = 2 * place + 1; child <= 2 * place + 2; child++) {
            if (child < heap->count && before(at(heap, child), at(heap, least))) {
                least = child;
            }
        }
        if (least == place) {
            return;
        }
        swap(heap, place, least);
        place = least;
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
        entries[i] = (struct rt_sched_heap_entry){.place = RT_SCHED_NONE};
    }
}

void
rt_sched_heap_push(struct rt_sched_heap *heap, uint32_t id, uint64_t key)
{
    rt_assert(id < heap->capacity);
    rt_assert(heap->entries[id].place == RT_SCHED_NONE);
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
    uint32_t place = heap->entries[id].place;
    if (place == RT_SCHED_NONE) {
        return false;
    }
    rt_assert(place < heap->count);
    heap->count--;
    heap->entries[id].place = RT_SCHED_NONE;
    if (place != heap->count) {
        /* The last takes the place, and may belong above it as well as below. */
        put(heap, place, heap->entries[heap->count].member);
        rise(heap, place);
        sink(heap, place);
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

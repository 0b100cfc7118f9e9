/*
 * heap.h -- numbers in the order of their keys; equal keys first come, first served.
 *
 * The ordered policies are built on it. A binary heap that knows the position of
 * each number, so that one can be removed from the middle (T16): push, pop and
 * remove take O(log n), and nothing is searched.
 *
 * Ownership. Borrows one entry for each number below `capacity`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SCHED_HEAP_H
#define RT_SCHED_HEAP_H

#include "runtime/task/sched.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_sched_heap_entry {
    uint64_t key;      /* Of the number that this entry is for … */
    uint64_t ticket;   /* … and when it was pushed. */
    uint32_t position; /* In the heap; RT_SCHED_NONE: it is not in. */
    uint32_t member;   /* The number at this entry's position of the heap. */
};

struct rt_sched_heap {
    struct rt_sched_heap_entry *entries;
    uint32_t capacity;
    uint32_t count;
    uint64_t next_ticket;
};

void rt_sched_heap_init(
        struct rt_sched_heap *heap, struct rt_sched_heap_entry *entries, uint32_t capacity);

/* Inserts `id`, which must not be in. */
void rt_sched_heap_push(struct rt_sched_heap *heap, uint32_t id, uint64_t key);

/* Removes the one with the smallest key; RT_SCHED_NONE when there is none. */
uint32_t rt_sched_heap_pop(struct rt_sched_heap *heap);

/* Removes `id` from any position. False when it is not in. */
bool rt_sched_heap_remove(struct rt_sched_heap *heap, uint32_t id);

#ifdef __cplusplus
}
#endif
#endif

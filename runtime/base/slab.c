/*
 * slab.c -- entries, generations, and the free list threaded through them.
 *
 * An entry is in one of four states, distinguished by three fields:
 *
 *      taken      index <  touched, taken
 *      free       index <  touched, in the free list, generation not 0
 *      retired    index <  touched, generation 0: its numbers are used up
 *      untouched  index >= touched: its memory was never written
 *
 * Untouched entries are why init costs nothing, however large the array is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/slab.h"

#include <stddef.h>

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

static void
verify(const struct rt_slab *slab)
{
#ifdef RT_VERIFY
    rt_slab_audit(slab);
#else
    (void)slab;
#endif
}

/* An index to give out, or RT_SLAB_END. The last freed one first (P2). */
static uint32_t
take_entry(struct rt_slab *slab)
{
    uint32_t index = slab->free_head;
    if (index != RT_SLAB_END) {
        rt_assert(!slab->entries[index].taken);
        slab->free_head = slab->entries[index].as.next_free;
        return index;
    }
    if (slab->touched == slab->capacity) {
        return RT_SLAB_END;
    }
    index = slab->touched++;
    slab->entries[index].generation = 1;
    return index;
}

/* After its last generation an entry would repeat a key: it is not used again. */
static void
retire(struct rt_slab *slab, struct rt_slab_entry *entry)
{
    entry->generation = 0;
    entry->as.pointer = NULL;
    slab->retired++;
}

void
rt_slab_init_bounded(struct rt_slab *slab, struct rt_slab_entry *entries, uint32_t capacity,
        uint32_t generation_max)
{
    rt_assert(slab != NULL);
    rt_assert(entries != NULL || capacity == 0);
    rt_assert(capacity <= RT_SLAB_CAPACITY_MAX);
    rt_assert(generation_max >= 1 && generation_max <= RT_GENERATION_MAX);
    *slab = (struct rt_slab){
            .magic = RT_SLAB_MAGIC,
            .capacity = capacity,
            .free_head = RT_SLAB_END,
            .generation_max = generation_max,
            .entries = entries,
    };
}

void
rt_slab_init(struct rt_slab *slab, struct rt_slab_entry *entries, uint32_t capacity)
{
    rt_slab_init_bounded(slab, entries, capacity, RT_GENERATION_MAX);
}

rt_err
rt_slab_insert(struct rt_slab *slab, void *pointer, struct rt_key *ret_key)
{
    rt_check(slab, RT_SLAB_MAGIC);
    rt_assert(pointer != NULL);
    uint32_t index = take_entry(slab);
    if (index == RT_SLAB_END) {
        return RT_E_FULL;
    }
    struct rt_slab_entry *entry = &slab->entries[index];
    rt_assert(entry->generation != 0);
    entry->as.pointer = pointer;
    entry->taken = true;
    slab->used++;
    verify(slab);
    *ret_key = (struct rt_key){index, entry->generation};
    return RT_OK;
}

void *
rt_slab_remove(struct rt_slab *slab, struct rt_key key)
{
    rt_check(slab, RT_SLAB_MAGIC);
    void *pointer = rt_slab_get(slab, key);
    if (pointer == NULL) {
        return NULL;
    }
    struct rt_slab_entry *entry = &slab->entries[key.index];
    rt_assert(slab->used > 0);
    entry->taken = false;
    slab->used--;
    if (entry->generation == slab->generation_max) {
        retire(slab, entry);
    } else {
        entry->generation++;
        entry->as.next_free = slab->free_head;
        slab->free_head = key.index;
    }
    verify(slab);
    return pointer;
}

/* Length of the free list; panics when it leaves the array, names a taken entry or is a cycle. */
static uint32_t
audit_free_list(const struct rt_slab *slab)
{
    uint32_t count = 0;
    for (uint32_t index = slab->free_head; index != RT_SLAB_END;
            index = slab->entries[index].as.next_free) {
        rt_assert(index < slab->touched);
        rt_assert(!slab->entries[index].taken);
        rt_assert(slab->entries[index].generation != 0);
        count++;
        rt_assert(count <= slab->touched);
    }
    return count;
}

void
rt_slab_audit(const struct rt_slab *slab)
{
    rt_check(slab, RT_SLAB_MAGIC);
    rt_assert(slab->touched <= slab->capacity);
    uint32_t used = 0;
    uint32_t retired = 0;
    for (uint32_t i = 0; i < slab->touched; i++) {
        const struct rt_slab_entry *entry = &slab->entries[i];
        rt_assert(entry->generation <= slab->generation_max);
        if (entry->taken) {
            rt_assert(entry->generation != 0);
            rt_assert(entry->as.pointer != NULL);
            used++;
        } else if (entry->generation == 0) {
            retired++;
        }
    }
    rt_assert(used == slab->used);
    rt_assert(retired == slab->retired);
    rt_assert(used + retired + audit_free_list(slab) == slab->touched);
}

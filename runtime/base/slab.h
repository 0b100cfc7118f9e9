/*
 * slab.h -- generational keys: names that stay invalid once their object is gone.
 *
 * A slab hands out keys for pointers. A key is an index and a generation; the
 * generation of an entry goes up when the entry is emptied, so a stale key
 * answers NULL forever instead of naming the next object (P1). Entries are
 * reused last-freed-first (P2). Generation 0 is never given out, so an all-zero
 * key is invalid; an entry whose generation would wrap is retired.
 *
 *      entries:   [gen|ptr] [gen|ptr] [gen|ptr] ...        caller-provided
 *      free list:  next index kept instead of the pointer
 *
 * Ownership. The slab borrows the entry array for its life and the pointers
 * from insert to remove. It allocates nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_BASE_SLAB_H
#define RT_BASE_SLAB_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/assert.h"
#include "runtime/base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A name. {0, 0} names nothing. */
struct rt_key {
    uint32_t index;
    uint32_t generation;
};

struct rt_slab_entry {
    union {
        void *pointer;      /* Taken. */
        uint32_t next_free; /* Free; RT_SLAB_END at the end of the list. */
    } as;
    uint32_t generation; /* Of the key that is, or will be, given out for this entry. */
    bool taken;
};

#define RT_SLAB_END UINT32_MAX

/* The last generation of an entry. Smaller where a waker's word must hold index and generation. */
#if UINTPTR_MAX > 0xffffffffu
#define RT_GENERATION_MAX UINT32_MAX
#define RT_SLAB_CAPACITY_MAX (UINT32_MAX - 1)
#else
#define RT_GENERATION_MAX 0xffffu
#define RT_SLAB_CAPACITY_MAX 0xffffu
#endif

#define RT_SLAB_MAGIC 0x52534c42u

struct rt_slab {
    uint32_t magic;
    uint32_t capacity;
    uint32_t used;      /* Entries taken now. */
    uint32_t touched;   /* Entries below this index have been given out at least once. */
    uint32_t free_head; /* Last freed entry, or RT_SLAB_END. */
    uint32_t retired;
    uint32_t generation_max;
    struct rt_slab_entry *entries;
};

/*
 * Makes an empty slab over `capacity` entries, which it borrows; they need not be initialised.
 * `capacity` may be 0: every insert then answers RT_E_FULL.
 */
void rt_slab_init(struct rt_slab *slab, struct rt_slab_entry *entries, uint32_t capacity);

/* As rt_slab_init, with entries retired after generation `generation_max` (tests shrink it). */
void rt_slab_init_bounded(struct rt_slab *slab, struct rt_slab_entry *entries, uint32_t capacity,
        uint32_t generation_max);

/* Puts `pointer` (not NULL) into an entry and names it. RT_E_FULL when no entry is left. */
RT_MUST_CHECK rt_err rt_slab_insert(struct rt_slab *slab, void *pointer, struct rt_key *ret_key);

/* Empties the entry that `key` names and returns its pointer, or NULL as rt_slab_get. */
void *rt_slab_remove(struct rt_slab *slab, struct rt_key key);

/* Walks everything; panics when the slab contradicts itself. */
void rt_slab_audit(const struct rt_slab *slab);

/* The four below are in the path of every wake and every poll, and therefore inline. */

/* What `key` names, or NULL when it is stale, zero or out of range. */
static inline void *
rt_slab_get(const struct rt_slab *slab, struct rt_key key)
{
    rt_check(slab, RT_SLAB_MAGIC);
    if (key.index >= slab->touched) {
        return 0;
    }
    const struct rt_slab_entry *entry = &slab->entries[key.index];
    return entry->taken && entry->generation == key.generation ? entry->as.pointer : 0;
}

/* The key and pointer of entry `index`; NULL when the entry is free. For walks in index order. */
static inline void *
rt_slab_at(const struct rt_slab *slab, uint32_t index, struct rt_key *ret_key)
{
    rt_check(slab, RT_SLAB_MAGIC);
    if (index >= slab->touched || !slab->entries[index].taken) {
        return 0;
    }
    if (ret_key != 0) {
        ret_key->index = index;
        ret_key->generation = slab->entries[index].generation;
    }
    return slab->entries[index].as.pointer;
}

#define RT_KEY_INDEX_BITS (sizeof(uintptr_t) * 4)

/* A key in one machine word, for the second word of a waker; 0 is the invalid key. */
static inline uintptr_t
rt_key_pack(struct rt_key key)
{
    rt_assert(key.generation <= RT_GENERATION_MAX);
    rt_assert(key.index <= RT_SLAB_CAPACITY_MAX);
    return ((uintptr_t)key.generation << RT_KEY_INDEX_BITS) | key.index;
}

static inline struct rt_key
rt_key_unpack(uintptr_t word)
{
    struct rt_key key;
    key.index = (uint32_t)(word & (((uintptr_t)1 << RT_KEY_INDEX_BITS) - 1));
    key.generation = (uint32_t)(word >> RT_KEY_INDEX_BITS);
    return key;
}

#ifdef __cplusplus
}
#endif
#endif

/*
 * block.c -- a header before each block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/memory/block.h"

#include "runtime/base/assert.h"

#define USED 0x73696d75u
#define FREED 0x73696d66u

struct header {
    uint32_t state;
    uint32_t reserved;
    uint64_t size;
};

_Static_assert(sizeof(struct header) == 16, "a block is aligned as the arena's memory is");

void *
sim_block_take(struct sim_arena *arena, size_t size, bool zero)
{
    if (size > arena->size) {
        arena->exhausted = true;
        return NULL;
    }
    size_t whole = sizeof(struct header) + size;
    struct header *header = zero ? sim_arena_zalloc(arena, whole) : sim_arena_alloc(arena, whole);
    if (header == NULL) {
        return NULL;
    }
    *header = (struct header){.state = USED, .size = size};
    return header + 1;
}

/* Not checked by a sanitizer: memory before an address that is not a block may be poisoned. */
__attribute__((no_sanitize_address)) enum sim_block_state
sim_block_state(const struct sim_arena *arena, const void *memory, size_t *ret_size)
{
    uintptr_t offset = (uintptr_t)memory - (uintptr_t)arena->base;
    if (offset < sizeof(struct header) || offset > arena->used ||
            offset % sizeof(struct header) != 0) {
        return SIM_BLOCK_NONE;
    }
    const struct header *header = (const struct header *)memory - 1;
    bool whole = header->size <= arena->used - offset;
    if (!whole || (header->state != USED && header->state != FREED)) {
        return SIM_BLOCK_NONE;
    }
    *ret_size = header->size;
    return header->state == USED ? SIM_BLOCK_USED : SIM_BLOCK_FREED;
}

void
sim_block_free(void *memory)
{
    struct header *header = (struct header *)memory - 1;
    rt_assert(header->state == USED);
    header->state = FREED;
}

/*
 * arena.c -- reserve, take in order, reset.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/memory/arena.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/memory/shadow.h"

#define ALIGNMENT 16u
/* Between two allocations under the sanitizer, so that an overrun is detected. */
#ifdef SIM_ASAN
#define GAP 16u
#else
#define GAP 0u
#endif

/* The shadow of the whole arena would be megabytes: the part after the used one is enough. */
#define POISONED_AHEAD ((size_t)1 << 20)

static void
poison_ahead(struct sim_arena *arena)
{
    size_t end = arena->size - arena->aside;
    size_t left = end > arena->poisoned ? end - arena->poisoned : 0;
    if (left > 0 && arena->poisoned < arena->used + POISONED_AHEAD / 2) {
        size_t more = arena->used + POISONED_AHEAD - arena->poisoned;
        more = more < left ? more : left;
        sim_shadow_poison(arena->base + arena->poisoned, more);
        arena->poisoned += more;
    }
}

void
sim_arena_init(struct sim_arena *arena, void *hint, size_t size, uint8_t fill)
{
    rt_assert(size % ALIGNMENT == 0);
    *arena = (struct sim_arena){.base = sim_heap_map(hint, size), .size = size, .fill = fill};
    poison_ahead(arena);
}

void
sim_arena_fini(struct sim_arena *arena)
{
    sim_shadow_unpoison(arena->base, arena->poisoned);
    sim_heap_unmap(arena->base, arena->size);
    arena->base = NULL;
}

void
sim_arena_reset(struct sim_arena *arena)
{
    sim_shadow_poison(arena->base, arena->used);
    arena->used = 0;
    arena->aside = 0;
    arena->exhausted = false;
    arena->mallocs = 0;
    arena->malloc_bytes = 0;
}

/* Filled with `byte`, up to the next block: searches of the arena must not find what an earlier run
 * left there. */
static void *
take(struct sim_arena *arena, size_t size, uint8_t byte)
{
    size_t rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (rounded < size || rounded + GAP > arena->size - arena->aside - arena->used) {
        arena->exhausted = true;
        return NULL;
    }
    char *pointer = arena->base + arena->used;
    size_t whole = rounded + GAP;
    arena->used += whole;
    poison_ahead(arena);
    sim_shadow_unpoison(pointer, whole);
    memset(pointer, byte, whole);
    sim_shadow_poison(pointer + size, whole - size);
    return pointer;
}

/*
 * ---- Copies. -----------------------------------------------------------------------------------
 *
 * Of a large arena most is filled and was never written: buffers of 64 KiB that took five bytes.
 *
 *      copy:  [ a byte for each piece: is it filled? | the pieces that are not ]
 *
 * Looking for the fill reads memory once, and its copy would read it and write it.
 */
#define PIECE 4096u
#ifdef SIM_ASAN
#define LARGE SIZE_MAX /* Its shadow is copied too. */
#else
#define LARGE ((size_t)64 << 10)
#endif

static size_t
map_size(size_t used)
{
    return (used / PIECE + ALIGNMENT) & ~(size_t)(ALIGNMENT - 1);
}

static bool
is_filled(const struct sim_arena *arena, const char *at, size_t size)
{
    return (uint8_t)*at == arena->fill && memcmp(at, at + 1, size - 1) == 0;
}

static size_t
piece_size(size_t from, size_t used)
{
    return used - from < PIECE ? used - from : PIECE;
}

size_t
sim_arena_copy_size(const struct sim_arena *arena)
{
    return sim_shadow_copy_size(arena->used) + (arena->used > LARGE ? map_size(arena->used) : 0) +
           arena->aside;
}

static char *
copy_aside(const struct sim_arena *arena, char *to)
{
    sim_shadow_memcpy(to, arena->base + arena->size - arena->aside, arena->aside);
    return to + arena->aside;
}

char *
sim_arena_copy_out(const struct sim_arena *arena, char *to)
{
    if (arena->used <= LARGE) {
        return copy_aside(arena, sim_shadow_copy_out(to, arena->base, arena->used));
    }
    char *map = to;
    to += map_size(arena->used);
    for (size_t from = 0; from < arena->used; from += PIECE) {
        size_t size = piece_size(from, arena->used);
        bool filled = is_filled(arena, arena->base + from, size);
        map[from / PIECE] = filled;
        if (!filled) {
            memcpy(to, arena->base + from, size);
            to += size;
        }
    }
    return copy_aside(arena, to);
}

static const char *
copy_pieces_back(const struct sim_arena *arena, const char *map)
{
    const char *from = map + map_size(arena->used);
    for (size_t to = 0; to < arena->used; to += PIECE) {
        size_t size = piece_size(to, arena->used);
        if (!map[to / PIECE]) {
            memcpy(arena->base + to, from, size);
            from += size;
        } else if (!is_filled(arena, arena->base + to, size)) {
            memset(arena->base + to, arena->fill, size);
        }
    }
    return from;
}

const char *
sim_arena_copy_back(struct sim_arena *arena, const char *from, size_t used, size_t aside)
{
    if (arena->used > used) {
        sim_shadow_poison(arena->base + used, arena->used - used);
    }
    rt_assert(used + aside <= arena->size);
    arena->used = used;
    arena->aside = aside;
    arena->exhausted = false;
    from = used <= LARGE ? sim_shadow_copy_back(from, arena->base, used)
                         : copy_pieces_back(arena, from);
    sim_shadow_memcpy(arena->base + arena->size - aside, from, aside);
    return from + aside;
}

void *
sim_arena_alloc(struct sim_arena *arena, size_t size)
{
    return take(arena, size, arena->fill);
}

void *
sim_arena_zalloc(struct sim_arena *arena, size_t size)
{
    return take(arena, size, 0);
}

void *
sim_arena_zalloc_aside(struct sim_arena *arena, size_t size)
{
    size_t rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (rounded < size || rounded > arena->size - arena->aside - arena->used) {
        arena->exhausted = true;
        return NULL;
    }
    arena->aside += rounded;
    char *memory = arena->base + arena->size - arena->aside;
    sim_shadow_unpoison(memory, rounded);
    return memset(memory, 0, rounded);
}

/* ---- Blocks. --------------------------------------------------------------------------------- */

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

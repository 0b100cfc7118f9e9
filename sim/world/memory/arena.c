/*
 * arena.c -- reserve, take in order, forget.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/world/memory/arena.h"

#include <string.h>
#include <sys/mman.h>

#include "runtime/base/assert.h"

#if defined(__SANITIZE_ADDRESS__)
#define SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_ASAN 1
#endif
#endif

#ifdef SIM_ASAN
#include <sanitizer/asan_interface.h>
#define poison(pointer, size) ASAN_POISON_MEMORY_REGION((pointer), (size))
#define unpoison(pointer, size) ASAN_UNPOISON_MEMORY_REGION((pointer), (size))
#else
#define poison(pointer, size) ((void)(pointer), (void)(size))
#define unpoison(pointer, size) ((void)(pointer), (void)(size))
#endif

#define ALIGNMENT 16u
/* Between two allocations under the sanitizer, so that running over an end is seen. */
#ifdef SIM_ASAN
#define GAP 16u
#else
#define GAP 0u
#endif

rt_err
sim_arena_init(struct sim_arena *arena, void *hint, size_t size, uint8_t fill)
{
    rt_assert(size % ALIGNMENT == 0);
    void *base = mmap(
            hint, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        return RT_E_FULL;
    }
    *arena = (struct sim_arena){.base = base, .size = size, .fill = fill};
    poison(arena->base, size);
    return RT_OK;
}

void
sim_arena_fini(struct sim_arena *arena)
{
    unpoison(arena->base, arena->size);
    (void)munmap(arena->base, arena->size);
    arena->base = NULL;
}

void
sim_arena_reset(struct sim_arena *arena)
{
    poison(arena->base, arena->used);
    arena->used = 0;
    arena->exhausted = false;
    arena->mallocs = 0;
    arena->malloc_bytes = 0;
}

/* Filled with `byte`, and so is the rest up to the next block: what an earlier run left there would
 * be found by who searches the arena. */
static void *
take(struct sim_arena *arena, size_t size, uint8_t byte)
{
    size_t rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (rounded < size || rounded + GAP > arena->size - arena->used) {
        arena->exhausted = true;
        return NULL;
    }
    char *pointer = arena->base + arena->used;
    size_t whole = rounded + GAP;
    arena->used += whole;
    unpoison(pointer, whole);
    memset(pointer, byte, whole);
    poison(pointer + size, whole - size);
    return pointer;
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

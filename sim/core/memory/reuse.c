/*
 * reuse.c -- size classes, a quarantine, and the check of what was freed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/memory/reuse.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/world.h"

#define UNIT 16u
/* Classes of one unit each up to 256 bytes; then four for each doubling, to beyond the arena. */
#define SMALL_CLASSES 16u
#define CLASSES (SMALL_CLASSES + 4u * 21u)

struct origin {
    uintptr_t taken; /* The call of malloc, and of free. */
    uintptr_t freed;
};

struct sim_reuse {
    uint32_t lists[CLASSES]; /* As struct sim_malloc_header.next. */
    uint32_t oldest;         /* Of the quarantine. */
    uint32_t newest;
    size_t waiting;      /* Bytes in the quarantine. */
    const void *misused; /* NULL: no freed block was found in use. */
};

_Static_assert(sizeof(struct sim_malloc_header) == UNIT, "a block is aligned as its header is");
_Static_assert(sizeof(struct origin) == UNIT, "a header is aligned as its origin is");
_Static_assert(SIM_ARENA_SIZE / UNIT <= UINT32_MAX, "a place is a number of units");

static struct sim_malloc_header *
header_of(const void *block)
{
    return (struct sim_malloc_header *)(uintptr_t)block - 1;
}

static struct origin *
origin_of(const void *block)
{
    return (struct origin *)(void *)header_of(block) - 1;
}

static uint32_t
number_of(const struct sim_arena *arena, const void *block)
{
    return (uint32_t)((size_t)((const char *)block - arena->base) / UNIT);
}

static void *
block_at(const struct sim_arena *arena, uint32_t number)
{
    return arena->base + (size_t)number * UNIT;
}

/* The bytes that a block of this class holds. */
static size_t
class_bytes(uint32_t size_class)
{
    if (size_class < SMALL_CLASSES) {
        return (size_t)(size_class + 1) * UNIT;
    }
    uint32_t above = size_class - SMALL_CLASSES;
    size_t base = (size_t)SMALL_CLASSES * UNIT << above / 4;
    return base + base / 4 * (above % 4 + 1);
}

static uint32_t
class_of(size_t size)
{
    if (size <= (size_t)SMALL_CLASSES * UNIT) {
        return size == 0 ? 0 : (uint32_t)((size - 1) / UNIT);
    }
    uint32_t doublings = 63u - (uint32_t)__builtin_clzl((size - 1) / (SMALL_CLASSES * UNIT));
    uint32_t size_class = SMALL_CLASSES + 4 * doublings;
    while (class_bytes(size_class) < size) {
        size_class++;
    }
    return size_class;
}

/* ---- What was freed. ------------------------------------------------------------------------- */

/* Where `block` differs from the fill; its size: nowhere. */
static size_t
changed_at(const struct sim_arena *arena, const unsigned char *block, size_t size)
{
    if (size == 0 || (*block == arena->fill && memcmp(block, block + 1, size - 1) == 0)) {
        return size;
    }
    size_t at = 0;
    while (block[at] == arena->fill) {
        at++;
    }
    return at;
}

/* Ends the run where the freed `block` was written. */
static void
check(struct sim_reuse *reuse, const struct sim_arena *arena, const void *block)
{
    const struct sim_malloc_header *header = header_of(block);
    size_t at = changed_at(arena, block, header->size);
    struct sim_world *world = sim_world_current;
    if (at == header->size || world == NULL) {
        return;
    }
    reuse->misused = block;
    sim_stack_of(&world->outcome.stack, origin_of(block)->freed);
    world->outcome.stack.returns = true;
    world->outcome.stack.function = false;
    sim_fail(world, SIM_VERDICT_USE_AFTER_FREE, SIM_ORACLE_MEMORY, world->current, 0,
            "a block of %u bytes was written at offset %zu after it was freed", header->size, at);
}

static void
put_in_list(struct sim_reuse *reuse, struct sim_arena *arena, void *block)
{
    struct sim_malloc_header *header = header_of(block);
    rt_assert(header->size_class < CLASSES);
    header->next = reuse->lists[header->size_class];
    reuse->lists[header->size_class] = number_of(arena, block);
}

static void
release_oldest(struct sim_reuse *reuse, struct sim_arena *arena)
{
    rt_assert(reuse->oldest != 0);
    void *block = block_at(arena, reuse->oldest);
    struct sim_malloc_header *header = header_of(block);
    reuse->oldest = header->next;
    reuse->waiting -= header->size;
    check(reuse, arena, block);
    put_in_list(reuse, arena, block);
}

static void
note_free(struct sim_freeing *freeing, const struct sim_world *world)
{
    freeing->step = world->step;
    (void)snprintf(freeing->actor_name, sizeof(freeing->actor_name), "%s", world->current->name);
    sim_stack_take(&freeing->stack);
}

void
sim_reuse_give(struct sim_reuse *reuse, struct sim_arena *arena, void *block, uintptr_t caller)
{
    struct sim_malloc_header *header = header_of(block);
    const struct sim_world *world = sim_world_current;
    rt_assert(header->state == SIM_MALLOC_USED);
    if (world != NULL && world->freeing != NULL && world->freeing->block == block) {
        note_free(world->freeing, world);
    }
    header->state = SIM_MALLOC_FREED;
    header->next = 0;
    origin_of(block)->freed = caller;
    memset(block, arena->fill, header->size);
    uint32_t number = number_of(arena, block);
    if (reuse->oldest == 0) {
        reuse->oldest = number;
    } else {
        header_of(block_at(arena, reuse->newest))->next = number;
    }
    reuse->newest = number;
    reuse->waiting += header->size;
    while (reuse->waiting > SIM_QUARANTINE_BYTES) {
        release_oldest(reuse, arena);
    }
}

void
sim_reuse_check(struct sim_reuse *reuse, const struct sim_arena *arena)
{
    uint32_t number = reuse->oldest;
    while (number != 0) {
        const void *block = block_at(arena, number);
        check(reuse, arena, block);
        number = header_of(block)->next;
    }
}

bool
sim_reuse_written(
        const struct sim_reuse *reuse, const struct sim_arena *arena, struct sim_written *ret)
{
    uint32_t number = reuse->oldest;
    ret->size = 0;
    while (number != 0 && ret->size == 0) {
        const void *block = block_at(arena, number);
        size_t at = changed_at(arena, block, header_of(block)->size);
        if (at < header_of(block)->size) {
            *ret = (struct sim_written){header_of(block)->size, at, origin_of(block)->freed};
        }
        number = header_of(block)->next;
    }
    return ret->size > 0;
}

const void *
sim_reuse_misused(const struct sim_arena *arena)
{
    return arena->reuse != NULL ? arena->reuse->misused : NULL;
}

bool
sim_reuse_is_written(const struct sim_arena *arena, const void *block)
{
    uint32_t size = header_of(block)->size;
    return header_of(block)->state == SIM_MALLOC_FREED && changed_at(arena, block, size) < size;
}

uintptr_t
sim_reuse_freed(
        struct sim_reuse *reuse, const struct sim_arena *arena, const volatile void *address)
{
    uint32_t number = reuse->oldest;
    while (number != 0) {
        const char *block = block_at(arena, number);
        if ((uintptr_t)address - (uintptr_t)block < header_of(block)->size) {
            reuse->misused = block;
            return origin_of(block)->freed;
        }
        number = header_of(block)->next;
    }
    return 0;
}

/* ---- Taking. --------------------------------------------------------------------------------- */

struct sim_reuse *
sim_reuse_new(struct sim_arena *arena)
{
    return sim_arena_zalloc(arena, sizeof(struct sim_reuse));
}

/* NULL: no block of this class has left the quarantine. */
static void *
take_again(struct sim_reuse *reuse, const struct sim_arena *arena, uint32_t size_class)
{
    uint32_t number = reuse->lists[size_class];
    if (number == 0) {
        return NULL;
    }
    void *block = block_at(arena, number);
    struct sim_malloc_header *header = header_of(block);
    rt_assert(header->state == SIM_MALLOC_FREED);
    reuse->lists[size_class] = header->next;
    check(reuse, arena, block);
    return block;
}

static void *
take_new(struct sim_arena *arena, uint32_t size_class, size_t alignment)
{
    size_t before = sizeof(struct origin) + sizeof(struct sim_malloc_header);
    size_t slack = alignment > UNIT ? alignment : 0;
    char *memory = sim_arena_alloc(arena, before + slack + class_bytes(size_class));
    if (memory == NULL) {
        return NULL;
    }
    char *block = memory + before;
    return slack > 0 ? block + (alignment - (uintptr_t)block % alignment) % alignment : block;
}

void *
sim_reuse_take(struct sim_reuse *reuse, struct sim_arena *arena, size_t size, size_t alignment,
        uintptr_t caller)
{
    rt_assert(size < arena->size);
    uint32_t size_class = class_of(size);
    rt_assert(size_class < CLASSES);
    void *block = alignment <= UNIT ? take_again(reuse, arena, size_class) : NULL;
    bool again = block != NULL;
    block = again ? block : take_new(arena, size_class, alignment);
    if (block == NULL) {
        return NULL;
    }
    if (again && size > header_of(block)->size) {
        memset((char *)block + header_of(block)->size, arena->fill, size - header_of(block)->size);
    }
    *header_of(block) = (struct sim_malloc_header){
            .state = SIM_MALLOC_USED, .size_class = size_class, .size = (uint32_t)size};
    *origin_of(block) = (struct origin){caller, 0};
    return block;
}

bool
sim_reuse_resize(struct sim_arena *arena, void *block, size_t size)
{
    struct sim_malloc_header *header = header_of(block);
    rt_assert(header->state == SIM_MALLOC_USED);
    if (size > class_bytes(header->size_class)) {
        return false;
    }
    size_t low = size < header->size ? size : header->size;
    size_t high = size < header->size ? header->size : size;
    memset((char *)block + low, arena->fill, high - low);
    header->size = (uint32_t)size;
    return true;
}

uintptr_t
sim_reuse_origin(const void *block)
{
    return origin_of(block)->taken;
}

/*
 * malloc.c -- the malloc family of the program, with a run's blocks in the arena.
 *
 *      [ ... | header | block ]      header: 16 bytes just before the block
 *
 * Built in two ways: with definitions of malloc and its family, or, under a
 * sanitizer that has its own, with that one's hooks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/memory/malloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/memory/image.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZER_MALLOC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZER_MALLOC 1
#endif
#endif

#ifdef SANITIZER_MALLOC

/* ---- The sanitizer's malloc: its hooks count. ------------------------------------------------ */

/* <sanitizer/allocator_interface.h>, which gcc does not install. */
int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void *, size_t),
        void (*free_hook)(const volatile void *));

/* Open addressing; blocks beyond this number at a time are not counted. */
#define BLOCKS_MAX (1u << 16)

static struct {
    bool installed;
    bool counting;
    uint32_t count;
    size_t bytes;
    struct {
        const volatile void *block;
        size_t size;
    } blocks[BLOCKS_MAX];
} counted;

static uint32_t
place_of(const volatile void *block)
{
    uint32_t place = (uint32_t)((uintptr_t)block >> 4) * 0x9e3779b1u >> 16;
    while (counted.blocks[place].block != NULL && counted.blocks[place].block != block) {
        place = (place + 1) % BLOCKS_MAX;
    }
    return place;
}

static void
on_malloc(const volatile void *block, size_t size)
{
    if (!counted.counting || block == NULL || counted.count >= BLOCKS_MAX / 2) {
        return;
    }
    uint32_t place = place_of(block);
    counted.blocks[place].block = block;
    counted.blocks[place].size = size;
    counted.count++;
    counted.bytes += size;
}

/* Removes the entry, and moves those after it to where they are found without it. */
static void
on_free(const volatile void *block)
{
    if (!counted.counting || block == NULL) {
        return;
    }
    uint32_t place = place_of(block);
    if (counted.blocks[place].block == NULL) {
        return;
    }
    counted.count--;
    counted.bytes -= counted.blocks[place].size;
    counted.blocks[place].block = NULL;
    for (uint32_t next = (place + 1) % BLOCKS_MAX; counted.blocks[next].block != NULL;
            next = (next + 1) % BLOCKS_MAX) {
        const volatile void *moved = counted.blocks[next].block;
        size_t size = counted.blocks[next].size;
        counted.blocks[next].block = NULL;
        uint32_t better = place_of(moved);
        counted.blocks[better].block = moved;
        counted.blocks[better].size = size;
    }
}

void
sim_malloc_begin(struct sim_arena *arena)
{
    (void)arena;
    if (!counted.installed) {
        counted.installed = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) > 0;
        rt_assert(counted.installed);
    }
    sim_images_restore();
    rt_assert(counted.count == 0);
    counted.counting = true;
    errno = 0;
}

/* Frees what the run did not. */
static void
free_counted(void)
{
    uint32_t count = counted.count;
    counted.counting = false;
    for (uint32_t i = 0; count > 0 && i < BLOCKS_MAX; i++) {
        if (counted.blocks[i].block != NULL) {
            free((void *)(uintptr_t)counted.blocks[i].block);
            counted.blocks[i].block = NULL;
        }
    }
    counted.count = 0;
    counted.bytes = 0;
}

bool
sim_malloc_is_kept(void)
{
    return counted.count == 0;
}

void
sim_malloc_resume(struct sim_arena *arena)
{
    (void)arena;
    free_counted();
    counted.counting = true;
    errno = 0;
}

uint32_t
sim_malloc_end(size_t *ret_bytes)
{
    uint32_t count = counted.count;
    *ret_bytes = counted.bytes;
    free_counted();
    return count;
}

void
sim_malloc_forget(const struct sim_arena *arena)
{
    (void)arena;
}

#else

/* ---- Ours. ------------------------------------------------------------------------------- */

/* The C library's, under the names that it keeps when malloc is replaced. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

/* Not declared by every C library's headers. */
void *memalign(size_t alignment, size_t size);
void *pvalloc(size_t size);
size_t malloc_usable_size(void *block);

#define ALIGNMENT 16u
#define USED 0x6d616c75u
#define GIVEN_BACK 0x6d616c66u

struct header {
    uint32_t state;
    uint32_t reserved;
    size_t size;
};

_Static_assert(sizeof(struct header) == ALIGNMENT, "a block follows its header");

/* Of the process. `arena` remains set after a run: a late free of its blocks does nothing. */
static struct {
    struct sim_arena *arena;
    bool running;
} heap;

static struct header *
header_of(void *block)
{
    return (struct header *)block - 1;
}

/* True when `block` is one of a run, this or an earlier one. */
static bool
is_of_run(const void *block)
{
    return heap.arena != NULL && sim_arena_holds(heap.arena, block);
}

static void *
take(size_t size, size_t alignment)
{
    struct sim_arena *arena = heap.arena;
    size_t slack = alignment > ALIGNMENT ? alignment : 0;
    if (size > arena->size || slack > arena->size) {
        errno = ENOMEM;
        return NULL;
    }
    char *memory = sim_arena_alloc(arena, sizeof(struct header) + slack + size);
    if (memory == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    char *block = memory + sizeof(struct header);
    if (slack > 0) {
        block += (alignment - (uintptr_t)block % alignment) % alignment;
    }
    *header_of(block) = (struct header){.state = USED, .size = size};
    arena->mallocs++;
    arena->malloc_bytes += size;
    return block;
}

static void
give_back(void *block)
{
    struct header *header = header_of(block);
    if (!heap.running) {
        return;
    }
    if (header->state == GIVEN_BACK) {
        rt_fault(RT_E_STALE, "free", "a block was freed twice");
    }
    if (header->state != USED) {
        rt_fault(RT_E_INVALID, "free",
                "this is not a block of malloc, or the memory before it was overwritten");
    }
    header->state = GIVEN_BACK;
    heap.arena->mallocs--;
    heap.arena->malloc_bytes -= header->size;
    memset(block, heap.arena->fill, header->size);
}

void
sim_malloc_begin(struct sim_arena *arena)
{
    rt_assert(!heap.running);
    sim_images_restore();
    arena->mallocs = 0;
    arena->malloc_bytes = 0;
    sim_malloc_resume(arena);
}

bool
sim_malloc_is_kept(void)
{
    return true;
}

void
sim_malloc_resume(struct sim_arena *arena)
{
    heap.arena = arena;
    heap.running = true;
    errno = 0;
}

uint32_t
sim_malloc_end(size_t *ret_bytes)
{
    uint32_t count = heap.running ? heap.arena->mallocs : 0;
    *ret_bytes = heap.running ? heap.arena->malloc_bytes : 0;
    heap.running = false;
    return count;
}

void
sim_malloc_forget(const struct sim_arena *arena)
{
    rt_assert(!heap.running);
    if (heap.arena == arena) {
        heap.arena = NULL;
    }
}

/* ---- The family. ----------------------------------------------------------------------------- */

void *
malloc(size_t size)
{
    return heap.running ? take(size, ALIGNMENT) : __libc_malloc(size);
}

void
free(void *block)
{
    if (is_of_run(block)) {
        give_back(block);
    } else {
        __libc_free(block);
    }
}

void *
calloc(size_t count, size_t size)
{
    if (!heap.running) {
        return __libc_calloc(count, size);
    }
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = take(bytes, ALIGNMENT);
    return block != NULL ? memset(block, 0, bytes) : NULL;
}

void *
realloc(void *block, size_t size)
{
    if (!is_of_run(block) && (block != NULL || !heap.running)) {
        return __libc_realloc(block, size);
    }
    void *moved = malloc(size);
    if (block == NULL || moved == NULL) {
        return moved;
    }
    size_t before = header_of(block)->size;
    memcpy(moved, block, before < size ? before : size);
    give_back(block);
    return moved;
}

static bool
is_alignment(size_t alignment)
{
    return alignment != 0 && (alignment & (alignment - 1)) == 0;
}

void *
memalign(size_t alignment, size_t size)
{
    if (!is_alignment(alignment)) {
        errno = EINVAL;
        return NULL;
    }
    return heap.running ? take(size, alignment) : __libc_memalign(alignment, size);
}

void *
aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int
posix_memalign(void **ret_block, size_t alignment, size_t size)
{
    if (!is_alignment(alignment) || alignment % sizeof(void *) != 0) {
        return EINVAL;
    }
    void *block = memalign(alignment, size);
    if (block == NULL) {
        return ENOMEM;
    }
    *ret_block = block;
    return 0;
}

#define PAGE ((size_t)4096)

void *
valloc(size_t size)
{
    return memalign(PAGE, size);
}

void *
pvalloc(size_t size)
{
    return size > SIZE_MAX - PAGE ? NULL : memalign(PAGE, (size + PAGE - 1) & ~(PAGE - 1));
}

size_t
malloc_usable_size(void *block)
{
    if (is_of_run(block)) {
        return header_of(block)->size;
    }
    /* The C library has no second name for this one. */
    static size_t (*of_library)(void *);
    if (of_library == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "malloc_usable_size");
        memcpy(&of_library, &symbol, sizeof(of_library));
    }
    return of_library != NULL ? of_library(block) : 0;
}

#endif

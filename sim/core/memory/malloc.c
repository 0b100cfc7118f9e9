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
#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "runtime/base/assert.h"
#include "sim/core/memory/image.h"
#include "sim/core/memory/reuse.h"

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
sim_malloc_written(struct sim_written *ret)
{
    ret->size = 0;
    return false;
}

uintptr_t
sim_malloc_freed(const volatile void *address)
{
    (void)address;
    return 0;
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
    sim_images_leave();
    return count;
}

bool
sim_malloc_reuses(void)
{
    return true;
}

/* The sanitizer's malloc is not asked. */
void
sim_malloc_may_fail(bool (*fails)(uintptr_t caller))
{
    (void)fails;
}

void
sim_malloc_check(void)
{
}

void
sim_malloc_load_begin(void)
{
}

rt_err
sim_malloc_load_end(void)
{
    return RT_OK;
}

bool
sim_malloc_pause(void)
{
    bool was = counted.counting;
    counted.counting = false;
    return was;
}

void
sim_malloc_unpause(bool was_running)
{
    counted.counting = was_running;
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

#define ALIGNMENT 16u

_Static_assert(sizeof(struct sim_malloc_header) == ALIGNMENT, "a block follows its header");

/* The address that the function around it returns to. */
#define CALLER ((uintptr_t)__builtin_return_address(0))

/* Of the process. `arena` remains set after a run: a late free of its blocks does nothing. */
static struct {
    struct sim_arena *arena;
    bool running;
    bool loading;
    struct sim_arena load;  /* What constructors of libraries took; no base: nothing yet. */
    size_t load_imaged;     /* So much of it is in an image. */
    uintptr_t loader_start; /* The text of the dynamic loader: what it takes is its own. */
    uintptr_t loader_end;
} heap;

static struct sim_malloc_header *
header_of(void *block)
{
    return (struct sim_malloc_header *)block - 1;
}

/* True when `block` is one of a run, this or an earlier one. */
static bool
is_of_run(const void *block)
{
    return heap.arena != NULL && sim_arena_holds(heap.arena, block);
}

static bool
is_of_load(const void *block)
{
    return heap.load.base != NULL && sim_arena_holds(&heap.load, block);
}

/* A block that is never used again. */
static void *
take_once(struct sim_arena *arena, size_t size, size_t alignment)
{
    size_t slack = alignment > ALIGNMENT ? alignment : 0;
    char *memory = sim_arena_alloc(arena, sizeof(struct sim_malloc_header) + slack + size);
    if (memory == NULL) {
        return NULL;
    }
    char *block = memory + sizeof(struct sim_malloc_header);
    if (slack > 0) {
        block += (alignment - (uintptr_t)block % alignment) % alignment;
    }
    *header_of(block) =
            (struct sim_malloc_header){.state = SIM_MALLOC_USED, .size = (uint32_t)size};
    return block;
}

static void *
take(size_t size, size_t alignment, uintptr_t caller)
{
    struct sim_arena *arena = heap.running ? heap.arena : &heap.load;
    void *block = NULL;
    bool fails = heap.running && arena->fails != NULL && arena->fails(caller);
    if (!fails && size < arena->size && alignment < arena->size) {
        block = heap.running && arena->reuse != NULL
                        ? sim_reuse_take(arena->reuse, arena, size, alignment, caller)
                        : take_once(arena, size, alignment);
    }
    if (block == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    arena->mallocs++;
    arena->malloc_bytes += size;
    return block;
}

static void
give_back(void *block, uintptr_t caller)
{
    struct sim_malloc_header *header = header_of(block);
    if (!heap.running) {
        return;
    }
    if (header->state == SIM_MALLOC_FREED) {
        rt_fault(RT_E_STALE, "free", "a block was freed twice");
    }
    if (header->state != SIM_MALLOC_USED) {
        rt_fault(RT_E_INVALID, "free",
                "this is not a block of malloc, or the memory before it was overwritten");
    }
    heap.arena->mallocs--;
    heap.arena->malloc_bytes -= header->size;
    if (heap.arena->reuse != NULL) {
        sim_reuse_give(heap.arena->reuse, heap.arena, block, caller);
    } else {
        header->state = SIM_MALLOC_FREED;
        memset(block, heap.arena->fill, header->size);
    }
}

/* ---- While a library is loaded. -------------------------------------------------------------- */

#define LOAD_SIZE ((size_t)64 << 20)
/* In every process the same, for programs that hash addresses. */
#define LOAD_AT ((void *)(uintptr_t)0x280000000000)

static int
find_loader(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    (void)argument;
    for (uint32_t i = 0; i < info->dlpi_phnum && info->dlpi_addr == getauxval(AT_BASE); i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0) {
            heap.loader_start = info->dlpi_addr + segment->p_vaddr;
            heap.loader_end = heap.loader_start + segment->p_memsz;
        }
    }
    return 0;
}

void
sim_malloc_load_begin(void)
{
    rt_assert(!heap.running && !heap.loading);
    if (heap.load.base == NULL) {
        sim_arena_init(&heap.load, LOAD_AT, LOAD_SIZE, 0);
        (void)dl_iterate_phdr(find_loader, NULL);
    }
    heap.loading = true;
}

rt_err
sim_malloc_load_end(void)
{
    rt_assert(heap.loading);
    heap.loading = false;
    size_t from = heap.load_imaged;
    heap.load_imaged = heap.load.used;
    return sim_images_add(heap.load.base + from, heap.load.used - from, false);
}

/* Whether a call from `caller` gets a block of the run, or of the load. */
static bool
is_ours(uintptr_t caller)
{
    bool loader = caller >= heap.loader_start && caller < heap.loader_end;
    return heap.running || (heap.loading && !loader);
}

/* ---- The run. -------------------------------------------------------------------------------- */

void
sim_malloc_begin(struct sim_arena *arena)
{
    rt_assert(!heap.running);
    sim_images_restore();
    arena->mallocs = 0;
    arena->malloc_bytes = 0;
    arena->reuse = NULL;
    arena->fails = NULL;
    sim_malloc_resume(arena);
}

void
sim_malloc_may_fail(bool (*fails)(uintptr_t caller))
{
    rt_assert(heap.running);
    heap.arena->fails = fails;
}

bool
sim_malloc_reuses(void)
{
    rt_assert(heap.running);
    rt_assert(heap.arena->mallocs == 0);
    heap.arena->reuse = sim_reuse_new(heap.arena);
    return heap.arena->reuse != NULL;
}

void
sim_malloc_check(void)
{
    if (heap.running && heap.arena->reuse != NULL) {
        sim_reuse_check(heap.arena->reuse, heap.arena);
    }
}

bool
sim_malloc_written(struct sim_written *ret)
{
    return heap.running && heap.arena->reuse != NULL &&
           sim_reuse_written(heap.arena->reuse, heap.arena, ret);
}

uintptr_t
sim_malloc_freed(const volatile void *address)
{
    const struct sim_arena *arena = heap.arena;
    const volatile char *at = address;
    bool watched = heap.running && arena->reuse != NULL;
    return watched && (size_t)(at - arena->base) < SIM_ARENA_SIZE &&
                           (unsigned char)*at == arena->fill
                   ? sim_reuse_freed(arena->reuse, arena, address)
                   : 0;
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
    sim_images_leave();
    return count;
}

bool
sim_malloc_pause(void)
{
    bool was = heap.running;
    heap.running = false;
    return was;
}

void
sim_malloc_unpause(bool was_running)
{
    heap.running = was_running;
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
    return is_ours(CALLER) ? take(size, ALIGNMENT, CALLER) : __libc_malloc(size);
}

/* In a program's run the C library's own memory is put back, so that nothing of its heap is freed
 * in between. */
static bool
is_kept(const void *block)
{
    return is_of_load(block) || (heap.running && heap.arena->reuse != NULL);
}

void
free(void *block)
{
    if (is_of_run(block)) {
        give_back(block, CALLER);
    } else if (!is_kept(block)) {
        __libc_free(block);
    }
}

void *
calloc(size_t count, size_t size)
{
    if (!is_ours(CALLER)) {
        return __libc_calloc(count, size);
    }
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = take(bytes, ALIGNMENT, CALLER);
    return block != NULL ? memset(block, 0, bytes) : NULL;
}

/* In place, where the heap has space there. */
static bool
resize(void *block, size_t size)
{
    bool may = heap.running && heap.arena->reuse != NULL && is_of_run(block) &&
               header_of(block)->state == SIM_MALLOC_USED;
    size_t before = may ? header_of(block)->size : 0;
    if (!may || !sim_reuse_resize(heap.arena, block, size)) {
        return false;
    }
    heap.arena->malloc_bytes += size - before;
    return true;
}

/* The bytes of a block of any heap. */
static size_t
size_of(void *block)
{
    return is_of_run(block) || is_of_load(block) ? header_of(block)->size
                                                 : malloc_usable_size(block);
}

void *
realloc(void *block, size_t size)
{
    bool foreign = !is_of_run(block) && !is_kept(block);
    if (foreign && (block != NULL || !is_ours(CALLER))) {
        return __libc_realloc(block, size);
    }
    if (block != NULL && resize(block, size)) {
        return block;
    }
    void *moved = is_ours(CALLER) ? take(size, ALIGNMENT, CALLER) : __libc_malloc(size);
    if (block == NULL || moved == NULL) {
        return moved;
    }
    size_t before = size_of(block);
    memcpy(moved, block, before < size ? before : size);
    if (is_of_run(block)) {
        give_back(block, CALLER);
    }
    return moved;
}

static bool
is_alignment(size_t alignment)
{
    return alignment != 0 && (alignment & (alignment - 1)) == 0;
}

static void *
take_aligned(size_t alignment, size_t size, uintptr_t caller)
{
    if (!is_alignment(alignment)) {
        errno = EINVAL;
        return NULL;
    }
    return is_ours(caller) ? take(size, alignment, caller) : __libc_memalign(alignment, size);
}

void *
memalign(size_t alignment, size_t size)
{
    return take_aligned(alignment, size, CALLER);
}

void *
aligned_alloc(size_t alignment, size_t size)
{
    return take_aligned(alignment, size, CALLER);
}

int
posix_memalign(void **ret_block, size_t alignment, size_t size)
{
    if (!is_alignment(alignment) || alignment % sizeof(void *) != 0) {
        return EINVAL;
    }
    void *block = take_aligned(alignment, size, CALLER);
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
    return take_aligned(PAGE, size, CALLER);
}

void *
pvalloc(size_t size)
{
    return size > SIZE_MAX - PAGE ? NULL
                                  : take_aligned(PAGE, (size + PAGE - 1) & ~(PAGE - 1), CALLER);
}

size_t
malloc_usable_size(void *block)
{
    if (is_of_run(block) || is_of_load(block)) {
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

/* ---- Settings of the C library's heap, and questions about it. ------------------------------- */

/* A run must neither change nor see that heap: it is rewake's own. The C library's mallopt merges
 * free blocks in it, and the lists of these, which are variables, are put back after the run. */
int
mallopt(int setting, int value)
{
    (void)setting;
    (void)value;
    return 1;
}

int
malloc_trim(size_t left)
{
    (void)left;
    return 0; /* Nothing was given back to the system. */
}

static size_t
bytes_in_use(void)
{
    return heap.running ? heap.arena->malloc_bytes : 0;
}

struct mallinfo
mallinfo(void)
{
    return (struct mallinfo){.uordblks = (int)bytes_in_use()};
}

#if __GLIBC_PREREQ(2, 33)
struct mallinfo2
mallinfo2(void)
{
    return (struct mallinfo2){.uordblks = bytes_in_use()};
}
#endif

void
malloc_stats(void)
{
}

#endif

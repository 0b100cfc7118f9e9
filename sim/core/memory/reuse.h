/*
 * reuse.h -- the heap of a program's run: freed blocks are used again, and watched before.
 *
 *      [ origin | header | block ]      origin and header: 16 bytes each, just before the block
 *
 * A scenario's run never uses a block of malloc again (malloc.c). A program may allocate for as
 * long as it runs, so here a freed block is filled with the arena's byte and waits in a quarantine,
 * first in, first out. When SIM_QUARANTINE_BYTES wait, the oldest is taken out and goes to the list
 * of its size class, from which the next allocation of this class takes the latest.
 *
 * A freed block whose bytes have changed was written after free: verdict use-after-free, with the
 * call of free() as the stack. It is checked when a block leaves the quarantine, when it is used
 * again, and at the end of the run. What has an address and no bytes of its own, as a mutex has in
 * a run, is checked when it is used.
 *
 * All state is in the arena, so copies of a run have it, and the same run gets the same addresses.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/core/code/call_stack.h"
#include "sim/core/memory/arena.h"

#define SIM_QUARANTINE_BYTES ((size_t)1 << 20)

/* Before each block of malloc in a run. */
struct sim_malloc_header {
    uint32_t
            state; /* SIM_MALLOC_USED, SIM_MALLOC_FREED; anything else: overwritten, or no block. */
    uint32_t size_class; /* With reuse; else 0. */
    uint32_t size;       /* As asked for. */
    uint32_t next; /* With reuse, of a freed block: the next in its list, in units of 16 bytes from
                    * the arena's base; 0: none. */
};

#define SIM_MALLOC_USED 0x6d616c75u
#define SIM_MALLOC_FREED 0x6d616c66u

struct sim_reuse;

/* The lists, empty, in `arena`; NULL: it is exhausted. */
struct sim_reuse *sim_reuse_new(struct sim_arena *arena);

/* A block of `size` bytes, less than the arena's size, with `alignment`, a power of two from 16 on.
 * It is filled. NULL: the arena is exhausted. `caller` is the address that malloc returns to. */
void *sim_reuse_take(struct sim_reuse *reuse, struct sim_arena *arena, size_t size,
        size_t alignment, uintptr_t caller);

/* Gives back `block`, which is used and was taken by sim_reuse_take. */
void sim_reuse_give(
        struct sim_reuse *reuse, struct sim_arena *arena, void *block, uintptr_t caller);

/* Makes the used `block` larger or smaller where it is; false: there is no space. */
bool sim_reuse_resize(struct sim_arena *arena, void *block, size_t size);

/* Checks all blocks that wait in the quarantine. */
void sim_reuse_check(struct sim_reuse *reuse, const struct sim_arena *arena);

/* A block that was written after it was freed. */
struct sim_written {
    uint32_t size;
    size_t at;       /* The offset. */
    uintptr_t freed; /* Where free() returned to. */
};

/* As sim_malloc_written. */
bool sim_reuse_written(
        const struct sim_reuse *reuse, const struct sim_arena *arena, struct sim_written *ret);

/* The address that free() returned to for the block in the quarantine that `address` is in; 0:
 * it is in none. */
uintptr_t sim_reuse_freed(
        struct sim_reuse *reuse, const struct sim_arena *arena, const volatile void *address);

/* The block that ended the last run in `arena` with use-after-free; NULL: it has another end. */
const void *sim_reuse_misused(const struct sim_arena *arena);

/* Whether `block`, which has been freed, was written after that. */
bool sim_reuse_is_written(const struct sim_arena *arena, const void *block);

/* The last call that frees `block`, noted while world->freeing is this: an unwinding for each call
 * of free() would cost more than the call. */
struct sim_freeing {
    const void *block;
    uint64_t step; /* 0: it was not freed. */
    char actor_name[48];
    struct sim_stack stack;
};

/* The address that malloc returned to for the used `block`. */
uintptr_t sim_reuse_origin(const void *block);

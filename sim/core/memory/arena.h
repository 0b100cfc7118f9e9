/*
 * arena.h -- all memory of a run, in one range, freed at once.
 *
 * The arena is one reserved range of addresses. A run takes memory from it in
 * order; reset goes back to the start. New memory is filled with a byte that the
 * caller chooses, so that a program which reads uninitialized memory behaves
 * differently under another byte and is detected (`--check-determinism`).
 *
 * The end of the range is for what is kept of a run only while its events are recorded: where all
 * else lies does not depend on whether they are.
 *
 * malloc inside a run uses the arena too (malloc.c). Under the address sanitizer,
 * malloc is the sanitizer's, and the unused part of the arena is poisoned.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_ARENA_SIZE ((size_t)256 << 20)
#define SIM_ARENA_FILL ((uint8_t)0xcd) /* Of all runs but replicas. */

struct sim_arena {
    char *base;
    size_t size;
    size_t used;
    size_t aside;    /* Used at the end. */
    size_t poisoned; /* The sanitizer has shadow set up to here. */
    uint8_t fill;
    bool exhausted;   /* An allocation did not fit. */
    uint32_t mallocs; /* Blocks from malloc that are not freed. */
    size_t malloc_bytes;
    struct sim_reuse *reuse; /* How malloc uses blocks again (reuse.h); NULL: it does not. */
    bool (*fails)(uintptr_t caller); /* Whether this call of malloc fails; NULL: none does. */
};

/* Reserves `size` bytes, near `hint` if that is not NULL (without guarantee; replica runs use
 * another). Touches no page. */
void sim_arena_init(struct sim_arena *arena, void *hint, size_t size, uint8_t fill);
void sim_arena_fini(struct sim_arena *arena);

/* Frees everything. */
void sim_arena_reset(struct sim_arena *arena);

/* `size` bytes aligned to 16, filled with the fill byte; NULL when the arena is exhausted. */
void *sim_arena_alloc(struct sim_arena *arena, size_t size);

/* As sim_arena_alloc, but all zero. */
void *sim_arena_zalloc(struct sim_arena *arena, size_t size);

/* As sim_arena_zalloc, at the end of the range. */
void *sim_arena_zalloc_aside(struct sim_arena *arena, size_t size);

/* Copy the used parts, and restore them, of `used` and `aside` bytes, for checkpoints. A copy takes
 * at most sim_arena_copy_size bytes, less where a large arena is filled and was not written; both
 * return its end. */
size_t sim_arena_copy_size(const struct sim_arena *arena);
char *sim_arena_copy_out(const struct sim_arena *arena, char *to);
const char *sim_arena_copy_back(
        struct sim_arena *arena, const char *from, size_t used, size_t aside);

static inline bool
sim_arena_holds(const struct sim_arena *arena, const void *pointer)
{
    return (uintptr_t)pointer - (uintptr_t)arena->base < arena->size;
}

/*
 * Memory of a scenario, one block at a time, so that it can be freed.
 *
 *      [ ... | header | block ]      header: 16 bytes just before the block
 *
 * A freed block is not reused in the run, so a dangling pointer points at nothing else, and the
 * addresses of later blocks do not depend on it.
 */
enum sim_block_state { SIM_BLOCK_NONE, SIM_BLOCK_USED, SIM_BLOCK_FREED };

/* `size` bytes, filled or all zero; NULL when the arena is exhausted. */
void *sim_block_take(struct sim_arena *arena, size_t size, bool zero);

/* The state of `memory`; *ret_size is its size where it is a block. */
enum sim_block_state sim_block_state(
        const struct sim_arena *arena, const void *memory, size_t *ret_size);

/* Frees the block `memory`, which is used. */
void sim_block_free(void *memory);

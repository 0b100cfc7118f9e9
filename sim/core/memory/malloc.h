/*
 * malloc.h -- malloc of a run: served from the arena, counted, gone with it.
 *
 * The program defines malloc and its family itself. Outside of a run they are the C
 * library's. Between sim_malloc_begin and sim_malloc_end a block comes from the
 * arena, so a run leaves nothing behind, starts from the same addresses each
 * time, and what it did not give back is known. A block from before the run may
 * be freed or resized inside it.
 *
 * Under the address sanitizer malloc stays the sanitizer's; blocks are counted by
 * its hooks, and sim_malloc_end frees what is left.
 *
 * A block that is given back twice, or overran its end into the next block's header,
 * is a fault (rt_fault): verdict contract.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CORE_MEMORY_MALLOC_H
#define SIM_CORE_MEMORY_MALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/core/memory/arena.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A run begins, with a fresh arena: called by the world for each run, replays for the judge too.
 * Also puts the writable memory of loaded libraries back as it was (image.h), and errno to 0. */
void sim_malloc_begin(struct sim_arena *arena);

/* False: blocks of the run lie outside of its arena, so a copy of the arena is not all. Only under
 * the address sanitizer. */
bool sim_malloc_is_kept(void);

/* A run continues whose arena stands as it was kept (checkpoint.h), blocks counted. What it took
 * outside of the arena since then is freed. */
void sim_malloc_resume(struct sim_arena *arena);

/* The code of the run is over; called for each end, also an early one. Returns how many blocks were
 * not given back, *ret_bytes their sizes together. Called again: 0. */
uint32_t sim_malloc_end(size_t *ret_bytes);

/* The arena goes, and is no run's any more; no run is in progress. */
void sim_malloc_forget(const struct sim_arena *arena);

#ifdef __cplusplus
}
#endif
#endif

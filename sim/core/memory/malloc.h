/*
 * malloc.h -- malloc inside a run: from the arena, counted, freed with it.
 *
 * The program defines malloc and its family itself. Outside of a run they are the C
 * library's. Between sim_malloc_begin and sim_malloc_end a block comes from the
 * arena, so all blocks end with the run, have the same addresses each time, and
 * those that were not freed are counted. A block from before the run may be freed
 * or resized inside it.
 *
 * Under the address sanitizer malloc is the sanitizer's; its hooks count blocks, and
 * sim_malloc_end frees what is left.
 *
 * A double free, or an overrun into the next block's header, is a fault (rt_fault):
 * verdict contract.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "sim/core/memory/reuse.h"

/* A run begins, with an empty arena: called by the world for each run, also for the judge's
 * replays. Also restores the writable memory of loaded libraries (image.h), and sets errno to 0. */
void sim_malloc_begin(struct sim_arena *arena);

/* Inside of a run: from here on blocks are the C library's, for memory that outlives the run.
 * Returns what sim_malloc_unpause takes. */
bool sim_malloc_pause(void);
void sim_malloc_unpause(bool was_running);

/* False: blocks of the run are outside of its arena, so a copy of the arena is incomplete. Only
 * under the address sanitizer. */
bool sim_malloc_is_kept(void);

/* A run continues whose arena was restored (checkpoint.h). Frees what was taken outside of the
 * arena since the copy. */
void sim_malloc_resume(struct sim_arena *arena);

/* The code of the run is over; called for each end, also an early one. Returns how many blocks were
 * not freed, *ret_bytes the sum of their sizes. A second call: 0. */
uint32_t sim_malloc_end(size_t *ret_bytes);

/* For the run in progress, before it has allocated anything: freed blocks are used again, and
 * writes to them noticed (reuse.h). False: the arena is exhausted. */
bool sim_malloc_reuses(void);

/* For the run in progress: `fails`, given the address of the caller, says whether a call of malloc
 * or a relative returns NULL, with ENOMEM. */
void sim_malloc_may_fail(bool (*fails)(uintptr_t caller));

/* Ends a run that reuses blocks, with verdict use-after-free, where one was written. */
void sim_malloc_check(void);

/* In such a run, the one of these that was freed first. False: none was written. */
bool sim_malloc_written(struct sim_written *ret);

/* In such a run, the address that free() returned to for the block that `address` is in; 0: it is
 * in no freed block. Quick where the byte there is not the fill's. */
uintptr_t sim_malloc_freed(const volatile void *address);

/*
 * Around a dlopen. What the constructors of libraries take in between, but not what the loader
 * takes, lies in one range of addresses, which becomes an image (image.h): each run finds these
 * blocks as they were. RT_E_FULL: there are too many images.
 */
void sim_malloc_load_begin(void);
RT_MUST_CHECK rt_err sim_malloc_load_end(void);

/* The arena is about to be unmapped; no run is in progress. */
void sim_malloc_forget(const struct sim_arena *arena);

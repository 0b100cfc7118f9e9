/*
 * block.h -- memory of a scenario, one block at a time, so that it can be freed.
 *
 *      [ ... | header | block ]      header: 16 bytes just before the block
 *
 * A freed block is not reused in the run, so a dangling pointer points at nothing else, and the
 * addresses of later blocks do not depend on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CORE_MEMORY_BLOCK_H
#define SIM_CORE_MEMORY_BLOCK_H

#include "sim/core/memory/arena.h"

#ifdef __cplusplus
extern "C" {
#endif

enum sim_block_state { SIM_BLOCK_NONE, SIM_BLOCK_USED, SIM_BLOCK_FREED };

/* `size` bytes, filled or all zero; NULL when the arena is exhausted. */
void *sim_block_take(struct sim_arena *arena, size_t size, bool zero);

/* The state of `memory`; *ret_size is its size where it is a block. */
enum sim_block_state sim_block_state(
        const struct sim_arena *arena, const void *memory, size_t *ret_size);

/* Frees the block `memory`, which is used. */
void sim_block_free(void *memory);

#ifdef __cplusplus
}
#endif
#endif

/*
 * block.h -- memory of a scenario, one block at a time, so that it can be given back.
 *
 *      [ ... | header | block ]      header: 16 bytes just before the block
 *
 * What is given back stays where it is for the rest of the run: the arena does not use it again, so
 * an old pointer into it points at nothing else, and the addresses of later blocks do not depend on
 * it.
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

/* What `memory` is; *ret_size is its size where it is a block. */
enum sim_block_state sim_block_state(
        const struct sim_arena *arena, const void *memory, size_t *ret_size);

/* Gives the block `memory`, which is used, back. */
void sim_block_free(void *memory);

#ifdef __cplusplus
}
#endif
#endif

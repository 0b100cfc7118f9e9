/*
 * block_test.c -- memory of a scenario, freed block by block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/core/memory/arena.h"

#define SIZE ((size_t)1 << 20)

static struct sim_arena
arena_new(void)
{
    struct sim_arena arena;
    sim_arena_init(&arena, NULL, SIZE, 0x5a);
    return arena;
}

/* Goal: only the address of a live block is recognized. Method: check every address of an arena
 * with blocks of odd sizes. */
TEST(block_is_known_by_its_first_byte_only)
{
    struct sim_arena arena = arena_new();
    char *blocks[3];
    for (uint32_t i = 0; i < 3; i++) {
        blocks[i] = sim_block_take(&arena, 24 + 8 * i, true);
        EXPECT(blocks[i] != NULL);
    }
    uint32_t found = 0;
    for (size_t at = 0; at < arena.used; at++) {
        size_t size = 0;
        if (sim_block_state(&arena, arena.base + at, &size) == SIM_BLOCK_USED) {
            EXPECT(arena.base + at == blocks[found]);
            EXPECT_EQ(size, 24 + 8 * found);
            found++;
        }
    }
    EXPECT_EQ(found, 3);
    size_t size = 0;
    EXPECT_EQ(sim_block_state(&arena, &size, &size), SIM_BLOCK_NONE);
    sim_arena_fini(&arena);
}

TEST(block_freed_is_not_used_again)
{
    struct sim_arena arena = arena_new();
    size_t size = 0;
    void *first = sim_block_take(&arena, 64, false);
    sim_block_free(first);
    EXPECT_EQ(sim_block_state(&arena, first, &size), SIM_BLOCK_FREED);
    void *second = sim_block_take(&arena, 64, false);
    EXPECT(second != first);
    EXPECT_EQ(sim_block_state(&arena, second, &size), SIM_BLOCK_USED);
    sim_arena_fini(&arena);
}

TEST(block_larger_than_the_arena_is_refused)
{
    struct sim_arena arena = arena_new();
    EXPECT(sim_block_take(&arena, SIZE_MAX, false) == NULL);
    EXPECT(arena.exhausted);
    sim_arena_fini(&arena);
}

/*
 * reuse_test.c -- the heap of a program's run: blocks are used again, and watched before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/core/memory/malloc.h"
#include "sim/core/memory/reuse.h"
#include "sim/core/memory/shadow.h"

#define SIZE 1000u
#define ROUNDS (2 * SIM_QUARANTINE_BYTES / SIZE)

/* An arena of one run, with reuse. False: asan has a heap of its own. */
static bool
begin(struct sim_arena *arena)
{
#ifdef SIM_ASAN
    (void)arena;
    return false;
#endif
    sim_arena_init(arena, NULL, SIM_ARENA_SIZE, 0xcd);
    sim_malloc_begin(arena);
    EXPECT(sim_malloc_reuses());
    return true;
}

static void
end(struct sim_arena *arena)
{
    size_t bytes = 0;
    (void)sim_malloc_end(&bytes);
    sim_arena_fini(arena);
}

TEST(reuse_gives_a_block_again_after_the_quarantine)
{
    struct sim_arena arena;
    if (!begin(&arena)) {
        return;
    }
    void *volatile first = malloc(SIZE);
    uint32_t again_at = 0;
    free(first);
    for (uint32_t i = 1; again_at == 0 && i < ROUNDS; i++) {
        void *volatile block = malloc(SIZE);
        again_at = block == first ? i : 0;
        free(block);
    }
    EXPECT(again_at > SIM_QUARANTINE_BYTES / SIZE);
    size_t used = arena.used;
    for (uint32_t i = 0; i < 10 * ROUNDS; i++) {
        void *volatile block = malloc(SIZE);
        free(block);
    }
    EXPECT_EQ(arena.used, used);
    end(&arena);
}

TEST(reuse_fills_what_it_gives)
{
    struct sim_arena arena;
    if (!begin(&arena)) {
        return;
    }
    for (uint32_t i = 0; i < ROUNDS; i++) {
        unsigned char *volatile block = malloc(SIZE);
        EXPECT_EQ(block[0], 0xcd);
        EXPECT_EQ(block[SIZE - 1], 0xcd);
        memset(block, 1, SIZE);
        free(block);
    }
    end(&arena);
}

TEST(reuse_has_the_same_addresses_in_each_run)
{
    void *last[2] = {NULL, NULL};
    struct sim_arena arena;
    size_t bytes = 0;
    if (!begin(&arena)) {
        return;
    }
    end(&arena);
    sim_arena_init(&arena, NULL, SIM_ARENA_SIZE, 0xcd);
    for (uint32_t run = 0; run < 2; run++) {
        sim_arena_reset(&arena);
        sim_malloc_begin(&arena);
        EXPECT(sim_malloc_reuses());
        for (uint32_t i = 0; i < ROUNDS; i++) {
            void *volatile block = malloc(1 + i * 37 % 5000);
            last[run] = block;
            free(block);
        }
        (void)sim_malloc_end(&bytes);
    }
    EXPECT(last[0] == last[1]);
    sim_arena_fini(&arena);
}

TEST(reuse_knows_where_a_block_was_freed)
{
    struct sim_arena arena;
    if (!begin(&arena)) {
        return;
    }
    char *volatile kept = malloc(100);
    char *volatile block = malloc(100);
    EXPECT_EQ(sim_malloc_freed(block + 50), 0);
    free(block);
    EXPECT(sim_malloc_freed(block) != 0);
    EXPECT(sim_malloc_freed(block + 99) != 0);
    EXPECT_EQ(sim_malloc_freed(block + 100), 0);
    EXPECT_EQ(sim_malloc_freed(kept + 50), 0);
    EXPECT_EQ(sim_malloc_freed(&arena), 0);
    end(&arena);
}

TEST(reuse_resizes_in_place_within_a_class)
{
    struct sim_arena arena;
    if (!begin(&arena)) {
        return;
    }
    char *volatile block = malloc(257);
    memcpy(block, "kept", 5);
    char *volatile same = realloc(block, 300);
    EXPECT(same == block);
    char *volatile moved = realloc(same, 5000);
    EXPECT(moved != same);
    EXPECT_EQ(strcmp(moved, "kept"), 0);
    EXPECT_EQ(arena.mallocs, 1);
    EXPECT_EQ(arena.malloc_bytes, 5000);
    end(&arena);
}

TEST(reuse_aligns)
{
    struct sim_arena arena;
    if (!begin(&arena)) {
        return;
    }
    for (size_t alignment = 16; alignment <= 4096; alignment *= 2) {
        void *volatile block = aligned_alloc(alignment, 100);
        EXPECT_EQ((uintptr_t)block % alignment, 0);
        free(block);
    }
    for (size_t size = 0; size < 100000; size = size * 2 + 1) {
        char *volatile block = malloc(size);
        EXPECT_EQ((uintptr_t)block % 16, 0);
        memset(block, 1, size);
        EXPECT(sim_reuse_origin(block) != 0);
    }
    end(&arena);
}

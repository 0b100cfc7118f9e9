/*
 * malloc_test.c -- malloc of a run is counted, and freed with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/core/memory/arena.h"
#include "sim/core/memory/malloc.h"

/* Volatile: a compiler may remove a pair of malloc and free. */
static void *volatile last;

static void *
take(size_t size)
{
    last = malloc(size);
    EXPECT(last != NULL);
    return last;
}

TEST(malloc_of_a_run_counts_what_is_not_freed)
{
    struct sim_arena arena;
    size_t bytes = 1;
    sim_arena_init(&arena, NULL, SIM_ARENA_SIZE, 0xcd);
    void *before = take(8);
    sim_malloc_begin(&arena);
    void *first = take(10);
    void *second = take(100);
    void *grown = realloc(take(3), 5000);
    last = calloc(7, 3);
    free(first);
    free(before);
    free(last);
    EXPECT_EQ(sim_malloc_end(&bytes), 2);
    EXPECT_EQ(bytes, 5100);
    EXPECT_EQ(sim_malloc_end(&bytes), 0);
    EXPECT_EQ(bytes, 0);
    EXPECT(second != grown);
    sim_arena_reset(&arena);
    sim_malloc_begin(&arena);
    EXPECT_EQ(sim_malloc_end(&bytes), 0);
    sim_arena_fini(&arena);
}

/* Two runs get the same addresses (without a sanitizer, which has another malloc). */
TEST(malloc_of_two_runs_begins_at_the_same_place)
{
    struct sim_arena arena;
    size_t bytes = 0;
    void *blocks[2] = {NULL, NULL};
    sim_arena_init(&arena, NULL, SIM_ARENA_SIZE, 0xcd);
    for (int i = 0; i < 2; i++) {
        sim_arena_reset(&arena);
        sim_malloc_begin(&arena);
        blocks[i] = take(64);
        EXPECT_EQ((uintptr_t)blocks[i] % 16, 0);
        EXPECT_EQ(sim_malloc_end(&bytes), 1);
    }
    EXPECT(!sim_arena_holds(&arena, blocks[0]) || blocks[0] == blocks[1]);
    sim_arena_fini(&arena);
}

TEST(malloc_too_large_for_a_run_answers_null)
{
    struct sim_arena arena;
    size_t bytes = 0;
    volatile size_t huge = SIZE_MAX / 2;
    sim_arena_init(&arena, NULL, 1u << 20, 0);
    sim_malloc_begin(&arena);
    EXPECT(malloc(huge) == NULL);
    EXPECT(calloc(huge, 4) == NULL);
    EXPECT_EQ(sim_malloc_end(&bytes), 0);
    sim_arena_fini(&arena);
}

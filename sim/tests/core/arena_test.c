/*
 * arena_test.c -- a reset arena has no content of before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/core/memory/arena.h"

#define SIZE ((size_t)1 << 16)
#define OLD 0x77

/* Sizes with all kinds of gaps up to the next block. */
static void
take_all(struct sim_arena *arena, size_t first, int mark)
{
    for (size_t size = first; size < first + 40; size++) {
        void *memory = size % 2 == 0 ? sim_arena_alloc(arena, size) : sim_arena_zalloc(arena, size);
        EXPECT(memory != NULL);
        if (mark != 0) {
            memset(memory, mark, size);
        }
    }
}

/* Unchecked: the gaps between blocks are poisoned under the sanitizer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
__attribute__((no_sanitize("address")))
#endif
static size_t
count_old(const struct sim_arena *arena)
{
    const volatile char *bytes = arena->base;
    size_t found = 0;
    for (size_t i = 0; i < arena->used; i++) {
        found += bytes[i] == OLD;
    }
    return found;
}

/* Goal: a search of the arena finds nothing of an earlier run, in gaps neither.
 * Method: blocks are overwritten, the arena is reset, and blocks of other sizes are taken. */
TEST(arena_after_a_reset_holds_no_byte_of_before)
{
    struct sim_arena arena;
    sim_arena_init(&arena, NULL, SIZE, 0xcd);
    take_all(&arena, 64, OLD);
    EXPECT(count_old(&arena) > 0);
    sim_arena_reset(&arena);
    take_all(&arena, 1, 0);
    EXPECT_EQ(count_old(&arena), 0);
    sim_arena_fini(&arena);
}

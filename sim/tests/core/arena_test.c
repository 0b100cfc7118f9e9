/*
 * arena_test.c -- a reset arena has no content of before; a copy has all of it.
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

#define PAGE ((size_t)4096)
#define PAGES ((size_t)24)

/* Pages of each kind: never written, zero, written in their last byte. */
static void
take_pages(struct sim_arena *arena, char **ret_pages)
{
    for (size_t i = 0; i < PAGES; i++) {
        char *page = i % 2 == 0 ? sim_arena_alloc(arena, PAGE) : sim_arena_zalloc(arena, PAGE);
        EXPECT(page != NULL);
        page[PAGE - 1] = (char)(i % 3 == 0 ? OLD : page[PAGE - 1]);
        ret_pages[i] = page;
    }
    EXPECT(sim_arena_alloc(arena, 100) != NULL); /* The last piece is a short one. */
}

/* Goal: a copy of a large arena has each byte of it, also where the fill was overwritten since.
 * Method: the arena is copied, every page of it is changed in one byte, and it is copied back; a
 * second arena, which is left alone, is the model. */
TEST(arena_large_is_as_it_was_after_a_copy_back)
{
    static char copy[4 * SIZE];
    struct sim_arena arena;
    struct sim_arena model;
    sim_arena_init(&arena, NULL, 2 * SIZE, 0xcd);
    sim_arena_init(&model, NULL, 2 * SIZE, 0xcd);
    char *pages[PAGES];
    char *wanted[PAGES];
    take_pages(&arena, pages);
    take_pages(&model, wanted);
    const size_t used = arena.used;
    EXPECT(used > SIZE);
    EXPECT(sim_arena_copy_size(&arena) <= sizeof(copy));
    char *end = sim_arena_copy_out(&arena, copy);
    EXPECT((size_t)(end - copy) <= sim_arena_copy_size(&arena));
    for (size_t i = 0; i < PAGES; i++) {
        pages[i][i * 7] ^= 1;
    }
    EXPECT(sim_arena_copy_back(&arena, copy, used, 0) == end);
    for (size_t i = 0; i < PAGES; i++) {
        EXPECT(memcmp(pages[i], wanted[i], PAGE) == 0);
    }
    sim_arena_fini(&arena);
    sim_arena_fini(&model);
}

/* Goal: what is set aside is zero, apart from all else, and comes back with a copy.
 * Method: both ends are written, copied, taken further and overwritten, and copied back; then the
 * two ends meet. */
TEST(arena_aside_is_at_the_other_end)
{
    static char copy[2 * SIZE];
    struct sim_arena arena;
    sim_arena_init(&arena, NULL, SIZE, 0xcd);
    char *block = sim_arena_alloc(&arena, 100);
    char *aside = sim_arena_zalloc_aside(&arena, 40);
    EXPECT(block == arena.base);
    EXPECT(aside >= arena.base + SIZE - 64 && aside + 40 <= arena.base + SIZE);
    EXPECT_EQ(aside[0] | aside[39], 0);
    memset(aside, 7, 40);
    const size_t used = arena.used;
    const size_t set_aside = arena.aside;
    char *end = sim_arena_copy_out(&arena, copy);
    EXPECT((size_t)(end - copy) <= sim_arena_copy_size(&arena));
    memset(aside, 8, 40);
    EXPECT(sim_arena_zalloc_aside(&arena, 1) < (void *)aside);
    EXPECT(sim_arena_copy_back(&arena, copy, used, set_aside) == end);
    EXPECT_EQ(arena.aside, set_aside);
    EXPECT_EQ(aside[0], 7);
    EXPECT_EQ(aside[39], 7);
    EXPECT(sim_arena_zalloc_aside(&arena, SIZE - used - set_aside + 1) == NULL);
    EXPECT(sim_arena_zalloc_aside(&arena, SIZE - used - set_aside) != NULL);
    EXPECT(sim_arena_alloc(&arena, 1) == NULL);
    sim_arena_fini(&arena);
}

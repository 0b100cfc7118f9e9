/*
 * word.c -- words of the arena.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/memory/word.h"

#include "runtime/base/assert.h"

volatile uint64_t *
sim_word_address(const struct sim_world *world, size_t offset)
{
    rt_assert(offset % sizeof(uint64_t) == 0);
    return (volatile uint64_t *)(void *)(world->arena.base + offset);
}

__attribute__((no_sanitize_address, noinline)) void
sim_words_copy(const struct sim_world *world, size_t offset, uint64_t *to, size_t count)
{
    rt_assert(to != NULL);
    const volatile uint64_t *from = sim_word_address(world, offset);
    for (size_t i = 0; i < count; i++) {
        to[i] = from[i];
    }
}

uint64_t
sim_word_at(const struct sim_world *world, size_t offset)
{
    rt_assert(sim_word_is_in(world, offset));
    uint64_t value;
    sim_words_copy(world, offset, &value, 1);
    return value;
}

__attribute__((no_sanitize_address, noinline)) void
sim_word_put(struct sim_world *world, size_t offset, uint64_t value)
{
    rt_assert(sim_word_is_in(world, offset));
    *sim_word_address(world, offset) = value;
}

bool
sim_word_is_in(const struct sim_world *world, size_t offset)
{
    return offset + sizeof(uint64_t) <= world->arena.used;
}

bool
sim_word_is_link(const struct sim_world *world, uint64_t value)
{
    return sim_arena_holds(&world->arena, (const void *)(uintptr_t)value);
}

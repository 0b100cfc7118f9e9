/*
 * changes.c -- the arena before and after each step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/changes.h"

#include <string.h>
#include <sys/mman.h>

#include "runtime/base/assert.h"
#include "sim/judge/spurious_poll.h"

/* Steps at the end of a run that are looked at. */
#define STEPS_MAX UINT64_C(400)

struct sim_changes *
sim_changes_new(void)
{
    void *memory = mmap(NULL, sizeof(struct sim_changes), PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

void
sim_changes_free(struct sim_changes **changes)
{
    if (*changes != NULL) {
        (void)munmap(*changes, sizeof(**changes));
        *changes = NULL;
    }
}

static volatile uint64_t *
words_at(const struct sim_world *world, size_t offset)
{
    return (volatile uint64_t *)(void *)(world->arena.base + offset);
}

__attribute__((no_sanitize_address, noinline)) void
sim_words_copy(const struct sim_world *world, size_t offset, uint64_t *to, size_t count)
{
    const volatile uint64_t *from = words_at(world, offset);
    for (size_t i = 0; i < count; i++) {
        to[i] = from[i];
    }
}

__attribute__((no_sanitize_address, noinline)) void
sim_word_put(struct sim_world *world, size_t offset, uint64_t value)
{
    rt_assert(offset + sizeof(value) <= world->arena.used);
    *words_at(world, offset) = value;
}

uint64_t
sim_change_bytes(const struct sim_change *change)
{
    uint64_t differ = change->before ^ change->after;
    uint64_t mask = 0;
    for (uint32_t i = 0; i < 64; i += 8) {
        uint64_t byte = UINT64_C(0xff) << i;
        mask |= (differ & byte) != 0 ? byte : 0;
    }
    return mask;
}

static bool
is_link(const struct sim_world *world, uint64_t value)
{
    return sim_arena_holds(&world->arena, (const void *)(uintptr_t)value);
}

/* Where there is no space left the older half goes: what came last matters most. */
static struct sim_change *
next_slot(struct sim_changes *changes)
{
    if (changes->count == SIM_CHANGES_MAX) {
        changes->count = SIM_CHANGES_MAX / 2;
        memmove(changes->all, changes->all + changes->count,
                changes->count * sizeof(*changes->all));
    }
    return &changes->all[changes->count++];
}

/* `copy` is the arena before the step. */
static void
note_step(struct sim_changes *changes, const struct sim_world *world, uint64_t *copy, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        uint64_t now;
        sim_words_copy(world, i * sizeof(now), &now, 1);
        if (copy[i] != now && !is_link(world, copy[i]) && !is_link(world, now)) {
            *next_slot(changes) = (struct sim_change){.step = world->step,
                    .offset = i * sizeof(now),
                    .before = copy[i],
                    .after = now,
                    .actor_id = world->stepping->id};
        }
    }
}

/* The last step of the run is the last one that is noted, also where it ended because the run had
 * taken enough: a replay does not end there. */
static void
note_steps(struct sim_changes *changes, struct sim_world *world, uint64_t *copy, size_t size)
{
    bool reached = true;
    while (reached && world->step < changes->to && sim_world_may_replay(world)) {
        uint64_t step = world->step;
        size_t used = world->arena.used < size ? world->arena.used & ~(size_t)7 : size;
        sim_words_copy(world, 0, copy, used / sizeof(*copy));
        reached = sim_world_continue(world, (struct sim_stop){step + 1, false});
        if (world->step > step) {
            note_step(changes, world, copy, used / sizeof(*copy));
            sim_world_spend(world, used / sizeof(*copy) / SIM_CHANGES_WORDS_A_STEP);
        }
    }
}

void
sim_changes_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    struct sim_changes *changes = argument;
    struct sim_aside kept;
    struct sim_recording nothing = {false, false};
    uint64_t from = outcome->steps > STEPS_MAX ? outcome->steps - STEPS_MAX : 0;
    sim_keep(world, &kept);
    changes->count = 0;
    changes->to = outcome->steps;
    if (sim_world_run_to(world, what->scenario, &what->options, what->seed, what->strategy, nothing,
                (struct sim_stop){from, false})) {
        /* Most arenas are small, and what grows beyond twice its size is not looked at. */
        size_t size = 2 * world->arena.used + ((size_t)1 << 16);
        uint64_t *copy =
                mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (copy != MAP_FAILED) {
            note_steps(changes, world, copy, size);
            (void)munmap(copy, size);
        }
    }
    sim_world_drop(world);
    sim_restore(world, &kept);
}

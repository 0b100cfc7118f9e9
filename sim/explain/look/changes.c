/*
 * changes.c -- the arena before and after each step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/changes.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/memory/reuse.h"
#include "sim/program/program.h"

/* Steps at the end of a run that are read. */
#define STEPS_MAX UINT64_C(400)

/* Where there is no space left the older half goes: the last changes matter most. */
static struct sim_change *
next_slot(struct sim_changes *changes)
{
    rt_assert(changes->count <= SIM_CHANGES_MAX);
    if (changes->count == SIM_CHANGES_MAX) {
        changes->count = SIM_CHANGES_MAX / 2;
        memmove(changes->all, changes->all + changes->count,
                changes->count * sizeof(*changes->all));
    }
    return &changes->all[changes->count++];
}

/* Where the block of malloc ends that begins behind the header at word `i`; 0: none is there. */
static size_t
end_of_block(const struct sim_world *world, size_t i, size_t count)
{
    uint64_t words[sizeof(struct sim_malloc_header) / sizeof(uint64_t)];
    struct sim_malloc_header header;
    rt_assert(i < count);
    if (i + sizeof(words) / sizeof(*words) > count) {
        return 0;
    }
    sim_words_copy(world, i * sizeof(*words), words, sizeof(words) / sizeof(*words));
    memcpy(&header, words, sizeof(header));
    bool block = header.state == SIM_MALLOC_USED || header.state == SIM_MALLOC_FREED;
    size_t end = i + (sizeof(header) + header.size + sizeof(*words) - 1) / sizeof(*words);
    return block && end <= count ? end : 0;
}

/* Since the experiment remembered the arena. Of a program its blocks only: all else there is the
 * simulator's, which dies of other words, and not what the program waits for. */
static void
note_step(struct sim_changes *changes, const struct sim_experiment *experiment)
{
    const struct sim_world *world = experiment->world;
    rt_assert(world->arena.used / sizeof(uint64_t) >= experiment->word_count);
    bool program = sim_program_is(experiment->what->scenario);
    size_t end = 0;
    for (size_t i = 0; i < experiment->word_count; i++) {
        if (program && i >= end) {
            end = end_of_block(world, i, experiment->word_count);
            continue;
        }
        uint64_t before = experiment->words[i];
        uint64_t now = sim_word_at(world, i * sizeof(now));
        if (before != now && !sim_word_is_link(world, before) && !sim_word_is_link(world, now)) {
            *next_slot(changes) = (struct sim_change){.step = world->step,
                    .offset = i * sizeof(now),
                    .before = before,
                    .after = now,
                    .actor_id = world->stepping->id};
        }
    }
}

/* The last step of the run is the last one that is noted, also where the run ended because it had
 * taken enough: a replay does not end there. */
static void
note_steps(struct sim_changes *changes, struct sim_experiment *experiment)
{
    rt_assert(experiment->outcome->steps == changes->to);
    struct sim_world *world = experiment->world;
    bool reached = true;
    while (reached && world->step < changes->to && sim_world_may_replay(world) &&
            sim_experiment_remember(experiment)) {
        uint64_t step = world->step;
        reached = sim_world_continue(world, (struct sim_stop){step + 1, false});
        if (world->step > step) {
            note_step(changes, experiment);
            sim_world_spend(world, experiment->word_count / SIM_CHANGES_WORDS_A_STEP);
        }
    }
}

void
sim_changes_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    rt_assert(argument != NULL);
    struct sim_changes *changes = argument;
    struct sim_experiment experiment;
    uint64_t from = outcome->steps > STEPS_MAX ? outcome->steps - STEPS_MAX : 0;
    sim_experiment_begin(&experiment, world, what, outcome);
    changes->count = 0;
    changes->to = outcome->steps;
    if (sim_experiment_at(&experiment, from)) {
        note_steps(changes, &experiment);
    }
    sim_world_drop(world);
    sim_experiment_end(&experiment);
}

const struct sim_change *
sim_changes_next(const struct sim_changes *changes, uint32_t index)
{
    rt_assert(index < changes->count);
    const struct sim_change *change = &changes->all[index];
    for (uint32_t i = index + 1; i < changes->count; i++) {
        if (changes->all[i].offset == change->offset &&
                (sim_change_bytes(&changes->all[i]) & sim_change_bytes(change)) != 0) {
            return &changes->all[i];
        }
    }
    return NULL;
}

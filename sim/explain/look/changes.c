/*
 * changes.c -- the arena before and after each step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/changes.h"

#include <string.h>

#include "runtime/base/assert.h"

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

/* Since the experiment remembered the arena. */
static void
note_step(struct sim_changes *changes, const struct sim_experiment *experiment)
{
    const struct sim_world *world = experiment->world;
    rt_assert(world->arena.used / sizeof(uint64_t) >= experiment->word_count);
    for (size_t i = 0; i < experiment->word_count; i++) {
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

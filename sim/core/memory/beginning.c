/*
 * beginning.c -- a copy of a run after `setup`, for runs that begin in the same way.
 *
 *      copy:  [ head | events | hashes of events | as in checkpoint.c ]
 *
 * A setup without decisions is the same for every seed and strategy. The copy holds little more
 * than the memory that setup took from the arena, which was filled then, so restoring it never
 * costs more than the setup that it saves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/core/memory/checkpoint.h"
#include "sim/core/world.h"
#include "sim/core/world_priv.h"

struct head {
    uint32_t events;
    uint32_t hashes;
};

static size_t
size_around(const struct head *head)
{
    size_t size = sizeof(*head) + head->events * sizeof(struct sim_event) +
                  head->hashes * sizeof(uint64_t);
    return (size + 15) & ~(size_t)15;
}

/* Not for runs with texts, which are stored elsewhere; nor where draws are noted or a trap is set,
 * which may be about setup. */
static struct sim_beginning *
beginning_of(const struct sim_world *world, struct sim_recording recording)
{
    struct sim_checkpoints *checkpoints = world->checkpoints;
    bool may = checkpoints != NULL && !checkpoints->sets_up_always && !recording.texts &&
               world->draws == NULL && world->trap == NULL;
    return may ? &checkpoints->beginnings[recording.events] : NULL;
}

bool
sim__begin_kept(struct sim_world *world, const struct sim_scenario *scenario,
        const struct sim_options *options, struct sim_recording recording)
{
    struct sim_beginning *beginning = beginning_of(world, recording);
    if (beginning == NULL) {
        return false;
    }
    beginning->again = beginning->scenario == scenario &&
                       memcmp(&beginning->options, options, sizeof(*options)) == 0;
    if (!beginning->again) {
        beginning->scenario = scenario;
        beginning->options = *options;
        beginning->kept = false;
    }
    if (!beginning->kept) {
        return false;
    }
    struct head head;
    const char *from = beginning->memory;
    memcpy(&head, from, sizeof(head));
    from += sizeof(head);
    memcpy(world->recorder.memory.events, from, head.events * sizeof(struct sim_event));
    from += head.events * sizeof(struct sim_event);
    memcpy(world->recorder.memory.hashes, from, head.hashes * sizeof(uint64_t));
    sim__copy_back(world, beginning->memory + size_around(&head), recording);
    world->checkpoints->begun++;
    return true;
}

static bool
fits(const struct sim_world *world, const struct head *head)
{
    return world->recorder.count <= world->recorder.memory.events_capacity &&
           size_around(head) <= SIM_BEGINNING_SIZE &&
           sim__kept_size(world) <= SIM_BEGINNING_SIZE - size_around(head);
}

static void
copy_out(const struct sim_world *world, const struct head *head, char *to)
{
    char *at = to;
    memcpy(at, head, sizeof(*head));
    at += sizeof(*head);
    memcpy(at, world->recorder.memory.events, head->events * sizeof(struct sim_event));
    at += head->events * sizeof(struct sim_event);
    memcpy(at, world->recorder.memory.hashes, head->hashes * sizeof(uint64_t));
    sim__copy_out(world, to + size_around(head));
}

void
sim__keep_beginning(struct sim_world *world)
{
    const struct sim_recorder *recorder = &world->recorder;
    struct sim_beginning *beginning =
            beginning_of(world, (struct sim_recording){recorder->events_on, recorder->texts_on});
    /* A setup with decisions depends on the seed. */
    if (beginning == NULL || !beginning->again || world->decider.asked != 0) {
        return;
    }
    const struct head head = {.events = (uint32_t)recorder->count, .hashes = recorder->hashes};
    if (fits(world, &head) && sim__can_be_kept(world)) {
        copy_out(world, &head, beginning->memory);
        beginning->kept = true;
    }
}

/*
 * checkpoint.c -- copying a run out of the world, and back.
 *
 *      copy:  [ head | of this run (struct sim_world) | notes, if any | actors | enabled | timed |
 *               arena | stacks in use | writable memory of libraries ]
 *
 * Pointers are copied as they are: the arena, the world and its tables, and the stacks keep their
 * addresses.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/memory/checkpoint.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/memory/image.h"
#include "sim/core/memory/malloc.h"
#include "sim/core/memory/shadow.h"
#include "sim/core/process/output.h"
#include "sim/core/process/stack.h"
#include "sim/core/world.h"
#include "sim/core/world_priv.h"

/* The fields of a run: from `scenario` to before `audit_steps`, and, in a run that has notes, to
 * before `escape`. The outcome is still empty. */
#define OWN_FIRST offsetof(struct sim_world, scenario)
#define OWN_SIZE (offsetof(struct sim_world, audit_steps) - OWN_FIRST)
#define NOTES_FIRST offsetof(struct sim_world, audit_steps)
#define NOTES_SIZE (offsetof(struct sim_world, escape) - NOTES_FIRST)

/* Copying this many bytes takes about as long as a step; see `is_worth_it`. */
#define STEP_BYTES 1536u

struct head {
    struct sim_decider decider;
    struct sim_recorder recorder;
    size_t arena_used;
    size_t arena_aside;
    size_t malloc_bytes;
    struct sim_reuse *reuse;
    uint32_t mallocs;
    uint32_t enabled;
    uint32_t timed;
    uint64_t probes;
};

void
sim_checkpoints_init(struct sim_checkpoints *checkpoints, size_t size)
{
    memset(checkpoints, 0, sizeof(*checkpoints));
    checkpoints->memory = sim_heap_map(NULL, size + 2 * SIM_BEGINNING_SIZE);
    checkpoints->size = size;
    checkpoints->beginnings[0].memory = checkpoints->memory + size;
    checkpoints->beginnings[1].memory = checkpoints->memory + size + SIM_BEGINNING_SIZE;
}

void
sim_checkpoints_fini(struct sim_checkpoints *checkpoints)
{
    sim_heap_unmap(checkpoints->memory, checkpoints->size + 2 * SIM_BEGINNING_SIZE);
    checkpoints->memory = NULL;
}

void
sim_checkpoints_drop(struct sim_checkpoints *checkpoints)
{
    checkpoints->count = 0;
    checkpoints->used = 0;
}

/* ---- Taking. --------------------------------------------------------------------------------- */

bool
sim__can_be_kept(const struct sim_world *world)
{
    return sim_shadow_is_kept() && sim_malloc_is_kept() && world->inner == NULL &&
           !world->arena.exhausted && !world->decider.tape_full && sim__stacks_size() != SIZE_MAX &&
           sim_output_is_empty();
}

size_t
sim__kept_size(const struct sim_world *world)
{
    size_t actors = world->actor_count * sizeof(struct sim_actor *);
    size_t queues = (world->enabled.count + world->timed_count) * sizeof(uint16_t);
    size_t own = sim__has_notes(world) ? OWN_SIZE + NOTES_SIZE : OWN_SIZE;
    size_t size = sizeof(struct head) + own + actors + sim_arena_copy_size(&world->arena) + queues +
                  sim__stacks_size() + sim_images_size();
    return (size + 15) & ~(size_t)15;
}

/*
 * With k steps between two checkpoints, k / 2 of them are repeated on average: the total is minimal
 * where k squared is twice the cost of a copy, in steps.
 */
static bool
is_worth_it(const struct sim_world *world, size_t size)
{
    const struct sim_checkpoints *checkpoints = world->checkpoints;
    if (size > checkpoints->size / 4) {
        return false;
    }
    if (checkpoints->count == 0) {
        return true;
    }
    uint64_t steps = world->step - checkpoints->all[checkpoints->count - 1].step;
    return steps * steps * STEP_BYTES >= size;
}

/* Makes space: drops every second checkpoint and compacts the rest. */
static void
thin_out(struct sim_checkpoints *checkpoints)
{
    size_t end = checkpoints->used;
    uint32_t kept = 0;
    checkpoints->used = 0;
    for (uint32_t i = 0; i < checkpoints->count; i++) {
        struct sim_checkpoint *each = &checkpoints->all[i];
        size_t next = i + 1 < checkpoints->count ? checkpoints->all[i + 1].offset : end;
        size_t size = next - each->offset;
        if (i % 2 != 0) {
            continue;
        }
        memmove(checkpoints->memory + checkpoints->used, checkpoints->memory + each->offset, size);
        checkpoints->all[kept++] = (struct sim_checkpoint){
                .offset = checkpoints->used, .asked = each->asked, .step = each->step};
        checkpoints->used += size;
    }
    checkpoints->count = kept;
    rt_assert(checkpoints->used <= end);
}

static char *
put(char *to, const void *from, size_t size)
{
    memcpy(to, from, size);
    return to + size;
}

void
sim__copy_out(const struct sim_world *world, char *to)
{
    const struct head head = {
            .decider = world->decider,
            .recorder = world->recorder,
            .arena_used = world->arena.used,
            .arena_aside = world->arena.aside,
            .malloc_bytes = world->arena.malloc_bytes,
            .reuse = world->arena.reuse,
            .mallocs = world->arena.mallocs,
            .enabled = world->enabled.count,
            .timed = world->timed_count,
            .probes = sim__probes_meant(),
    };
    to = put(to, &head, sizeof(head));
    to = put(to, (const char *)world + OWN_FIRST, OWN_SIZE);
    if (sim__has_notes(world)) {
        to = put(to, (const char *)world + NOTES_FIRST, NOTES_SIZE);
    }
    to = put(to, world->actors, world->actor_count * sizeof(struct sim_actor *));
    to = put(to, world->enabled.ring + world->enabled.head, head.enabled * sizeof(uint16_t));
    to = put(to, world->timed, head.timed * sizeof(uint16_t));
    to = sim_arena_copy_out(&world->arena, to);
    to = sim__stacks_copy_out(to);
    (void)sim_images_copy_out(to);
}

void
sim__checkpoint(struct sim_world *world)
{
    struct sim_checkpoints *checkpoints = world->checkpoints;
    size_t size = sim__kept_size(world);
    if (!is_worth_it(world, size) || !sim__can_be_kept(world)) {
        return;
    }
    while (checkpoints->count == SIM_CHECKPOINTS_MAX ||
            checkpoints->used + size > checkpoints->size) {
        thin_out(checkpoints);
    }
    checkpoints->all[checkpoints->count++] = (struct sim_checkpoint){
            .offset = checkpoints->used, .asked = world->decider.asked, .step = world->step};
    sim__copy_out(world, checkpoints->memory + checkpoints->used);
    checkpoints->used += size;
    rt_assert(checkpoints->used <= checkpoints->size);
    checkpoints->taken++;
}

/* ---- Restoring. ------------------------------------------------------------------------------ */

static const char *
get(const char *from, void *to, size_t size)
{
    memcpy(to, from, size);
    return from + size;
}

void
sim__copy_back(struct sim_world *world, const char *from, struct sim_recording recording)
{
    struct head head;
    from = get(from, &head, sizeof(head));
    sim__notes_clear(world);
    from = get(from, (char *)world + OWN_FIRST, OWN_SIZE);
    if (sim__has_notes(world)) {
        from = get(from, (char *)world + NOTES_FIRST, NOTES_SIZE);
    }
    rt_assert(world->actor_count <= SIM_ACTORS_MAX + 1);
    rt_assert(head.enabled < world->actor_count);
    rt_assert(head.timed < world->actor_count);
    from = get(from, world->actors, world->actor_count * sizeof(struct sim_actor *));
    world->enabled.head = 0;
    world->enabled.count = head.enabled;
    from = get(from, world->enabled.ring, head.enabled * sizeof(uint16_t));
    from = get(from, world->timed, head.timed * sizeof(uint16_t));
    from = sim_arena_copy_back(&world->arena, from, head.arena_used, head.arena_aside);
    from = sim__stacks_copy_back(from);
    (void)sim_images_copy_back(from);
    world->arena.mallocs = head.mallocs;
    world->arena.malloc_bytes = head.malloc_bytes;
    world->arena.reuse = head.reuse;
    /* Of the decider not what belongs to the strategy and the seed of this run. */
    world->decider.deviations = head.decider.deviations;
    world->decider.tape.count = head.decider.tape.count;
    world->decider.run_choices = head.decider.run_choices;
    world->decider.hash = head.decider.hash;
    world->decider.asked = head.decider.asked;
    world->decider.passed = head.decider.passed;
    world->recorder = head.recorder;
    world->recorder.over = UINT64_MAX; /* Set by the end of the run before. */
    world->recorder.events_on = recording.events;
    world->recorder.texts_on = recording.texts;
    sim__probes_resume(world, head.probes);
}

static bool
are_of(const struct sim_checkpoints *checkpoints, const struct sim_strategy *strategy,
        const struct sim_scenario *scenario, const struct sim_options *options,
        struct sim_recording recording)
{
    return checkpoints->strategy == strategy && checkpoints->scenario == scenario &&
           checkpoints->events == recording.events && checkpoints->texts == recording.texts &&
           memcmp(&checkpoints->options, options, sizeof(*options)) == 0;
}

static void
make_theirs(struct sim_checkpoints *checkpoints, const struct sim_strategy *strategy,
        const struct sim_scenario *scenario, const struct sim_options *options,
        struct sim_recording recording)
{
    sim_checkpoints_drop(checkpoints);
    checkpoints->strategy = strategy;
    checkpoints->scenario = scenario;
    checkpoints->options = *options;
    checkpoints->events = recording.events;
    checkpoints->texts = recording.texts;
}

/* The newest one in the common prefix of this run and the one before. */
static const struct sim_checkpoint *
newest(struct sim_checkpoints *checkpoints, uint64_t same)
{
    while (checkpoints->count > 0) {
        const struct sim_checkpoint *last = &checkpoints->all[checkpoints->count - 1];
        if (last->asked <= same) {
            return last;
        }
        rt_assert(last->offset <= checkpoints->used);
        checkpoints->used = last->offset;
        checkpoints->count--;
    }
    return NULL;
}

bool
sim__resume(struct sim_world *world, struct sim_resumption *resumption,
        const struct sim_scenario *scenario, const struct sim_options *options,
        struct sim_recording recording)
{
    struct sim_checkpoints *checkpoints = world->checkpoints;
    if (!are_of(checkpoints, world->decider.strategy, scenario, options, recording)) {
        make_theirs(checkpoints, world->decider.strategy, scenario, options, recording);
        return false;
    }
    const struct sim_checkpoint *checkpoint = newest(checkpoints, resumption->same);
    if (checkpoint == NULL) {
        return false;
    }
    sim__copy_back(world, checkpoints->memory + checkpoint->offset, recording);
    resumption->resumed = checkpoint->asked;
    checkpoints->resumed++;
    return true;
}

void
sim__checkpoints_spoil(struct sim_world *world)
{
    struct sim_checkpoints *checkpoints = world->checkpoints;
    if (checkpoints != NULL) {
        sim_checkpoints_drop(checkpoints);
        checkpoints->strategy = NULL;
    }
}

/*
 * ---- A copy of a run after `setup`, for runs that begin in the same way. -----------------------
 *
 *      copy:  [ head | events | hashes of events | as above ]
 *
 * A setup without decisions is the same for every seed and strategy. The copy holds little more
 * than the memory that setup took from the arena, which was filled then, so restoring it never
 * costs more than the setup that it saves.
 */

struct beginning_head {
    uint32_t events;
    uint32_t hashes;
};

static size_t
size_around(const struct beginning_head *head)
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
    struct beginning_head head;
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
beginning_fits(const struct sim_world *world, const struct beginning_head *head)
{
    return world->recorder.count <= world->recorder.memory.events_capacity &&
           size_around(head) <= SIM_BEGINNING_SIZE &&
           sim__kept_size(world) <= SIM_BEGINNING_SIZE - size_around(head);
}

static void
copy_beginning(const struct sim_world *world, const struct beginning_head *head, char *to)
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
    const struct beginning_head head = {
            .events = (uint32_t)recorder->count, .hashes = recorder->hashes};
    if (beginning_fits(world, &head) && sim__can_be_kept(world)) {
        copy_beginning(world, &head, beginning->memory);
        beginning->kept = true;
    }
}

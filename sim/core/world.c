/*
 * world.c -- a run from its beginning to its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/world.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/memory/checkpoint.h"
#include "sim/core/memory/image.h"
#include "sim/core/memory/malloc.h"
#include "sim/core/process/output.h"
#include "sim/core/scenario.h"
#include "sim/core/world_priv.h"

struct sim_world *sim_world_current;

static const struct sim_actor_ops world_ops = {.kind = SIM_ACTOR_WORLD};

/* Where steps are counted without a watching parent. */
static uint64_t unwatched;

#define ACTORS_BYTES ((SIM_ACTORS_MAX + 1) * sizeof(struct sim_actor *))
#define RING_BYTES ((SIM_ENABLED_RING + SIM_ENABLED_SLACK) * sizeof(uint16_t))
#define TIMED_BYTES ((SIM_ACTORS_MAX + 1) * sizeof(uint16_t))
#define JOURNALS_BYTES (SIM_JOURNALS * sizeof(struct sim_gains))

void
sim_world_init(struct sim_world *world, const struct sim_world_memory *memory, void *arena_hint,
        uint8_t fill)
{
    rt_assert(world != sim_world_current);
    memset(world, 0, sizeof(*world));
    sim_arena_init(&world->arena, arena_hint, SIM_ARENA_SIZE, fill);
    world->recorder.memory = memory->record;
    world->decider.tape = memory->tape;
    world->decider.recorder = &world->recorder;
    world->actors = sim_heap_map(NULL, ACTORS_BYTES);
    world->enabled.ring = sim_heap_map(NULL, RING_BYTES);
    world->timed = sim_heap_map(NULL, TIMED_BYTES);
    world->journals = sim_heap_map(NULL, JOURNALS_BYTES);
    world->snapshots = sim_heap_map(NULL, SIM_SNAPSHOTS * SIM_SNAPSHOT_SIZE);
    world->progress = &unwatched;
    world->progress_max = UINT64_MAX;
}

void
sim_world_fini(struct sim_world *world)
{
    rt_assert(sim_world_current != world);
    sim_heap_unmap(world->actors, ACTORS_BYTES);
    sim_heap_unmap(world->enabled.ring, RING_BYTES);
    sim_heap_unmap(world->timed, TIMED_BYTES);
    sim_heap_unmap(world->journals, JOURNALS_BYTES);
    sim_heap_unmap(world->snapshots, SIM_SNAPSHOTS * SIM_SNAPSHOT_SIZE);
    sim_malloc_forget(&world->arena);
    sim_arena_fini(&world->arena);
}

/* ---- The beginning. -------------------------------------------------------------------------- */

static void
begin_actors(struct sim_world *world)
{
    world->enabled.head = 0;
    world->enabled.count = 0;
    world->enabled.fronted = false;
    world->next_due_ns = SIM_NEVER;
    world->self.ops = &world_ops;
    world->self.world = world;
    world->self.name = "the world";
    world->self.due_ns = SIM_NEVER;
    world->self.id = 1;
    world->actors[0] = &world->self;
    world->actor_count = 1;
    world->current = &world->self;
    world->stepping = &world->self;
}

static void
clear_outcome(struct sim_outcome *outcome, uint64_t seed)
{
    outcome->seed = seed;
    outcome->digest = 0;
    outcome->verdict = SIM_VERDICT_PASS;
    outcome->oracle = SIM_ORACLE_NONE;
    outcome->reason = SIM_REASON_NONE;
    outcome->asked = 0;
    outcome->actor = UINT32_MAX;
    outcome->object = 0;
    outcome->site = 0;
    outcome->fail_step = 0;
    outcome->fail_ns = 0;
    outcome->missing_wake_step = 0;
    outcome->lost_step = 0;
    outcome->lost_wakers = 0;
    outcome->stack.count = 0;
    outcome->stack.function = false;
    outcome->stack.returns = false;
    outcome->actor_name[0] = '\0';
    outcome->message[0] = '\0';
}

/* The world was restored from a copy of an earlier run. */
static void
continue_kept(struct sim_world *world, uint64_t seed)
{
    clear_outcome(&world->outcome, seed);
    sim_world_current = world;
    sim_output_begin();
    sim_malloc_resume(&world->arena);
}

/* What a run begins with: all zero from `self` on, but for a few fields. */
#define RESET_FIRST offsetof(struct sim_world, self)
#define RESET_SIZE (offsetof(struct sim_world, audit_steps) - RESET_FIRST)

/* The decider has begun. */
static void
begin_new(struct sim_world *world, const struct sim_scenario *scenario,
        const struct sim_options *options, uint64_t seed, struct sim_recording recording,
        struct sim_stop stop)
{
    sim_arena_reset(&world->arena);
    sim_recorder_begin(&world->recorder, recording.events, recording.texts);
    world->scenario = scenario;
    world->options = *options;
    world->stop = stop;
    sim__notes_clear(world);
    memset((char *)world + RESET_FIRST, 0, RESET_SIZE);
    world->audit_stride = 1;
    world->bindings_end = &world->bindings;
    world->stepped_end = &world->stepped;
    if (scenario->slack_ns > world->options.slack_ns) {
        world->options.slack_ns = scenario->slack_ns;
    }
    world->order = (uint32_t)sim__in_force(options->order, scenario->order, SIM_ORDER_ANY);
    world->profile = (uint32_t)sim__in_force(options->profile, scenario->profile, SIM_PROFILE_WASI);
    sim__fault_free_begin(world);
    sim__busy_begin(world);
    world->faults =
            options->faults == SIM_FAULT_FROM_SCENARIO ? scenario->survives : options->faults;
    clear_outcome(&world->outcome, seed);
    begin_actors(world);
    sim_world_current = world;
    sim__probes_begin(world);
    sim_output_begin();
    sim_malloc_begin(&world->arena);
}

/* The decider has begun. True: setup is done already. */
static bool
begin(struct sim_world *world, const struct sim_scenario *scenario,
        const struct sim_options *options, uint64_t seed, struct sim_recording recording,
        struct sim_stop stop)
{
    rt_assert(sim_world_current == NULL);
    rt_assert(scenario->setup != NULL);
    if (!sim__begin_kept(world, scenario, options, recording)) {
        begin_new(world, scenario, options, seed, recording, stop);
        return false;
    }
    world->stop = stop;
    continue_kept(world, seed);
    return true;
}

static void
set_up(struct sim_world *world, bool is_set_up)
{
    if (!is_set_up) {
        world->scenario->setup(world);
        sim__keep_beginning(world);
    }
}

/* ---- The end. -------------------------------------------------------------------------------- */

static void
check_mallocs(struct sim_world *world)
{
    size_t bytes = 0;
    sim_output_end();
    uint32_t blocks = sim_malloc_end(&bytes);
    if (blocks > 0 && !world->keeps_memory) {
        sim_fail(world, SIM_VERDICT_LEAK, SIM_ORACLE_BALANCE, NULL, 0,
                "%u block%s from malloc (%zu bytes together) %s not freed", blocks,
                blocks == 1 ? "" : "s", bytes, blocks == 1 ? "was" : "were");
    }
}

/* The run has ended with pass: background is cancelled in the order of ids, and what is left then
 * is a leak. Any of this may fail. */
static void
close_run(struct sim_world *world)
{
    world->closing = true;
    world->recorder.over = world->recorder.count;
    for (uint32_t i = 1; i < world->actor_count; i++) {
        struct sim_actor *actor = world->actors[i];
        if (!actor->done && actor->ops->cancel != NULL) {
            world->current = actor;
            actor->ops->cancel(actor);
        }
    }
    world->current = &world->self;
    if (world->scenario->check != NULL) {
        world->scenario->check(world, world->state);
    }
    sim_world_audit(world);
    sim_bindings_each(binding, world, close)
    {
        binding->ops->close(binding->argument);
    }
    check_mallocs(world);
}

static void
finish(struct sim_world *world, struct sim_outcome *ret_outcome)
{
    struct sim_outcome *outcome = &world->outcome;
    size_t ignored;
    rt_assert(sim_world_current == world);
    sim_output_end();
    (void)sim_malloc_end(&ignored);
    if (world->recorder.texts_on && world->on_stacks != NULL) {
        world->on_stacks(world);
    }
    sim__fibers_drop(world);
    world->current = &world->self;
    sim_world_event(world, SIM_EVENT_END, 0, 0, 0, outcome->verdict);
    outcome->events = world->recorder.count;
    /* The end time is part of the digest, also where no event follows the last step. */
    uint64_t end = world->decider.hash ^ (world->now_ns * UINT64_C(0x9e3779b97f4a7c15));
    outcome->digest = sim_recorder_end(&world->recorder, end);
    outcome->steps = world->step;
    outcome->sim_ns = world->now_ns;
    outcome->decisions = world->decider.asked;
    outcome->deviations = world->decider.deviations;
    outcome->tasks = world->tasks;
    outcome->order = (uint8_t)world->order;
    outcome->audited = world->audits_drawn != 0;
    outcome->audit_step = world->audits_drawn != 0 ? world->audit_steps[0] : 0;
    world->finished = true;
    sim_decider_end(&world->decider, outcome);
    sim_world_current = NULL;
    *ret_outcome = *outcome;
}

/* The strategy's, where there are checkpoints and it walks a tree. */
static struct sim_resumption *
resumption_of(const struct sim_world *world, struct sim_strategy *strategy)
{
    bool walks = world->checkpoints != NULL && strategy->ops->resumption != NULL;
    return walks ? strategy->ops->resumption(strategy) : NULL;
}

/* A run that is not resumed overwrites ring and tape. */
static void
spoil(struct sim_world *world, struct sim_recording recording)
{
    if (recording.events || !world->decider.tape_off) {
        sim__checkpoints_spoil(world);
    }
}

/* Whether the run resumes from a checkpoint. */
static bool
resume(struct sim_world *world, struct sim_resumption *resumption,
        const struct sim_scenario *scenario, const struct sim_options *options, uint64_t seed,
        struct sim_recording recording)
{
    resumption->resumed = 0;
    if (!sim__resume(world, resumption, scenario, options, recording)) {
        return false;
    }
    continue_kept(world, seed);
    return true;
}

/* After the ring has wrapped, it lacks events that checkpoints need. */
static void
check_checkpoints(struct sim_world *world)
{
    if (world->recorder.count > world->recorder.memory.events_capacity) {
        sim_checkpoints_drop(world->checkpoints);
    }
}

/* sim__world_next takes no checkpoint, calls no hook, asks no scenario whether it is done, and
 * stops in no debugger. */
static void
allow_direct(struct sim_world *world)
{
    world->direct = world->scenario->done == NULL && world->stepped == NULL && world->trap == NULL;
}

/* To its end, with a stop in between where the run has a trap. */
static void
run_steps(struct sim_world *world, const struct sim_resumption *resumption)
{
    if (resumption != NULL) {
        sim__world_steps_keeping(world, resumption);
        return;
    }
    allow_direct(world);
    world->stopped = world->stop.step == 0;
    sim__world_steps(world);
    if (world->stopped) {
        sim__world_steps_trapping(world);
    }
}

void
sim_world_run(struct sim_world *world, const struct sim_scenario *scenario,
        const struct sim_options *options, uint64_t seed, struct sim_strategy *strategy,
        struct sim_recording recording, struct sim_outcome *ret_outcome)
{
    sim_decider_begin(&world->decider, strategy, seed);
    struct sim_resumption *resumption = resumption_of(world, strategy);
    struct sim_stop stop = {UINT64_MAX, false};
    if (resumption == NULL) {
        spoil(world, recording);
        stop = sim__trap_stop(world);
    }
    bool is_set_up =
            (resumption != NULL && resume(world, resumption, scenario, options, seed, recording)) ||
            begin(world, scenario, options, seed, recording, stop);
    if (_setjmp(world->escape) == 0) {
        set_up(world, is_set_up);
        run_steps(world, resumption);
        if (world->outcome.verdict == SIM_VERDICT_PASS) {
            close_run(world);
        }
    }
    finish(world, ret_outcome);
    if (resumption != NULL) {
        check_checkpoints(world);
    }
}

/* ---- Stopping before the end, for the judge. ------------------------------------------------- */

bool
sim_world_run_to(struct sim_world *world, const struct sim_scenario *scenario,
        const struct sim_options *options, uint64_t seed, struct sim_strategy *strategy,
        struct sim_recording recording, struct sim_stop stop)
{
    sim_decider_begin(&world->decider, strategy, seed);
    spoil(world, recording);
    bool is_set_up = begin(world, scenario, options, seed, recording, stop);
    if (_setjmp(world->escape) == 0) {
        set_up(world, is_set_up);
        if (stop.step == 0 && !stop.at_quiet) {
            world->stopped = true;
        }
        allow_direct(world);
        sim__world_steps(world);
    }
    return world->stopped;
}

bool
sim_world_continue(struct sim_world *world, struct sim_stop stop)
{
    rt_assert(sim_world_current == world);
    rt_assert(stop.step > world->step || stop.at_quiet);
    if (_setjmp(world->escape) == 0) {
        sim__world_steps_on(world, stop);
    }
    return world->stopped;
}

/* False: nothing is enabled, and the clock may not move to what is due next. */
static bool
muted_step(struct sim_world *world, uint64_t until_ns)
{
    if (world->now_ns >= world->next_due_ns) {
        sim__enable_due(world);
    }
    if (world->enabled.count > 0) {
        sim__world_step(world);
        return true;
    }
    return sim__world_next_due(world) <= until_ns && sim__world_wait(world);
}

static bool
has_gained(const struct sim_world *world, const struct sim_settling *how)
{
    bool gained = how->first_gain && world->gains != NULL && world->gains->count > 0;
    return gained || world->foreground < how->foreground;
}

static bool
is_limit(const struct sim_outcome *outcome)
{
    return outcome->oracle == SIM_ORACLE_LIMIT || outcome->oracle == SIM_ORACLE_LIVENESS;
}

enum sim_settled
sim_world_settle(struct sim_world *world, const struct sim_settling *how)
{
    rt_assert(world->stopped);
    world->decider.muted = true;
    world->free_steps = how->free_steps;
    world->direct = false;
    world->stop.step = UINT64_MAX;
    uint64_t until = world->step + how->steps;
    bool moves = true;
    if (_setjmp(world->escape) == 0) {
        while (moves && !world->over && world->step < until && !has_gained(world, how)) {
            moves = muted_step(world, how->until_ns);
        }
        return world->step < until || world->over || !moves ? SIM_SETTLED : SIM_SETTLED_LIMIT;
    }
    return is_limit(&world->outcome) ? SIM_SETTLED_LIMIT : SIM_SETTLED_VERDICT;
}

bool
sim_snapshot_take(struct sim_world *world, uint32_t place)
{
    rt_assert(world->stopped && place < SIM_SNAPSHOTS);
    if (!sim__can_be_kept(world) || sim__kept_size(world) > SIM_SNAPSHOT_SIZE) {
        return false;
    }
    sim__copy_out(world, world->snapshots + place * SIM_SNAPSHOT_SIZE);
    return true;
}

void
sim_snapshot_restore(struct sim_world *world, uint32_t place)
{
    const struct sim_recording nothing = {false, false};
    rt_assert(place < SIM_SNAPSHOTS);
    uint64_t seed = world->outcome.seed;
    sim__copy_back(world, world->snapshots + place * SIM_SNAPSHOT_SIZE, nothing);
    world->decider.muted = false;
    if (world->decider.strategy->ops->seek != NULL) {
        world->decider.strategy->ops->seek(world->decider.strategy, world->decider.deviations);
    }
    continue_kept(world, seed);
}

bool
sim_world_call(struct sim_world *world, struct sim_actor *actor, void (*fn)(void *), void *argument)
{
    rt_assert(world->stopped);
    rt_assert(sim_world_actor(world, actor->index) == actor);
    world->direct = false;
    world->decider.muted = true;
    world->spurious_polling = true;
    world->current = actor;
    if (_setjmp(world->escape) == 0) {
        fn(argument);
    }
    world->current = &world->self;
    world->spurious_polling = false;
    return world->outcome.verdict == SIM_VERDICT_PASS;
}

void
sim_world_drop(struct sim_world *world)
{
    struct sim_outcome ignored;
    finish(world, &ignored);
}

/* ---- Small things. --------------------------------------------------------------------------- */

void
sim_world_bind(struct sim_world *world, struct sim_binding *binding,
        const struct sim_binding_ops *ops, void *argument, const char *name)
{
    *binding = (struct sim_binding){.ops = ops, .argument = argument, .name = name};
    *world->bindings_end = binding;
    world->bindings_end = &binding->next;
    if (ops->after_step != NULL) {
        world->direct = false;
        *world->stepped_end = binding;
        world->stepped_end = &binding->next_stepped;
    }
}

bool
sim_world_silence(struct sim_world *world, uint32_t nth, struct sim_silence *ret)
{
    rt_assert(ret != NULL);
    sim_bindings_each(binding, world, silences)
    {
        uint32_t count = binding->ops->silences(binding->argument, nth, ret);
        if (nth < count) {
            return true;
        }
        nth -= count;
    }
    return false;
}

void
sim_world_audit(struct sim_world *world)
{
    sim_bindings_each(binding, world, audit)
    {
        const char *wrong = binding->ops->audit(binding->argument);
        if (wrong != NULL) {
            struct sim_outcome *outcome = &world->outcome;
            (void)snprintf(outcome->actor_name, sizeof(outcome->actor_name), "%s", binding->name);
            sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_PRIMITIVE_AUDIT, NULL, 0, "%s", wrong);
        }
    }
}

uint64_t
sim_world_lost(const struct sim_world *world)
{
    uint64_t lost = 0;
    sim_bindings_each(binding, world, lost)
    {
        lost += binding->ops->lost(binding->argument);
    }
    return lost;
}

/* sim_world_search, for each image. */
struct search {
    uint64_t (*count)(const void *argument, const char *memory, size_t size);
    const void *argument;
    uint64_t found;
};

static void
search_part(void *argument, const char *memory, size_t size)
{
    struct search *search = argument;
    search->found += search->count(search->argument, memory, size);
}

uint64_t
sim_world_search(const struct sim_world *world,
        uint64_t (*count)(const void *argument, const char *memory, size_t size),
        const void *argument)
{
    struct search search = {count, argument, 0};
    search_part(&search, world->arena.base, world->arena.used);
    sim_images_each(search_part, &search);
    return search.found;
}

uint32_t
sim_world_object(struct sim_world *world, uint32_t kind)
{
    rt_assert(kind < RT_OBJECT_KINDS);
    struct sim_actor *creator = world->current;
    return SIM_OBJECT(kind, creator->index, ++creator->objects[kind]);
}

/* ---- Names that a scenario gives to objects. ------------------------------------------------- */

struct sim_object_name {
    const struct sim_object_name *next;
    const char *name;
    uint32_t object;
};

void
sim_world_name(struct sim_world *world, uint32_t object, const char *name)
{
    rt_assert(name != NULL);
    struct sim_object_name *named = sim_new(world, struct sim_object_name);
    *named = (struct sim_object_name){world->names, name, object};
    world->names = named;
    sim_record_text(&world->recorder, SIM_TEXT_OBJECT, object, name, strlen(name));
}

const char *
sim_world_object_name(const struct sim_world *world, uint32_t object)
{
    const char *first = NULL; /* As in the record. */
    for (const struct sim_object_name *at = world->names; at != NULL; at = at->next) {
        first = at->object == object ? at->name : first;
    }
    return first;
}

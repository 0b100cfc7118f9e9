/*
 * observe.c -- one pass over the events of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/cover/observe.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/search/cover/pass_elements.h"

/* ---- The partial-order hash: what one event adds, and where a transition ends. --------------- */

/* The hash of a run. Its address is not taken, so that it stays in registers. */
struct chain {
    uint64_t hash;  /* Running, of this transition. */
    uint64_t total; /* Over the transitions that are complete. */
    uint64_t quiet; /* Of the last move of the clock. */
    uint32_t actor; /* Of this transition. */
    uint32_t transitions;
};

/* A new block begins where the mode changes. */
__attribute__((noinline)) static void
block_begin(struct sim_cover_thing *thing, uint32_t mode)
{
    if (thing->mode != SIM_MODE_WRITE) {
        thing->before = mix(thing->before ^ thing->mode, thing->block);
    }
    thing->block = 0;
    thing->mode = mode;
}

/* Mixes the access and its details in by one product: the length of the chain of products is the
 * cost of the pass. Returns the new hash. */
static inline uint64_t
touch(uint64_t hash, struct sim_cover_thing *thing, uint32_t mode, uint64_t what, uint64_t where)
{
    if (mode != thing->mode) {
        block_begin(thing, mode);
    }
    hash = mix(hash + what, where + thing->before);
    if (mode == SIM_MODE_WRITE) {
        thing->before = hash;
    } else {
        thing->block += mix(hash, MIX_1);
    }
    return hash;
}

static inline struct sim_cover_thing *
resource_of(struct sim_cover *cover, uint32_t resource)
{
    struct sim_cover_thing *thing = &cover->resources[resource];
    if (thing->key != key_of(cover, resource)) {
        *thing = (struct sim_cover_thing){.key = key_of(cover, resource), .mode = SIM_MODE_WRITE};
    }
    return thing;
}

/* An event without an access conflicts with nothing: it is added beside the chain of products. */
static inline uint64_t
mix_alone(uint64_t hash, uint64_t what, uint64_t where)
{
    return (hash << 23 | hash >> 41) + (what ^ where * MIX_1);
}

/* The resources of an event that touches more than its object. */
__attribute__((noinline)) static uint64_t
touch_also(struct sim_cover *cover, const struct sim_footprint *footprint, uint64_t hash)
{
    for (uint32_t i = 0; i < 2 && footprint->also[i].resource != SIM_RESOURCE_NONE; i++) {
        struct sim_cover_thing *resource = resource_of(cover, footprint->also[i].resource);
        hash = touch(hash, resource, footprint->also[i].mode, i, 0);
    }
    return hash;
}

static inline uint64_t
mix_event(struct sim_cover *cover, const struct sim_event *event, struct sim_cover_thing *thing,
        uint64_t hash)
{
    const struct sim_cover_kind *kind = &cover->kinds[event->kind];
    uint64_t what = (uint64_t)event->kind << 56 ^ (event->argument & kind->argument_mask) * MIX_1;
    uint64_t where = (uint64_t)event->site << 32 | event->await;
    if (thing != NULL && kind->mode != SIM_MODE_NONE) {
        hash = touch(hash, thing, kind->mode, what ^ thing->id, where);
    } else {
        hash = mix_alone(hash, what ^ (thing != NULL ? thing->id : 0), where);
    }
    return kind->touches_more ? touch_also(cover, &sim_footprints[event->kind], hash) : hash;
}

static inline void
end_transition(struct sim_cover *cover, struct chain *chain)
{
    rt_assert(chain->actor < SIM_COVER_ACTORS);
    uint64_t hash = mix(chain->hash, MIX_1);
    chain->total += hash;
    chain->transitions++;
    cover->actors[chain->actor].hash = hash;
}

/*
 * The resource QUIET, which every step READs and CLOCK WRITEs, needs no blocks: all complete
 * transitions are before a move of the clock, and `total` is the sum over them.
 */
static inline void
begin_transition(struct sim_cover *cover, struct chain *chain, const struct sim_event *event)
{
    end_transition(cover, chain);
    chain->actor = event->actor & (SIM_COVER_ACTORS - 1);
    note_actor(cover, chain->actor, chain->actor);
    chain->hash = cover->actors[chain->actor].hash + chain->quiet;
    if (event->kind == SIM_EVENT_CLOCK) {
        chain->hash = mix(chain->hash, chain->total);
        chain->quiet = chain->hash;
    }
}

/* ---- The pass. ------------------------------------------------------------------------------- */

/* Returns what is known of the event's object; NULL: it has none. */
static inline struct sim_cover_thing *
see(struct pass *pass, const struct sim_event *event)
{
    if (event->object == 0) {
        see_alone(pass, event);
        return NULL;
    }
    struct sim_cover_thing *thing = thing_of(pass, event->object);
    if (thing != &pass->cover->rest) {
        see_object(pass, event, thing->memory);
    } else {
        see_alone(pass, event);
    }
    return thing;
}

/* Kinds of events whose arguments count. Others are times, keys, or numbers of objects. */
static const uint8_t counted[] = {RT_PROBE_WAKE, RT_PROBE_POLLED, RT_PROBE_CONSUME, RT_PROBE_PUT,
        RT_PROBE_GRANT, RT_PROBE_UNGRANT, RT_PROBE_ASK, SIM_EVENT_READ, SIM_EVENT_WRITE,
        SIM_EVENT_READY, SIM_EVENT_FAULT};

/* The table of footprint.h, in the form that the pass uses. */
static void
init_kinds(struct sim_cover *cover)
{
    for (uint32_t i = 0; i < 256; i++) {
        const struct sim_footprint *footprint = &sim_footprints[i];
        cover->kinds[i].mode = footprint->object;
        cover->kinds[i].touches_more = footprint->also[0].resource != SIM_RESOURCE_NONE;
    }
    for (uint32_t i = 0; i < sizeof(counted) / sizeof(*counted); i++) {
        cover->kinds[counted[i]].argument_mask = UINT64_MAX;
    }
}

static void
begin(struct pass *pass)
{
    struct sim_cover *cover = pass->cover;
    if (++cover->stamp == 0) {
        memset(cover, 0, sizeof(*cover));
        cover->stamp = 1;
    }
    if (cover->stamp == 1) {
        init_kinds(cover);
    }
    cover->things_used = 0;
    note_actor(cover, 0, 0);
}

uint32_t
sim_cover_run(struct sim_cover *cover, const struct sim_recorder *recorder, struct sim_element *ret,
        uint32_t max, struct sim_cover_run *ret_run)
{
    rt_assert(ret != NULL || max == 0);
    *ret_run = (struct sim_cover_run){0};
    struct pass pass = {.cover = cover, .run = ret_run, .elements = ret};
    pass.max = max < SIM_COVER_ELEMENTS_MAX ? max : SIM_COVER_ELEMENTS_MAX;
    begin(&pass);
    struct chain chain = {.hash = cover->actors[0].hash};
    const struct sim_event *events = recorder->memory.events;
    uint64_t mask = recorder->memory.events_capacity - 1;
    uint64_t first = sim_recorder_first(recorder);
    uint64_t end = sim_recorder_run_end(recorder);
    for (uint64_t i = first; i < end; i++) {
        const struct sim_event *event = &events[i & mask];
        if (sim_begins_transition(event->kind)) {
            begin_transition(cover, &chain, event);
            pass.task = 0;
            pass.fired = 0;
            pass.by_timer = false;
        } else {
            struct sim_cover_thing *thing = see(&pass, event);
            chain.hash = mix_event(cover, event, thing, chain.hash);
        }
    }
    end_transition(cover, &chain);
    /* Goals that `check` reaches when the run is over. */
    for (uint64_t i = end > first ? end : first; i < recorder->count; i++) {
        if (events[i & mask].kind == SIM_EVENT_GOAL) {
            cover_element(&pass, SIM_ELEMENT_GOAL, sim_event_line(&events[i & mask]), 0);
        }
    }
    rt_assert(pass.count <= pass.max && cover->things_used < SIM_COVER_OBJECTS);
    ret_run->order_hash = chain.total;
    ret_run->transitions = chain.transitions;
    ret_run->events = end > first ? end - first : 0;
    ret_run->partial = first > 0;
    return pass.count;
}

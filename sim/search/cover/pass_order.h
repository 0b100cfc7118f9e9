/*
 * pass_order.h -- the partial-order hash: what one event adds, and where a transition ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_COVER_PASS_ORDER_H
#define SIM_SEARCH_COVER_PASS_ORDER_H

#include "sim/search/cover/pass.h"

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

/* Kinds of events whose arguments count. Others are times, keys, or numbers of objects. */
#define BIT(kind) (UINT64_C(1) << (kind))
#define COUNTED_OF_RUNTIME \
    (BIT(RT_PROBE_WAKE) | BIT(RT_PROBE_POLLED) | BIT(RT_PROBE_CONSUME) | BIT(RT_PROBE_PUT) | \
            BIT(RT_PROBE_GRANT) | BIT(RT_PROBE_UNGRANT) | BIT(RT_PROBE_ASK))
#define COUNTED_OF_WORLD \
    (BIT(SIM_EVENT_READ - SIM_EVENT_FIRST) | BIT(SIM_EVENT_WRITE - SIM_EVENT_FIRST) | \
            BIT(SIM_EVENT_READY - SIM_EVENT_FIRST) | BIT(SIM_EVENT_FAULT - SIM_EVENT_FIRST))

static bool
argument_counts(uint32_t kind)
{
    uint64_t counted = kind < SIM_EVENT_FIRST ? COUNTED_OF_RUNTIME : COUNTED_OF_WORLD;
    return kind < SIM_EVENT_END_OF_KINDS && (counted >> (kind & 63) & 1) != 0;
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

#endif

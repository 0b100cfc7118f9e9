/*
 * pass.h -- the state of sim_cover_run, and what it knows of the run's objects and actors.
 *
 * Of observe.c only, like pass_elements.h: headers, so that the loop over the events of a run has
 * all of it in one place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/search/cover/observe.h"

struct pass {
    struct sim_cover *cover;
    struct sim_cover_run *run;
    struct sim_element *elements;
    uint32_t count;
    uint32_t max;
    uint32_t task;       /* That is being polled; 0: none. */
    uint32_t *memory;    /* Of that task. */
    uint32_t fired;      /* The slot of the last FIRE in this step; 0: none. */
    uint32_t fired_site; /* Where it had been stored … */
    uint32_t fired_task; /* … and whose it was. */
    bool by_timer;       /* A timer fired, and its task is not woken yet. */
};

/* ---- Mixing. --------------------------------------------------------------------------------- */

#define MIX_1 UINT64_C(0x9e3779b97f4a7c15)
#define MIX_2 UINT64_C(0xe7037ed1a0b428db)
#define MIX_3 UINT64_C(0xa0761d6478bd642f)

__extension__ typedef unsigned __int128 wide;

/* Both halves of a product, xored: each bit of `a` affects each bit of the result. */
static inline uint64_t
mix(uint64_t a, uint64_t b)
{
    wide product = (wide)(a ^ MIX_2) * (b ^ MIX_3);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* ---- Objects. -------------------------------------------------------------------------------- */

static uint32_t
actor_id(const struct sim_cover *cover, uint32_t index)
{
    bool known = index < SIM_COVER_ACTORS && cover->actors[index].stamp == cover->stamp;
    return known ? cover->actors[index].id : index;
}

static inline uint64_t
key_of(const struct sim_cover *cover, uint32_t object)
{
    return (uint64_t)cover->stamp << 32 | object;
}

/* A new object: as if its maker had written it. */
static void
thing_begin(struct sim_cover *cover, struct sim_cover_thing *thing, uint32_t object)
{
    uint32_t creator = actor_id(cover, SIM_OBJECT_ACTOR(object));
    *thing = (struct sim_cover_thing){.key = key_of(cover, object), .mode = SIM_MODE_WRITE};
    thing->id = (uint32_t)mix((uint64_t)creator << 32 | (object & 0xf000ffffu), MIX_1);
}

/* A new entry, or the one that all further objects share. */
__attribute__((noinline)) static struct sim_cover_thing *
thing_new(struct pass *pass, struct sim_cover_thing *place, uint32_t object)
{
    struct sim_cover *cover = pass->cover;
    if (cover->things_used >= SIM_COVER_OBJECTS / 4 * 3) {
        pass->run->coarse = true;
        if (cover->rest.key != key_of(cover, 0)) {
            thing_begin(cover, &cover->rest, 0);
        }
        return &cover->rest;
    }
    cover->things_used++;
    thing_begin(cover, place, object);
    return place;
}

static inline struct sim_cover_thing *
thing_of(struct pass *pass, uint32_t object)
{
    struct sim_cover *cover = pass->cover;
    uint64_t key = key_of(cover, object);
    uint32_t at = (uint32_t)(object * MIX_1 >> 40);
    for (;; at++) {
        struct sim_cover_thing *place = &cover->things[at & (SIM_COVER_OBJECTS - 1)];
        if (place->key == key) {
            return place;
        }
        if (place->key >> 32 != cover->stamp) {
            return thing_new(pass, place, object);
        }
    }
}

/* ---- Actors. --------------------------------------------------------------------------------- */

/* An actor's hash begins with its id, so that two actors of the same code differ. */
static inline void
note_actor(struct sim_cover *cover, uint32_t index, uint32_t id)
{
    if (cover->actors[index].stamp != cover->stamp) {
        cover->actors[index].stamp = cover->stamp;
        cover->actors[index].id = id;
        cover->actors[index].hash = mix(id, MIX_1);
    }
}

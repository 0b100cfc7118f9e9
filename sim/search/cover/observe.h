/*
 * observe.h -- what one run has covered, from its events when it is over.
 *
 *      cover: zeroed memory of the caller
 *      sim_cover_run(cover, &world->recorder, elements, SIM_COVER_ELEMENTS_MAX, &run);
 *
 * One pass over the ring gives the coverage points (element.h), each once, in the order in which
 * the run first reached them, and the *partial-order hash*: 64 bits that are equal for two runs
 * which differ only in the order of independent steps, and different (but for chance) for any
 * others. footprint.h alone defines which steps are independent.
 *
 * How the hash is made. A transition has a running hash. It begins with that of its actor's
 * last transition, and every event is mixed in: kind, object, sites, and arguments that are not
 * times. An event that accesses a resource also mixes in the history of the resource:
 *
 *      accesses of a resource    W1   R2 R3   W4          a block is one WRITE, or all READs (or
 *      blocks                   [W1] [R2 R3] [W4]         ADDs) between two others
 *
 * Each access sees the blocks before its own, and adds its running hash to its own block by
 * addition, so the order within a block leaves no trace and the order of blocks does. The run's
 * hash is the sum over its transitions. Objects and actors are identified by their stable ids. The
 * resource QUIET, which every step READs, needs no blocks: a move of the clock sees the sum so far.
 *
 * Beyond SIM_COVER_OBJECTS objects the rest count as one: they seem to conflict, without points.
 *
 * Nothing is allocated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/core/record/footprint.h"
#include "sim/core/record/recorder.h"
#include "sim/search/cover/element.h"

#define SIM_COVER_OBJECTS 8192u      /* A power of two; places for objects of one run. */
#define SIM_COVER_ACTORS 4096u       /* As many as a run can have. */
#define SIM_COVER_ELEMENTS 2048u     /* A power of two; places for elements of one run. */
#define SIM_COVER_ELEMENTS_MAX 1024u /* Elements of one run; more are left out. */

struct sim_cover_run {
    uint64_t order_hash; /* The partial-order hash. */
    uint64_t events;     /* That the pass read. */
    uint32_t transitions;
    bool partial; /* The ring has lost the beginning. */
    bool coarse;  /* There were too many objects. */
    bool cut;     /* There were too many points, or more than `max`. */
};

/* What is known of one object or resource of the run. */
struct sim_cover_thing {
    /* Its number, and above it the stamp of the run it belongs to; else the slot is free. */
    uint64_t key;
    uint64_t before; /* Hash of the blocks before the last one; of a WRITE, that included. */
    uint64_t block;  /* Sum over the last block: READs or ADDs. */
    uint32_t mode;   /* Of the last block. */
    uint32_t id;     /* Stable, made from the creator's id. */
    /* For coverage points; the meaning depends on the kind of object (pass_elements.h). */
    uint32_t memory[8];
};

/* What the pass needs for every event, by its kind. */
struct sim_cover_kind {
    uint64_t argument_mask; /* All bits where the argument counts, else 0. */
    uint32_t mode;          /* How it touches its object. */
    bool touches_more;      /* … and resources that every run has. */
};

/* Scratch memory of sim_cover_run. Zeroed once by the caller. */
struct sim_cover {
    struct sim_cover_thing things[SIM_COVER_OBJECTS]; /* First: each in its own cache line. */
    struct sim_cover_thing resources[SIM_RESOURCES];
    struct sim_cover_thing rest; /* Of all objects beyond the capacity. */
    struct sim_cover_kind kinds[256];
    struct {
        uint64_t hash; /* Of its last transition. */
        uint32_t id;
        uint32_t stamp;
    } actors[SIM_COVER_ACTORS];
    struct {
        uint64_t sites;
        uint64_t kind; /* With the stamp above it. */
    } seen[SIM_COVER_ELEMENTS];
    uint32_t stamp; /* Of the run; 0: none yet. */
    uint32_t things_used;
};

/*
 * Reads the run in `recorder`, which is over and was recorded with events. Fills at most `max`
 * different points and returns how many there are. *ret_run is filled in any case.
 */
uint32_t sim_cover_run(struct sim_cover *cover, const struct sim_recorder *recorder,
        struct sim_element *ret, uint32_t max, struct sim_cover_run *ret_run);

/*
 * trace.h -- one run as transitions: their footprints, their happens-before order, their races.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/assert.h"
#include "sim/core/actor.h"
#include "sim/core/record/footprint.h"

#define DPOR_TRANSITIONS_MAX 2048u
#define DPOR_ACCESSES_MAX 65536u
#define DPOR_WORDS (DPOR_TRANSITIONS_MAX / 64)
#define DPOR_NONE UINT32_MAX

/* The footprint of a transition, or of the next one of an actor in the sleep set. */
struct dpor_footprint {
    const struct sim_access *accesses; /* Of each resource one, at most. */
    uint32_t count;
    bool global; /* It conflicts with everything. */
};

/* One step of one actor, or a move of the clock while all was quiet (actor 0). */
struct dpor_transition {
    uint32_t actor; /* Its stable id. */
    uint32_t nth;   /* Of its actor's, in this run. */
    uint32_t node;  /* That chose it; DPOR_NONE: no other actor was enabled. */
    uint32_t first; /* Its accesses: from here … */
    uint32_t count; /* … so many. */
    bool global;    /* It conflicts with everything. */
    uint64_t data;  /* A hash of the data chosen in it. */
    uint64_t name;  /* A hash of it and all that happens before it; the same in any run. */
};

/* The run in progress. It keeps the transitions that it has in common with the one before. */
struct dpor_trace {
    bool all_conflict;                  /* Nothing is known of what steps share. */
    bool full;                          /* It had more transitions than the capacity. */
    bool open;                          /* The last transition is still under way. */
    uint32_t kept;                      /* Transitions kept from the run before. */
    uint32_t seen;                      /* Begun in this run. */
    uint32_t count;                     /* Recorded. */
    uint32_t accesses;                  /* Recorded. */
    bool timed;                         /* This run or an earlier one depended on the clock. */
    uint64_t data;                      /* A hash of the data chosen before the first transition. */
    uint32_t ids[SIM_ACTORS_MAX + 1];   /* Stable ids, by the index in this run. */
    uint16_t steps[SIM_ACTORS_MAX + 1]; /* Begun in this run, likewise. */
    struct dpor_transition transitions[DPOR_TRANSITIONS_MAX];
    struct sim_access all[DPOR_ACCESSES_MAX];
    /* Bit i of before[j]: transition i happens before j. */
    uint64_t before[DPOR_TRANSITIONS_MAX][DPOR_WORDS];
};

static inline struct dpor_footprint
dpor_footprint_of(const struct dpor_trace *trace, const struct dpor_transition *transition)
{
    rt_assert(transition->first + transition->count <= trace->accesses);
    return (struct dpor_footprint){
            trace->all + transition->first, transition->count, transition->global};
}

bool dpor_conflict(struct dpor_footprint a, struct dpor_footprint b);

/* Begins a run, which has its first `kept` transitions in common with the one before. */
void dpor_trace_begin(struct dpor_trace *trace, uint32_t kept);

/* Adds an event. True: it begins a transition, and the one before is over. */
bool dpor_trace_event(struct dpor_trace *trace, const struct sim_event *event);

/* Adds the answer of a choice other than that of the next actor. */
void dpor_trace_datum(struct dpor_trace *trace, uint32_t index);

static inline uint64_t
dpor_mix(uint64_t word)
{
    word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31;
}

/* Orders the transitions from `first` on by happens-before, and names them. */
void dpor_trace_order(struct dpor_trace *trace, uint32_t first);

/* Whether transition i is in a set. */
static inline bool
dpor_has(const uint64_t set[DPOR_WORDS], uint32_t i)
{
    return (set[i / 64] >> i % 64 & 1) != 0;
}

static inline bool
dpor_is_before(const struct dpor_trace *trace, uint32_t i, uint32_t j)
{
    return dpor_has(trace->before[j], i);
}

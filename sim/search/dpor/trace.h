/*
 * trace.h -- one run as transitions: what each touched, what had to come before it, and which two
 * could change places.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_DPOR_TRACE_H
#define SIM_SEARCH_DPOR_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/core/actor.h"
#include "sim/core/footprint.h"

#define DPOR_TRANSITIONS_MAX 2048u
#define DPOR_ACCESSES_MAX 65536u
#define DPOR_WORDS (DPOR_TRANSITIONS_MAX / 64)
#define DPOR_NONE UINT32_MAX

/* What a transition touched, or one in the sleep set would touch. */
struct dpor_footprint {
    const struct sim_access *accesses; /* Of each resource one, at most. */
    uint32_t count;
    bool global; /* It conflicts with everything. */
};

/* One step of one actor, or a move of the clock while all was quiet (actor 0). */
struct dpor_transition {
    uint32_t actor; /* Its stable id. */
    uint32_t nth;   /* Of its actor's, in this run. */
    uint32_t node;  /* Where it was chosen; DPOR_NONE: nobody else stood ready. */
    uint32_t first; /* Its accesses: from here … */
    uint32_t count; /* … so many. */
    bool global;    /* It conflicts with everything. */
    uint64_t data;  /* What was chosen in it, as one number. */
    uint64_t name;  /* Of it and all that had to come before it, in any run. */
};

/* The run in progress. What it has in common with the one before stays from there. */
struct dpor_trace {
    bool all_conflict; /* Nothing is known of what steps share. */
    bool full;         /* It had more transitions, or accesses, than there is room for. */
    bool open;         /* The last transition is still under way. */
    uint32_t kept;     /* So many transitions stand from the run before. */
    uint32_t seen;     /* Begun in this run. */
    uint32_t count;    /* Written down. */
    uint32_t accesses; /* Written down. */
    bool timed;        /* In this run or one before it something went by the clock. */
    uint64_t data;     /* Chosen before the first transition, as one number. */
    uint32_t ids[SIM_ACTORS_MAX + 1];   /* Stable ids, by the index in this run. */
    uint16_t steps[SIM_ACTORS_MAX + 1]; /* Begun in this run, likewise. */
    struct dpor_transition transitions[DPOR_TRANSITIONS_MAX];
    struct sim_access all[DPOR_ACCESSES_MAX];
    /* Bit i of before[j]: transition i had to come before j. */
    uint64_t before[DPOR_TRANSITIONS_MAX][DPOR_WORDS];
};

static inline struct dpor_footprint
dpor_footprint_of(const struct dpor_trace *trace, const struct dpor_transition *transition)
{
    return (struct dpor_footprint){
            trace->all + transition->first, transition->count, transition->global};
}

bool dpor_conflict(struct dpor_footprint a, struct dpor_footprint b);

/* A run begins; its first `kept` transitions are those that stand. */
void dpor_trace_begin(struct dpor_trace *trace, uint32_t kept);

/* An event of the run. True: it begins a transition, and the one before is over. */
bool dpor_trace_event(struct dpor_trace *trace, const struct sim_event *event);

/* Something other than who runs was chosen. */
void dpor_trace_datum(struct dpor_trace *trace, uint32_t index);

static inline uint64_t
dpor_mix(uint64_t word)
{
    word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31;
}

/* Orders the transitions from `first` on, and names them. */
void dpor_trace_order(struct dpor_trace *trace, uint32_t first);

static inline bool
dpor_is_before(const struct dpor_trace *trace, uint32_t i, uint32_t j)
{
    return (trace->before[j][i / 64] >> i % 64 & 1) != 0;
}

/*
 * Calls race(argument, i, j) for each i < j of two actors that conflict, where nothing between them
 * had to come after i and before j: for each j from `first` on, from the nearest i on.
 */
void dpor_trace_races(const struct dpor_trace *trace, uint32_t first,
        void (*race)(void *argument, uint32_t i, uint32_t j), void *argument);

#endif

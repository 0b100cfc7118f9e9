/*
 * facts.h -- what is learned from runs, in a form that adds up in any order.
 *
 *      run ──▶ facts of a job ──▶ merged in order of run index ──▶ statistics ──▶ later runs
 *
 * A fact is something that was seen: so many choices in a run, a step of an actor, a touch of an
 * object. In how many runs it was seen, in which one first, how often in all, and how often in one
 * run at most, adds up the same however runs are dealt out to workers. Facts are in the order in
 * which they were first seen, as tables are merged in the order of run index.
 *
 * Ownership. A table *borrows* its memory. Nothing is allocated, so a fact may be noted while a run
 * is in progress.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a fact is about; `a` and `b` name it together with the kind. Never stored: may change. */
enum sim_fact_kind {
    SIM_FACT_LENGTH,    /* Choices of the next actor in a run; a and b: 0. */
    SIM_FACT_ACTOR,     /* Steps of an actor; a: its stable id; b: its parent's. */
    SIM_FACT_OBJECT,    /* Accesses to an object; a, b: below. */
    SIM_FACT_RACE,      /* Accesses of an object that could have had the other order; a: it. */
    SIM_FACT_FOOTPRINT, /* A step in some state touches an object; a, b: below. */
    SIM_FACT_WANTED,    /* A constraint of a run (rf.h); a: both sites; b: the run, its sign. */
    SIM_FACT_COVER,     /* A coverage point; a: the point; b: its kind. */
    SIM_FACT_ORDER,     /* A partial order of steps, one in sixteen of them; a: its hash. */
    SIM_FACT_ASKED,     /* A goal whose condition was checked, and false; a: its site. */
    SIM_FACT_WASTE      /* Something was done for nothing (waste.h); a: its site; b: its kind. */
};

struct sim_fact {
    uint64_t a;
    uint32_t b;
    uint32_t kind;
    uint64_t first; /* Index in the sweep of the first run in which it was seen. */
    uint64_t last;  /* … and of the last. */
    uint64_t runs;  /* In so many runs. */
    uint64_t sum;   /* So often in all. */
    uint64_t most;  /* So often in one run at most. */
    uint64_t now;   /* So often in the run `last`. */
};

struct sim_facts {
    struct sim_fact *entries; /* In the order in which they were first seen. */
    uint32_t *index;          /* Open addressing; entry plus 1, 0: free. */
    uint32_t count;
    uint32_t capacity; /* A power of two; the index is at most twice as long, … */
    uint32_t mask;     /* … and has so many places and one: it grows with the facts. */
    uint64_t lost;     /* Facts beyond the capacity. */
    uint64_t run;      /* The run of the last note, … */
    uint32_t of_run;   /* … and how many different facts it has had so far. */
};

/* Bytes that a table of `capacity` (a power of two) facts needs. */
size_t sim_facts_size(uint32_t capacity);

/* An empty table over `memory` (aligned to 8, of sim_facts_size bytes, not necessarily zeroed). */
void sim_facts_init(struct sim_facts *facts, void *memory, uint32_t capacity);

/* Sets the pointers of a table over `memory` and writes nothing there: it is empty if `memory` is
 * zeroed. */
void sim_facts_lay_out(struct sim_facts *facts, void *memory, uint32_t capacity);

/* Forgets all. */
void sim_facts_clear(struct sim_facts *facts);

/* The fact was seen `amount` more times in run `run`; runs are in rising order. In a full table it
 * counts as lost. True when it is new to this table. */
bool sim_facts_note(struct sim_facts *facts, enum sim_fact_kind kind, uint64_t a, uint32_t b,
        uint64_t run, uint64_t amount);

/* How many different facts run `run` has had so far. A limit on the facts of one run has to count
 * these: the table's count would make the facts of a run depend on its neighbours. */
static inline uint32_t
sim_facts_of_run(const struct sim_facts *facts, uint64_t run)
{
    return facts->run == run ? facts->of_run : 0;
}

/* Adds one fact of a table of other runs, all of them later than those of `facts`. True when it is
 * new to this table. */
bool sim_facts_add(struct sim_facts *facts, const struct sim_fact *more);

/* Makes `to` a copy of `from`; its capacity is at least that of `from`. */
void sim_facts_copy(struct sim_facts *to, const struct sim_facts *from);

/* The fact; NULL: it was not seen. Valid until the table changes. */
const struct sim_fact *sim_facts_find(
        const struct sim_facts *facts, enum sim_fact_kind kind, uint64_t a, uint32_t b);

/* ---- What two kinds are about. --------------------------------------------------------------- */

/* FOOTPRINT: b is the resource, a holds the state that the step began in, line and mode. Once for
 * each event; with line, mode and b 0: once for each step. */
static inline uint64_t
sim_footprint_fact(uint32_t state, uint32_t line, uint32_t mode)
{
    return (uint64_t)state << 34 | (uint64_t)line << 2 | mode;
}

static inline uint32_t
sim_footprint_state(const struct sim_fact *fact)
{
    return (uint32_t)(fact->a >> 34);
}

static inline uint32_t
sim_footprint_line(const struct sim_fact *fact)
{
    return (uint32_t)(fact->a >> 2);
}

static inline uint32_t
sim_footprint_mode(const struct sim_fact *fact)
{
    return (uint32_t)(fact->a & 3);
}

/* OBJECT: a holds the resource and the mode, b is the actor's stable id. Once for each step that
 * touches it, in the strongest mode; 0 times for one that only reads it and ends blocked. */
static inline uint32_t
sim_object_resource(const struct sim_fact *fact)
{
    return (uint32_t)fact->a;
}

static inline uint32_t
sim_object_mode(const struct sim_fact *fact)
{
    return (uint32_t)(fact->a >> 32);
}

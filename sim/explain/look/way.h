/*
 * way.h -- the way that one actor takes through some steps of a run: functions, and certain calls.
 *
 * Held against the way that the same one takes in another run, it says what it does in one of them
 * alone. Only its own steps are walked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_EXPLAIN_LOOK_WAY_H
#define SIM_EXPLAIN_LOOK_WAY_H

#include "sim/explain/look/path.h"
#include "sim/judge/judge.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_WAY_STEPS 12u

/* Lies in memory that outlives the worker; all but actor_id, from, to and mark zeroed before. */
struct sim_way {
    bool done;         /* It was walked to its end. */
    uint32_t actor_id; /* The stable id of whose steps are walked; 0: everybody's. */
    uint64_t from;     /* The steps of the run that are looked at, both included. */
    uint64_t to;
    uintptr_t mark;                 /* An instruction that is noted as the calls are; 0: none. */
    uint64_t steps[SIM_WAY_STEPS];  /* Its own of them, the last ones, in their order. */
    uint32_t begins[SIM_WAY_STEPS]; /* The instruction of the walk with which each began. */
    uint32_t count;
    struct sim_path path; /* With the calls of host functions that register interest. */
};

/* Room shared with the workers that are forked from now on; NULL: the system has none. */
struct sim_way *sim_way_new(uint32_t actor_id, uint64_t from, uint64_t to);
void sim_way_free(struct sim_way **way);

/* For sim_job.study: `way` is the sim_way. */
void sim_way_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *way);

/* The step in which the n-th instruction of its walk was; 0: none. */
uint64_t sim_way_step(const struct sim_way *way, uint32_t nth);

/*
 * The functions that `way` went through and `other` did not, as sim_path_functions has them; those
 * of the runtime are left out. Returns how many.
 */
uint32_t sim_way_only(struct sim_places *places, const struct sim_way *way,
        const struct sim_way *other, struct sim_walked *ret);

/* The first call (path.calls) whose line `way` makes more often than `other`; NULL: none. */
const struct sim_walk_stop *sim_way_only_call(
        struct sim_places *places, const struct sim_way *way, const struct sim_way *other);

#ifdef __cplusplus
}
#endif
#endif

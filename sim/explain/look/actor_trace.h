/*
 * actor_trace.h -- what one actor executes in some steps of a run: functions, and certain calls.
 *
 * Compared with the trace of the same actor in another run, it says what the actor does in one of
 * them alone. Only its own steps are walked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_EXPLAIN_LOOK_ACTOR_TRACE_H
#define SIM_EXPLAIN_LOOK_ACTOR_TRACE_H

#include "sim/explain/look/path.h"
#include "sim/judge/judge.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_ACTOR_TRACE_STEPS 12u

/* Lies in memory that outlives the worker; all but actor_id, from, to and mark zeroed before. */
struct sim_actor_trace {
    bool done;         /* It was walked to its end. */
    uint32_t actor_id; /* The stable id of whose steps are walked; 0: everybody's. */
    uint64_t from;     /* The steps of the run that are looked at, both included. */
    uint64_t to;
    uintptr_t mark; /* An instruction that is noted as the calls are; 0: none. */
    uint64_t steps[SIM_ACTOR_TRACE_STEPS];  /* Its own of them, the last ones, in their order. */
    uint32_t begins[SIM_ACTOR_TRACE_STEPS]; /* The instruction of the walk with which each began. */
    uint32_t count;
    struct sim_path path; /* With the calls of host functions that register interest. */
};

/* Memory shared with the workers that are forked from now on; NULL: the system has none. */
struct sim_actor_trace *sim_actor_trace_new(uint32_t actor_id, uint64_t from, uint64_t to);
void sim_actor_trace_free(struct sim_actor_trace **trace);

/* For sim_job.analyze: `trace` is the sim_actor_trace. */
void sim_actor_trace_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *trace);

/* The step in which the n-th instruction of its walk was; 0: none. */
uint64_t sim_actor_trace_step(const struct sim_actor_trace *trace, uint32_t nth);

/*
 * The functions in `trace` and not in `other`, as sim_path_functions has them, without those of the
 * runtime. Returns how many.
 */
uint32_t sim_actor_trace_only(struct sim_places *places, const struct sim_actor_trace *trace,
        const struct sim_actor_trace *other, struct sim_walked *ret);

/* The first call (path.calls) whose line `trace` makes more often than `other`; NULL: none. */
const struct sim_walk_stop *sim_actor_trace_only_call(struct sim_places *places,
        const struct sim_actor_trace *trace, const struct sim_actor_trace *other);

#ifdef __cplusplus
}
#endif
#endif

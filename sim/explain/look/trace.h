/*
 * trace.h -- which instructions some steps of a run execute.
 *
 * Of a range of steps, or of those that one actor takes in it. Compared with the trace of the same
 * actor in another run, it says what the actor does in one of them alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/look/experiment.h"
#include "sim/explain/look/path.h"

#define SIM_TRACE_STEPS 12u

/* Lies in memory that outlives the worker; zeroed but for what sim_trace_new takes, and mark. */
struct sim_trace {
    bool done;         /* It was walked to its end. */
    uint32_t actor;    /* In-run index, where known; UINT32_MAX. */
    uint32_t actor_id; /* The stable id of the actor whose steps are walked; 0: all. */
    uint64_t from;     /* The steps, both included. */
    uint64_t to;
    uintptr_t mark;                   /* An instruction that is noted as the calls are; 0: none. */
    uint64_t steps[SIM_TRACE_STEPS];  /* The actor's own of them, the last ones. */
    uint32_t begins[SIM_TRACE_STEPS]; /* The instruction of the walk with which each began. */
    uint32_t count;
    struct sim_path path; /* With the calls of host functions that register interest. */
};

/* In shared memory (sim_results_new). */
struct sim_trace *sim_trace_new(uint32_t actor_id, uint64_t from, uint64_t to);
void sim_trace_free(struct sim_trace **trace);

/* sim_analyze_fn: walks the last SIM_TRACE_STEPS steps of the actor in the range, one by one. */
void sim_trace_run_actor(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *trace);

/* sim_analyze_fn: walks the range from its first step on, as far as the walk goes. */
void sim_trace_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *trace);

/* The same in an experiment, at most `instructions` of them. */
void sim_trace_walk(
        const struct sim_experiment *experiment, uint64_t instructions, struct sim_trace *trace);

/* The step in which the n-th instruction of the walk was; 0: none. */
uint64_t sim_trace_step(const struct sim_trace *trace, uint32_t nth);

/*
 * The functions in `trace` and not in `other`, as sim_path_functions has them, without those of the
 * runtime. Returns how many.
 */
uint32_t sim_trace_only(struct sim_places *places, const struct sim_trace *trace,
        const struct sim_trace *other, struct sim_walked *ret);

/* The first call (path.calls) whose line `trace` makes more often than `other`; NULL: none. */
const struct sim_walk_stop *sim_trace_only_call(
        struct sim_places *places, const struct sim_trace *trace, const struct sim_trace *other);

/*
 * analysis.h -- a second look at a failing run, in the process that made it.
 *
 * The judge knows the step that owed the wake, and nothing below a step. Here that step
 * is taken apart. Each word of memory that it changed is put back, by itself, in a copy of the
 * run, and the blocked task is asked: does it still go on? Where not, this word is what the blocked
 * task waits for, whatever the program calls it; and the instruction that wrote it is found by
 * taking the step once more, one instruction at a time.
 *
 * All of this happens in a worker, and the results lie in memory shared with the parent, filled as
 * they come: the worker may die of a word that was put back. Who starts another one passes the same
 * analysis again, and it goes on behind that word.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_EXPLAIN_LOOK_ANALYSIS_H
#define SIM_EXPLAIN_LOOK_ANALYSIS_H

#include "sim/explain/look/arrivals.h"
#include "sim/explain/look/walk.h"
#include "sim/judge/judge.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_ANALYSIS_WORDS 192u

enum sim_word_state {
    SIM_WORD_UNTRIED,
    SIM_WORD_TRYING, /* What a worker that died has left. */
    SIM_WORD_IDLE,   /* Put back, it makes no difference. */
    SIM_WORD_DECIDES /* Put back, the blocked task does not go on. */
};

struct sim_word {
    uint64_t offset;             /* In the arena. */
    uint64_t mask;               /* The bits that are meant: the word, or a half of it. */
    uint64_t before;             /* The word with these bits as they were before the step. */
    uint32_t state;              /* enum sim_word_state */
    uint32_t distance;           /* Of what the blocked task would do without it, from nothing. */
    struct sim_walk_stop writer; /* Who wrote it last, when it decides; no frames: not known. */
};

/* Whose steps are walked, beside the one that owed a wake: of those who sleep, of who turns. */
#define SIM_ANALYSIS_TRACES 3u

struct sim_trace {
    uint32_t actor; /* In-run index; UINT32_MAX: whoever's steps these are. */
    uint64_t from;  /* The steps that were walked. */
    uint64_t to;
    bool done; /* Of sim_trace_run: it was walked to its end. */
    struct sim_path path;
};

struct sim_analysis {
    uint32_t word_count;
    bool words_known;
    bool walked;  /* Writers have been looked for. */
    bool done;    /* Nothing is left to do. */
    bool failing; /* The run is being made again, up to its verdict. */
    uint32_t trace_count;
    bool tracing; /* The traces are being made, or were. */
    struct sim_trace traces[SIM_ANALYSIS_TRACES];
    struct sim_arrivals arrivals; /* Where the step that owed the wake is the blocked task's own. */
    struct sim_walk_stop failed;  /* Where it fell: addresses of return; none: not known. */
    struct sim_word words[SIM_ANALYSIS_WORDS];
};

/* Memory shared with the workers that are forked from now on; NULL: the system has none. */
struct sim_analysis *sim_analysis_new(void);
void sim_analysis_free(struct sim_analysis **analysis);

/* For sim_job.analyze: `analysis` is the sim_analysis. */
void sim_analysis_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *analysis);

/* The same for a trace, zeroed but for `from`: walks from there to the end of the run, or as far as
 * the walk goes. */
struct sim_trace *sim_trace_new(uint64_t from);
void sim_trace_free(struct sim_trace **trace);
void sim_trace_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *trace);

#ifdef __cplusplus
}
#endif
#endif

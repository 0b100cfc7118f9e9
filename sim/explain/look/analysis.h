/*
 * analysis.h -- what a failing run does below the level of steps, in the process that made it.
 *
 * The judge knows the step that should have woken the task, and nothing below a step. Here that
 * step is taken apart. Each word of memory that it changed is put back, by itself, in a replay, and
 * the blocked task is asked whether it still makes progress. Where not, it waits for this word,
 * whatever the program calls it; and the instruction that wrote the word is found by taking the
 * step once more, one instruction at a time.
 *
 * The results lie in memory shared with the parent and are filled as they come, since the worker
 * may die of a word that was put back. Another worker with the same results continues after it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/look/arrivals.h"
#include "sim/explain/look/trace.h"

#define SIM_ANALYSIS_WORDS 192u
#define SIM_ANALYSIS_TRACES 3u

enum sim_word_state {
    SIM_WORD_UNTRIED,
    SIM_WORD_TRYING, /* What a worker that died has left. */
    SIM_WORD_IDLE,   /* Put back, it makes no difference. */
    SIM_WORD_DECIDES /* Put back, the blocked task makes no progress. */
};

struct sim_word {
    uint64_t offset;             /* In the arena. */
    uint64_t mask;               /* The bits that are meant: the word, or a half of it. */
    uint64_t before;             /* The word with these bits as they were before the step. */
    uint32_t distance;           /* Of what the blocked task would do without it, from nothing. */
    uint32_t state;              /* enum sim_word_state */
    struct sim_walk_stop writer; /* The last one, when it decides; no frames: not known. */
};

struct sim_analysis {
    uint64_t step; /* The missing wake's. */
    uint32_t loop; /* Of sim_analysis_run_loop: the index of the loop that is asked; 0: none. */
    uint32_t word_count;
    bool words_known;
    bool walked;  /* Writers have been looked for. */
    bool done;    /* Nothing is left to do. */
    bool failing; /* A replay up to the verdict was begun. */
    bool tracing; /* The traces were begun. */
    uint32_t trace_count;
    struct sim_trace traces[SIM_ANALYSIS_TRACES]; /* Of blocked tasks, or of what runs forever. */
    struct sim_arrivals arrivals; /* Where the missing wake is in the blocked task's own step. */
    struct sim_walk_stop failed;  /* Of the verdict: return addresses; none: not known. */
    struct sim_word words[SIM_ANALYSIS_WORDS];
};

/* sim_analyze_fn: `analysis` is the sim_analysis. */
void sim_analysis_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *analysis);

/* The same for the loop that polls the blocked task, where that is blocked in its host: which words
 * would it find, were it notified, and what wrote them? */
void sim_analysis_run_loop(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *analysis);

/*
 * edges.h -- which edges of code a run has come to, in a build that counts them.
 *
 * Code that clang compiled with -fsanitize-coverage=inline-bool-flag,pc-table (or
 * inline-8bit-counters) sets a byte at each edge of its control flow. `make BUILD=edges CC=clang`
 * compiles the runtime and the scenarios so, and a library of scenarios may be compiled so by
 * whoever builds it. Its bytes are announced here when it is loaded; before a run they are cleared,
 * after it they are read. Nothing looks at them while a run is in progress, but when its first
 * fault fires: what was reached by then was reached without one. No decision and no digest depends
 * on them, so the same seed is the same run as in any other build.
 *
 * Numbers. One function may stand in a program many times (in a header, or in the copies of the
 * runtime that the zoo plants bugs in): its edges are the same edges wherever they are. Who knows
 * the names (sim/cli/code_names.c) numbers them; a set is a bit for each number.
 *
 *      loading ──▶ announced bytes ──▶ numbered ──▶ fork ──▶ a log of sets for each worker
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_COVER_EDGES_H
#define SIM_SEARCH_COVER_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Announced. Of the process, while programs and libraries are loaded. --------------------- */

/* How many bytes were announced; 0: this build counts no edges. */
size_t sim_edges_announced(void);

/* Where the n-th is in the code, and whether a function begins there. */
uintptr_t sim_edges_pc(size_t nth, bool *ret_entry);

/* Numbers them: byte n is edge numbers[n], below `count`. Borrowed forever. Once, before workers
 * are made. */
void sim_edges_number(const uint32_t *numbers, uint32_t count);

/* How many numbers there are; 0: nothing is counted. */
uint32_t sim_edges_count(void);

/* Words of a set. */
uint32_t sim_edges_words(void);

static inline bool
sim_edges_has(const uint64_t *set, uint32_t edge)
{
    return (set[edge / 64] >> edge % 64 & 1) != 0;
}

/* ---- A run, in a worker. --------------------------------------------------------------------- */

/* What runs before have reached is forgotten: the next one is new wherever it comes. */
void sim_edges_forget(void);

/* Clears all. The run's two sets are to be written to `sets`: what it reaches, and what of that
 * before its first fault (all, without one). Until then they are empty. NULL: nowhere. */
void sim_edges_begin(uint64_t *sets);

/* A fault fires: what was reached so far is kept apart. Only the first of a run counts. */
void sim_edges_fault(void);

/* Writes them, once; also called where a signal is handled. True when the run has reached something
 * that none has since sim_edges_forget. */
bool sim_edges_end(void);

/* ---- The log of a job: shared between the parent and one worker. ----------------------------- */

/* Memory for the two sets of each of `runs` runs, shared with children; NULL: nothing is counted,
 * or there is no memory. */
uint64_t *sim_edges_log_new(uint32_t runs);
void sim_edges_log_free(uint64_t **log, uint32_t runs);

/* The sets of the n-th run of the log; `before` follows `reached`. */
static inline uint64_t *
sim_edges_log_at(uint64_t *log, uint32_t words, uint64_t nth)
{
    return log + 2 * words * nth;
}

#ifdef __cplusplus
}
#endif
#endif

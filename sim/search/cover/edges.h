/*
 * edges.h -- the edges of code that a run has reached, in a build that counts them.
 *
 * Code that clang compiled with -fsanitize-coverage=inline-bool-flag,pc-table (or
 * inline-8bit-counters) sets a byte at each edge of its control flow. Its bytes are announced here
 * when it is loaded, cleared before a run, read after it, and read once more when the first fault
 * fires. No decision and no digest depends on them (sim/search/README.md).
 *
 * Numbers. A function may be in a program many times (in a header, or in the copies of the runtime
 * that the zoo plants bugs in); its edges are the same edges in all of them. sim/cli/code_names.c
 * knows the names, and numbers the edges; a set has a bit for each number.
 *
 *      loading ──▶ announced bytes ──▶ numbered ──▶ fork ──▶ a log of sets for each worker
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Announced. Of the process, while programs and libraries are loaded. --------------------- */

/* How many bytes were announced; 0: this build counts no edges. */
size_t sim_edges_announced(void);

/* The address of the n-th edge, and whether a function begins there. */
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

/* Forgets the edges that earlier runs have reached: all edges of the next run are new. */
void sim_edges_forget(void);

/* Clears all bytes. sim_edges_end will write two sets to `sets`: the edges that the run reaches,
 * and those before its first fault (all, without one). Until then they are empty. NULL: none. */
void sim_edges_begin(uint64_t *sets);

/* A fault fires: records the edges reached so far. Only the first of a run counts. */
void sim_edges_fault(void);

/* Writes the sets, once; async-signal-safe. True when the run has reached an edge that no run had
 * since sim_edges_forget. */
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

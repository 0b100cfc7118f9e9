/*
 * code.h -- which edges of code runs have reached, in the database: code.sql.
 *
 * Part of the interface in store.h: the same errors, the same batches. The tables are made when
 * the first edge is stored.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/store/store.h"

/* Strings are borrowed. */
struct sim_code_edge {
    uint64_t id; /* Of 63 bits. */
    const char *file;
    const char *function;
    uint32_t line; /* 0: not known. */
    uint32_t nth;  /* In its function; 0: where it is entered. */
};

/* Writes those that are not there yet. */
RT_MUST_CHECK enum sim_store_err sim_store_code_edges(
        struct sim_store *store, const struct sim_code_edge *edges, uint32_t count);

struct sim_code_covered {
    uint64_t edge;
    uint64_t first_run; /* Its number in the sweep. */
    uint64_t runs;
    uint64_t before_fault;
};

/* Writes `count` edges that runs of `sweep` have reached; replaces earlier rows. */
enum sim_store_err sim_store_code_covered(struct sim_store *store, int64_t sweep,
        const struct sim_code_covered *covered, uint32_t count);

/* The edges that one run has reached. Sets are bits: bit i is edges[i]. */
struct sim_code_run {
    uint64_t number; /* In the sweep. */
    const uint64_t *reached;
    const uint64_t *before; /* … and what of it before its first fault. */
    uint32_t fresh;         /* Edges that no run of the sweep before it had reached. */
};

/* Writes it. A set that is there is not written again, and a new one as its difference to the first
 * of the sweep. `count`: of all edges, reached or not. */
enum sim_store_err sim_store_code_run(struct sim_store *store, int64_t sweep,
        const struct sim_code_run *run, const struct sim_code_edge *edges, uint32_t count);

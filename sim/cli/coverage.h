/*
 * coverage.h -- what the files of `rewake coverage` share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdio.h>

#include "sim/cli/cli.h"
#include "sim/store/code.h"

/*
 * Repeats the runs of `sweeps` that were the first to cover something, and prints the fewest that
 * cover all of it, as of `name`. With `code`, edges of code count too. 0, or the exit status after
 * a line on stderr.
 */
int sim_coverage_distill(struct sim_cli *cli, struct sim_store *store, const char *name,
        const int64_t *sweeps, uint32_t count, bool code);

/* Prints how much of the code these sweeps have reached. Likewise. */
int sim_coverage_code(
        struct sim_cli *cli, struct sim_store *store, const int64_t *sweeps, uint32_t count);

/* Prints the edges of a set (sim/search/cover/edges.h), one a line. */
void sim_coverage_print_run(const struct sim_cli *cli, const uint64_t *reached);

/* Reports that this build, or this database, has no edges of code, and what to do. */
int sim_coverage_no_code(void);

/*
 * Names and numbers all edges that were announced (sim/search/cover/edges.h), which takes time only
 * in the first call. To be called after libraries are loaded, before workers are made. Returns
 * their number; edge i of a set is (*ret_edges)[i]. 0: this build counts none.
 *
 * An edge is the n-th of its function in the order of the compiler, n = 0 at the entry; file and
 * line are from the debug information. The same source, built the same way, has the same edges;
 * their ids are hashes of file, function and n, so that databases of two machines agree. A function
 * with several copies in a program has its edges once.
 */
uint32_t sim_code_names(const struct sim_code_edge **ret_edges);

/*
 * code_names.h -- the edges that this build counts, by name.
 *
 * An edge is the n-th of its function in the order of the compiler, n = 0 at the entry; file and
 * line are from the debug information. The same source, built the same way, has the same edges;
 * their ids are hashes of file, function and n, so that databases of two machines agree. A function
 * with several copies in a program has its edges once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/store/code.h"

/*
 * Names and numbers all edges that were announced (sim/search/cover/edges.h), which takes time only
 * in the first call. To be called after libraries are loaded, before workers are made. Returns
 * their number; edge i of a set is (*ret_edges)[i]. 0: this build counts none.
 */
uint32_t sim_code_names(const struct sim_code_edge **ret_edges);

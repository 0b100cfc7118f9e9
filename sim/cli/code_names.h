/*
 * code_names.h -- the edges that this build counts, by name.
 *
 * An edge is the n-th of its function, n = 0 where the function is entered, as the compiler tells
 * them; file and line come from the debug information. The same source, built the same way, has the
 * same edges; their ids are hashes of file, function and n, so that databases of two machines
 * agree. A function that stands in a program many times has its edges once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CLI_CODE_NAMES_H
#define SIM_CLI_CODE_NAMES_H

#include "sim/store/code.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Names and numbers all edges that were announced (sim/search/cover/edges.h), the first time; it
 * takes a moment. To be called when libraries are loaded and before workers are made. Answers how
 * many there are, and where: edge i of a set is (*ret_edges)[i]. 0: this build counts none.
 */
uint32_t sim_code_names(const struct sim_code_edge **ret_edges);

#ifdef __cplusplus
}
#endif
#endif

/*
 * coverage.h -- what the files of `rewake coverage` share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CLI_COVERAGE_H
#define SIM_CLI_COVERAGE_H

#include <stdio.h>

#include "sim/cli/cli.h"
#include "sim/store/store.h"

/*
 * Runs those of `sweep` again that were the first to cover something, and prints the few of them
 * that cover all of it. 0, or the exit status after a line on stderr.
 */
int sim_coverage_distill(
        struct sim_cli *cli, struct sim_store *store, const char *scenario, int64_t sweep);

#endif

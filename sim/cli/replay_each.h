/*
 * replay_each.h -- `replay --each`: many runs again, in one process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CLI_REPLAY_EACH_H
#define SIM_CLI_REPLAY_EACH_H

#include "sim/cli/cli.h"

/* Replays whatever the arguments name; the exit status. */
int sim_replay_each(struct sim_cli *cli);

#endif

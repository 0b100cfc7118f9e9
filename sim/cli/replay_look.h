/*
 * replay_look.h -- `replay` into a run: --step, --until, --gdb, --here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CLI_REPLAY_LOOK_H
#define SIM_CLI_REPLAY_LOOK_H

#include "sim/cli/subject/subject.h"

/* Whether the flags go together. 0, or the exit status after a line. */
int sim_replay_check_flags(const struct sim_cli *cli);

/* Whether the flags need sim_replay_look. */
bool sim_replay_looks(const struct sim_cli *cli);

/* Returns the exit status. */
int sim_replay_look(struct sim_cli *cli, const struct sim_subject *subject);

/* After a crash that left a core: prints where, and how to open it. */
void sim_replay_print_core(const struct sim_single *alone);

#endif

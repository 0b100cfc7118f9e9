/*
 * replay_export.h -- `replay --export FILE`: the run for another program, by the suffix of FILE.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CLI_REPLAY_EXPORT_H
#define SIM_CLI_REPLAY_EXPORT_H

#include "sim/cli/subject/subject.h"

/* Whether there is a format for FILE, and no such file yet. 0, also without --export, or the exit
 * status after a line. */
int sim_replay_export_check(const struct sim_cli *cli);

/* Writes the run. 0, or the exit status after a line; no file is left then. */
int sim_replay_export(
        struct sim_cli *cli, const struct sim_subject *subject, struct sim_single *alone);

#endif

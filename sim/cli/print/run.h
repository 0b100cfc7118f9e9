/*
 * run.h -- what several commands print of a run: its token, commands to paste, what happened.
 *
 * Strings are from malloc.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/cli/cli.h"
#include "sim/engine/worker/single.h"

/* The token of a run that ended so. `tape` only where `how` is a tape. */
char *sim_token_of(const struct sim_scenario *scenario, const struct sim_options *options,
        uint32_t how, const struct sim_tape *tape, const struct sim_outcome *outcome);

/* A command that can be pasted: "rewake replay ./mine.so rw1:…", with --db where it was given
 * (sim/base/command.h). */
char *sim_command_text(const struct sim_cli *cli, const char *command,
        const struct sim_entry *entry, const char *subject);

/* Prints such a command after `label`, as a line. */
void sim_print_command(const struct sim_cli *cli, const char *label, const char *command,
        const struct sim_entry *entry, const char *subject);

/* Where the subject is too long for an argument: prints that, and what to do. */
void sim_print_if_long(const char *subject);

/* Prints the command that repeats the run that `token` is (not without `replay`), and the one that
 * debugs it, where it has a stack. */
void sim_print_replay(const struct sim_cli *cli, const struct sim_entry *entry,
        const struct sim_outcome *outcome, const char *token, bool replay);

/* Prints what happened in a run that ended in `outcome`, and an empty line. */
void sim_print_run(const struct sim_single *alone, const struct sim_outcome *outcome);

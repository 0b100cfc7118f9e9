/*
 * completion.h -- what may stand where on a command line, for the shells.
 *
 * Made of the tables that parse command lines, so none can be of another version. What only the
 * moment knows is asked when it is wanted: names of scenarios of `rewake list`, with the library
 * that is named in front; runs of `rewake query`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CLI_COMPLETION_H
#define SIM_CLI_COMPLETION_H

#include "sim/cli/cli.h"

/* The last of a command that asks the database for failures that were told, up to 99. */
#define SIM_COMPLETION_RUNS \
    "SELECT 'run:' || run AS name FROM failures WHERE token NOTNULL ORDER BY run DESC LIMIT 99"

/* What the arguments of a command may be, by its usage: names of scenarios; runs; files. */
bool sim_completes_names(const struct sim_command *command);
bool sim_completes_runs(const struct sim_command *command);
bool sim_completes_files(const struct sim_command *command);

/* Whether an option's value is a file; whether it is one of some words. */
bool sim_completes_file(const struct sim_cli_option_text *option);
bool sim_completion_has_values(enum sim_cli_option option);

/* Prints the words that an option's value, or a command's first argument, may be: a blank behind
 * each. None: nothing. */
void sim_completion_put_values(enum sim_cli_option option);
void sim_completion_put_words(const struct sim_command *command);

/* Prints all of it on stdout. */
void sim_completion_bash(void);
void sim_completion_zsh(void);

#endif

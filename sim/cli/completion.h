/*
 * completion.h -- completion of command lines, for the shells.
 *
 * Made of the tables that parse command lines. Scenarios and runs are not in these: the shell asks
 * `rewake list`, with the library on the command line, and `rewake query`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CLI_COMPLETION_H
#define SIM_CLI_COMPLETION_H

#include "sim/cli/cli.h"

/* The newest 99 reported failures. */
#define SIM_COMPLETION_RUNS \
    "SELECT 'run:' || run AS name FROM failures WHERE token NOTNULL ORDER BY run DESC LIMIT 99"

/* `yes` where the arguments of a command may be that, else "". */
static inline const char *
sim_completes(const struct sim_command *command, uint32_t takes, const char *yes)
{
    return (command->takes & takes) != 0 ? yes : "";
}

/* Whether an option's value is a file; whether it is one of some words. */
bool sim_completes_file(const struct sim_cli_option_text *option);
bool sim_completion_has_values(enum sim_cli_option option);

/* Prints the words that an option's value, or a command's first argument, may be, each with a
 * blank after it. */
void sim_completion_put_values(enum sim_cli_option option);
void sim_completion_put_words(const struct sim_command *command);

/* Prints all of it on stdout. */
void sim_completion_bash(void);
void sim_completion_zsh(void);

#endif

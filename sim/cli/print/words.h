/*
 * words.h -- runs and options as text: tokens, commands to paste, JSON.
 *
 * Strings are from malloc.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CLI_PRINT_WORDS_H
#define SIM_CLI_PRINT_WORDS_H

#include "sim/base/command.h"
#include "sim/cli/cli.h"
#include "sim/engine/worker/single.h"

/* The token of a run that ended so. `tape` only where `how` is a tape. */
char *sim_token_of(const struct sim_scenario *scenario, const struct sim_options *options,
        uint32_t how, const struct sim_tape *tape, const struct sim_outcome *outcome);

/* A command that can be pasted: "rewake replay ./mine.so rw1:…", with --db where it was given.
 * (sim/base/command.h). */
char *sim_command_text(const struct sim_cli *cli, const char *command,
        const struct sim_entry *entry, const char *subject);

/* Where the subject is too long for an argument: prints that, and what to do. */
void sim_print_if_long(const char *subject);

/* Options and parameters that differ from the defaults, as a JSON object. */
char *sim_options_json(const struct sim_scenario *scenario, const struct sim_options *options);

/* Reads them; false where `scenario` does not have one of the names. */
bool sim_options_from_json(
        const struct sim_scenario *scenario, const char *json, struct sim_options *ret_options);

/* Takes one number by name, as -O (`param` false) or -D do. False: there is no such name.
 * *ret_wrong: NULL, or what is wrong with the value. */
bool sim_options_assign(const struct sim_scenario *scenario, struct sim_options *options,
        bool param, const struct sim_assignment *assignment, const char **ret_wrong);

#endif

/*
 * assign.h -- the options and parameters of a run as text: NAME=N, and JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/cli/cli.h"

/* Options and parameters that differ from the defaults, as a JSON object;
 * from malloc. */
char *sim_options_json(const struct sim_scenario *scenario, const struct sim_options *options);

/* Reads them; false where `scenario` does not have one of the names. */
bool sim_options_from_json(
        const struct sim_scenario *scenario, const char *json, struct sim_options *ret_options);

/* The index of the option that is assigned, by its name; SIM_OPTIONS: there is none. */
uint32_t sim_options_find(const struct sim_assignment *assignment);

/* Takes one number by name, as -O (`param` false) or -D do. False: there is no such name.
 * *ret_wrong: NULL, or what is wrong with the value. */
bool sim_options_assign(const struct sim_scenario *scenario, struct sim_options *options,
        bool param, const struct sim_assignment *assignment, const char **ret_wrong);

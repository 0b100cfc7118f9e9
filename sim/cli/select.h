/*
 * select.h -- the scenarios that the arguments of a command name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/cli/cli.h"

struct sim_selection {
    const struct sim_entry **entries; /* Owned. */
    uint32_t count;
};

/*
 * Selects the scenarios that match the patterns of the command line (none: all), with a library
 * only its own. A pattern is a shell glob over whole names; where it matches none, over parts of
 * names. `is_wanted` (NULL: all are) selects broken forms; then a pattern may also be the
 * name without "/broken". 0, or the exit status after a line on stderr: no scenario matches
 * (SIM_EXIT_NOTHING), or one pattern matches none although others do (SIM_EXIT_USAGE), since a
 * mistyped pattern must not look like a pass. sim_select_done must follow in any case.
 */
int sim_select(const struct sim_cli *cli, bool (*is_wanted)(const struct sim_scenario *scenario),
        struct sim_selection *ret_selection);
void sim_select_done(struct sim_selection *selection);

/* The latter refusal, for a command that selects otherwise: each pattern matches one of `names`. */
int sim_select_check(const struct sim_cli *cli, char *const *names, uint32_t count);

/* Length of "zoo/async-io-07b6cca" in "zoo/async-io-07b6cca/broken". */
size_t sim_stem_length(const char *name);

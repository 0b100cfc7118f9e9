/*
 * registry.h -- which scenarios there are: the program's own, and those of libraries.
 *
 * Sorted by name; a name stands for one scenario only. A library is a shared object
 * with the symbol `rewake_library` (scenario.h). It is first loaded in a child
 * process, so that one which crashes while it is loaded costs a line of error and
 * not the command.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/core/scenario.h"

#define SIM_REGISTRY_ERROR_MAX 512u

struct sim_entry {
    const struct sim_scenario *scenario;
    const char *library; /* As it was named on the command line; NULL: in the program. */
    /* Of a regression: what it repeats, under its own name; owned. Else NULL. */
    struct sim_scenario *made;
};

struct sim_registry {
    struct sim_entry *entries;
    uint32_t count;
    uint32_t capacity;
    char error[SIM_REGISTRY_ERROR_MAX]; /* After a false: one line. */
};

/* The program's own scenarios. False: two of one name, or one that is not well formed. */
bool sim_registry_init(struct sim_registry *registry);
void sim_registry_fini(struct sim_registry *registry);

/*
 * Adds the scenarios of the library at `path` (borrowed). False, and nothing was added, when it
 * does not load, is no library of scenarios, was built against another version, or has a name
 * that is taken.
 */
bool sim_registry_load(struct sim_registry *registry, const char *path);

/* Adds a table of scenarios; what init and load do, and tests. */
bool sim_registry_add(struct sim_registry *registry, const struct sim_scenario *const *start,
        const struct sim_scenario *const *stop, const char *library);

/* The scenario called `name`, or NULL. */
const struct sim_entry *sim_registry_find(const struct sim_registry *registry, const char *name);

/* How many parameters `scenario` declares. */
uint32_t sim_scenario_params(const struct sim_scenario *scenario);

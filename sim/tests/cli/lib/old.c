/*
 * old.c -- a library that was built against another version of the headers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/scenario.h"

extern const struct sim_library rewake_library;
const struct sim_library rewake_library __attribute__((visibility("default"))) = {
        SIM_LIBRARY_VERSION + 1, sizeof(struct sim_scenario), NULL, NULL, NULL, NULL};

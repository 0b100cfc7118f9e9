/*
 * zoo_programs.h -- bugs that are no scenarios: programs with threads (scenarios/threads), and real
 * bugs in the source of their libraries (scenarios/real).
 *
 * Made of the tables of scenarios/README.md by scripts/zoo-programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

struct sim_zoo_program {
    const char *name; /* "threads/libuv-189", "real/libuv-492"; NULL: the end. */
    const char *verdict;
    const char *reference;
    const char *about;
};

extern const struct sim_zoo_program sim_zoo_programs[];

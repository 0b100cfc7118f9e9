/*
 * names.h -- what reports call the lines and the variables of a program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

/* Reads call sites and variables of the modules that were loaded since the last call, and gives
 * them to sim/thread. Called in the process that starts workers, outside of runs. */
void sim_program_names_load(void);

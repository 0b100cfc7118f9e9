/*
 * library.h -- libraries that a run opens: those that are loaded with the program.
 *
 * A library is never loaded in a run: its variables would be in no image, and its constructors
 * would have run in the first run alone. So dlopen finds what the program, or a library of it, is
 * linked with, and refuses the rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/program/load.h"

/* Notes the libraries that `program`, which is loaded, has brought. Called once, outside of runs.
 */
void sim_program_note_libraries(const struct sim_program *program);

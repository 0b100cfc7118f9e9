/*
 * print.h -- a program as a scenario in C, to be compiled as a library of scenarios.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdio.h>

#include "sim/tests/truth/program.h"

/* The scenario is called "truth/NUMBER". */
void truth_print(const struct truth_program *program, FILE *file);

/*
 * print_priv.h -- what the two families print in common.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/tests/truth/print.h"

struct truth__printing {
    FILE *file;
    const struct truth_program *program;
};

#define PUT(printing, ...) ((void)fprintf((printing)->file, __VA_ARGS__))

/* The line that reports progress, where the program does; else "". */
const char *truth__print_progress(const struct truth__printing *printing);

void truth__print_loops(const struct truth__printing *printing);

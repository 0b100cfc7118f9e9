/*
 * program_priv.h -- a program while it is made.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/tests/truth/program.h"

struct truth__maker {
    struct truth_program *program;
    uint64_t state;
    uint8_t flags;
    uint8_t slots;
    uint8_t channels;
    uint8_t ended; /* Actors, as bits, that take no more operations. */
};

uint32_t truth__draw(struct truth__maker *maker, uint32_t n);

/* Each does what `mutation` (enum truth_mutation) says, where the program has what that takes. */
void truth__mutate_task(struct truth__maker *maker, uint32_t mutation);
void truth__mutate_loop(struct truth__maker *maker, uint32_t mutation);

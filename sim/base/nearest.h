/*
 * nearest.h -- the name that a mistyped word was meant to be.
 *
 *      struct sim_nearest nearest = {.word = "shrnik"};
 *      for (each name) sim_nearest_try(&nearest, name, name);
 *      sim_nearest_hint(&nearest, hint)    ": did you mean 'shrink'?"
 *
 * Near is what few letters make: one left out, added, replaced, or exchanged with its neighbour; up
 * to a third of the word. Of two that are equally near the first that was tried.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdint.h>

/* A longer word is near nothing. */
#define SIM_NEAREST_MAX 64u
#define SIM_NEAREST_HINT_MAX 160u

struct sim_nearest {
    const char *word;
    const char *name; /* NULL: none was near. */
    uint32_t distance;
};

/* Tries `name`, which is compared as `part`: itself, or a part of it. */
void sim_nearest_try(struct sim_nearest *nearest, const char *name, const char *part);

/* For the end of a sentence: ": did you mean 'shrink'?", or "". Returns `hint`. */
const char *sim_nearest_hint(const struct sim_nearest *nearest, char hint[SIM_NEAREST_HINT_MAX]);

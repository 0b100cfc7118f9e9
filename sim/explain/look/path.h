/*
 * path.h -- the functions that a walk went through.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/code/symbols.h"
#include "sim/explain/look/walk.h"

#define SIM_PATH_FUNCTIONS 192u

/* A function of the reader's, or of the runtime's, that was walked through. */
struct sim_walked {
    /* The line that was executed last in it; of one that has returned the line before its closing
     * brace: the return, or the condition. */
    struct sim_place place;
    uint32_t entered;     /* When it was entered first, as the n-th instruction of the walk; */
    uint32_t last;        /* UINT32_MAX: it was not, the walk began in it. When it was left. */
    bool within;          /* The compiler has put it into another function. */
    uint32_t first;       /* When it was come to first: entered, or gone on with. */
    uint32_t before;      /* The line before the last one, … */
    uint32_t before_last; /* … and when it was executed last. */
    uint32_t depth;       /* At its last instruction: inlined functions inside of it. */
};

/*
 * Writes the functions of `path` to `ret` (capacity SIM_PATH_FUNCTIONS) and returns how many: first
 * the reader's own, then the runtime's, of each the one executed last in front. Functions of
 * headers, which are everywhere, are left out.
 */
uint32_t sim_path_functions(
        struct sim_places *places, const struct sim_path *path, struct sim_walked *ret);

/* The instruction of that function and line that was executed last; 0: none was. */
uintptr_t sim_path_last(
        struct sim_places *places, const struct sim_path *path, const struct sim_place *place);

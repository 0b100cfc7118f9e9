/*
 * libraries.h -- two calls of the program's own into a library, which come in another order than
 * in the run that passes.
 *
 * A library has state of its own: a loop that was asked to end before it began, one that has ended
 * when something is posted to it. What it does with that is not known; but both calls are the
 * reader's, and a call that is made only after another one has returned, where in the passing run
 * it is made before that, finds another state. Calls on one object (the first argument) count, else
 * those of one library. Of the object that is named last the call before it is named too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/fate.h"

/* The first two such calls; of those on one object before others. `part` loops there in the end,
 * or, NULL, is blocked; SIM_PART_NONE: none is. False: there are no such two. */
bool sim_library_find(const struct sim_fate_evidence *evidence, uint32_t part,
        const struct sim_location *loops, struct sim_library_order *ret);

/*
 * word.h -- what has become of a word before it is read, by what a run executes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/fate.h"
#include "sim/explain/look/branches.h"

/* A count that several actors have raised, the reader of the `read`-th instruction here among them,
 * and that none of them lowers, as each waits in the end: then they wait for each other. */
void sim__word_find_raisers(
        const struct sim_fate_evidence *evidence, uint32_t read, struct sim_deciding_read *ret);

/* The last write by which the program throws away what was written to a number, as no read lies
 * between: with that write left out, the run passes. False: there is none. */
bool sim_word_find_discarded(const struct sim_fate_evidence *evidence, struct sim_discarded *ret);

/* What the waiting actor reads at last in the function of its wait, at `place`, is what it has read
 * before, and one other has changed it at least twice since. */
void sim__word_find_returned(const struct sim_fate_evidence *evidence, const struct sim_wait *wait,
        const struct sim_place *place, struct sim_returned_value *ret);

/*
 * values.h -- what a condition that failed was decided on, and where that came from.
 *
 * The instructions of the reader's own code are followed backwards from the jump that fails,
 * through registers and memory, in both runs at once: what it read, which line wrote that, what
 * that one had read. Where a line of the same actor wrote it in both, what that has read is next;
 * it ends where the two runs differ in who wrote, or in nothing that is read.
 *
 * On that way one that was *stale* is found: an actor reads a word, others change it, and it then
 * writes what it has made of it. And, of a write that only the run that passes has, who *led* to
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/fate.h"

/* Where the run ends in the line of `place`: the jump that decides in it, or the call that is
 * passed what does; UINT32_MAX. */
uint32_t sim_values_failing(
        const struct sim_fate_evidence *evidence, const struct sim_place *place);

/* Of a run that turns in circles: the condition by which its loop goes round, of all loops that are
 * in each other the outermost; UINT32_MAX. */
uint32_t sim_values_looping(const struct sim_fate_evidence *evidence);

/* Adds the calls of its last round, by where each is made. */
void sim_values_find_round(
        const struct sim_fate_evidence *evidence, uint32_t loops, struct sim_failed_value *ret);

/* Of one of these instructions. */
void sim_values_find(
        const struct sim_fate_evidence *evidence, uint32_t fails, struct sim_failed_value *ret);

/* What actor `part`, which is blocked, has read last for a condition of the function in which it
 * waits; step 0: nothing that is known. */
void sim_values_waiting(
        const struct sim_fate_evidence *evidence, uint32_t part, struct sim_deciding_read *ret);

/* Adds the conditions by which what it was decided on was not written: those before its writers
 * that the same actor has also decided the other way in this run, the last time. */
void sim_values_add_skipping(
        const struct sim_fate_evidence *evidence, uint32_t fails, struct sim_branches *branches);

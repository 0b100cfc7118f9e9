/*
 * unnotified.h -- what an actor is not notified of, although in a replay in which it is, it makes
 * progress.
 *
 * The question (counterfactual replay NOT_REARMED) has found it: the state of a descriptor or of a
 * ring, of which nothing is reported. Which call has set that state, and what was asked for, is in
 * the calls that the run has recorded. Of what is UNWATCHED no replay knows: a library that asks
 * for it no more has forgotten who would read it. There only the state is known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/cause.h"

/* From the calls of the run of `ledger`. `part` is not notified; of UNWATCHED it is who reads it.
 * False: it has none about that. */
bool sim_unnotified_find(const struct sim_ledger *ledger, const struct sim_silence *silence,
        uint32_t part, struct sim_unnotified *ret);

/* The last reads of that object by `part` in which something was there, the last first, at most
 * `max`. Returns how many. */
uint32_t sim_unnotified_reads(const struct sim_ledger *ledger, uint32_t object, uint32_t part,
        struct sim_noted_call *ret, uint32_t max);

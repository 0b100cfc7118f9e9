/*
 * unnotified.h -- what an actor is not notified of, although in a replay in which it is, it makes
 * progress.
 *
 * The question (counterfactual replay NOT_REARMED) has found it: the state of a descriptor or of a
 * ring, of which nothing is reported. Which call has set that state, and what was asked for, is in
 * the calls that the run has recorded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/cause.h"

/* From the calls of the run of `ledger`. False: it has none about that. */
bool sim_unnotified_find(const struct sim_ledger *ledger,
        const struct sim_counterfactual *counterfactual, struct sim_unnotified *ret);

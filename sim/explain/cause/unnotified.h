/*
 * unnotified.h -- what a thread is not notified of, although in a replay in which it is, it makes
 * progress.
 *
 * The question (counterfactual replay NOT_REARMED) has found a descriptor of an epoll instance: it
 * is ready, or a timer, and not reported. What the program has asked for, and who changed that, is
 * in the calls that the run has recorded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/cause.h"

/* From the calls of the run of `ledger`. False: it has none about that, as it is no program's. */
bool sim_unnotified_find(const struct sim_ledger *ledger,
        const struct sim_counterfactual *counterfactual, struct sim_unnotified *ret);

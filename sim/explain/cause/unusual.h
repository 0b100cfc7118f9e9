/*
 * unusual.h -- what each run does that fails, and few that pass.
 *
 * The nearest run that passes differs from the failing one also in what is as it should be: who
 * comes first, who has to wait. So the traits of the failing run (look/traits.h) are counted in
 * many runs, half of which follow the failing one for a while. Those that each failing run has are
 * ranked by how few of the passing ones have them; a run may pass although it has gone wrong, as
 * something else repairs it later. Of equally rare ones those of a single line come first, then
 * the last. The first four, of one function each, are named, the rarest first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/wakers.h"
#include "sim/explain/look/traits.h"

/* Finds them. `evidence->runs` and `here` are needed; `outcome` is the failing run's. Traits of the
 * line `fails` (NULL: none), an assertion, are left out. With fewer than ten runs that pass nothing
 * is found. `wakers` (NULL: none) learn from each run that passes. */
void sim_unusual_find(const struct sim_fate_evidence *evidence, const struct sim_outcome *outcome,
        const struct sim_location *fails, struct sim_wakers *wakers, struct sim_unusual *ret);

/* Drops the conditions that a run that passes has decided so, too, where something is known that
 * none does: they do not explain why this one fails. NULL: nothing is known. */
void sim_unusual_keep(const struct sim_unusual *unusual, struct sim_branches *branches);

/* Whether the way of the `index`-th instruction, a jump, is one of those that are named. */
bool sim_unusual_has(const struct sim_fate_evidence *evidence, uint32_t index);

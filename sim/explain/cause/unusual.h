/*
 * unusual.h -- what the failing run does, and no run that passes.
 *
 * The nearest run that passes differs from the failing one also in what is as it should be: who
 * comes first, who has to wait. So the traits of the failing run (look/traits.h) are looked for in
 * many runs that pass, half of which follow the failing one for a while. Those that none of them
 * has, and each other failing run has, lead from where it goes wrong to where it ends: the first
 * and the last of them are named.
 *
 * Traits of a single line come first. Only where there are none two lines and the memory between
 * them are asked for (stale, unread), of which there are many more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/fate.h"
#include "sim/explain/look/traits.h"

/* Finds them. `evidence->runs` and `here` are needed; `outcome` is the failing run's. Traits of the
 * line `fails` (NULL: none), an assertion, are left out. With too few runs that pass nothing is
 * found. */
void sim_unusual_find(const struct sim_fate_evidence *evidence, const struct sim_outcome *outcome,
        const struct sim_location *fails, struct sim_unusual *ret);

/* Drops the conditions that a run that passes has decided so, too, where something is known that
 * none does: they do not explain why this one fails. NULL: nothing is known. */
void sim_unusual_keep(const struct sim_unusual *unusual, struct sim_branches *branches);

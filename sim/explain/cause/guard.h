/*
 * guard.h -- the condition by which a step did not do what would let the blocked actor continue.
 *
 * Where a step is known that should have sent a wake, or in which the blocked actor left something
 * undone, few conditions can be to blame: those that the reader's code decides in that step. Each
 * is decided the other way in a replay, and nothing else changed; the first with which the run
 * passes is the guard. It was decided on a value that this step reads: the line that wrote it, and
 * the one that writes it next, say why that was the wrong one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/fate.h"

/*
 * `from` is where the step did what should have been followed by the wake: conditions after it come
 * first, the nearest first; without such a line those at the end of the step come first. The
 * passing run of `evidence` is not needed. Condition step 0: none is found.
 */
void sim_guard_find(const struct sim_fate_evidence *evidence, const struct sim_location *from,
        struct sim_guard *ret);

/* The same of the conditions by which the blocked actor waits since `from`. It counts where another
 * has written what it is decided on: else it only says that it waits. */
void sim_guard_find_own(const struct sim_fate_evidence *evidence, const struct sim_location *from,
        struct sim_guard *ret);

/* The first of these with which the run passes, decided the other way. Returns which instruction
 * has written what it is decided on; UINT32_MAX: that is not known, or there is no such condition.
 */
uint32_t sim_guard_try(const struct sim_fate_evidence *evidence,
        const struct sim_branches *branches, struct sim_guard *ret);

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

/* Which conditions are asked, of the step of a line. */
enum sim_guard_scope {
    SIM_GUARD_STEP,     /* Those after the line, then those before it. */
    SIM_GUARD_FUNCTION, /* Those after it; of those before it, as it stays, its function's. */
    SIM_GUARD_AFTER     /* Those after it. */
};

/*
 * `from` is where the step did what should have been followed by the wake: conditions after it come
 * first, the nearest first; without such a line those at the end of the step come first. The
 * passing run of `evidence` is not needed. Condition step 0: none is found.
 */
void sim_guard_find(const struct sim_fate_evidence *evidence, const struct sim_location *from,
        enum sim_guard_scope scope, struct sim_guard *ret);

/* The same of the conditions by which the blocked actor waits since `from`. It counts where another
 * has written what it is decided on: else it only says that it waits. */
void sim_guard_find_own(const struct sim_fate_evidence *evidence, const struct sim_location *from,
        struct sim_guard *ret);

/* Of a loop that is blocked since `from`: a condition that it has decided before, the last first,
 * with which, decided the other way, it blocks, continues, and the run passes. */
void sim_guard_find_resuming(const struct sim_fate_evidence *evidence,
        const struct sim_location *from, struct sim_guard *ret);

/* Of an actor that waits since `from`, as it compares what another has written with a copy that it
 * has made of that itself in that step: `copied`. False: it does not. */
bool sim_guard_find_marked(const struct sim_fate_evidence *evidence,
        const struct sim_location *from, struct sim_guard *ret);

/* Whether the `jump`-th instruction is decided on what never changes, in both runs: that is how the
 * program is set up, and decides nothing between them. */
bool sim_guard_is_settled(const struct sim_fate_evidence *evidence, uint32_t jump);

/* What is known of the `jump`-th instruction of what this run executes. Returns which one has
 * written what it is decided on; UINT32_MAX: that is not known. */
uint32_t sim_guard_describe(
        const struct sim_fate_evidence *evidence, uint32_t jump, struct sim_guard *ret);

/* The first of these with which the run passes, decided the other way. Returns which instruction
 * has written what it is decided on; UINT32_MAX: that is not known, or there is no such condition.
 */
uint32_t sim_guard_try(const struct sim_fate_evidence *evidence,
        const struct sim_branches *branches, struct sim_guard *ret);

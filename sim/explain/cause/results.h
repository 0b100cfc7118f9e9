/*
 * results.h -- a call of the system that returns something else than in the run that passes.
 *
 * The n-th call of that name on that descriptor that succeeds is compared with its like there: more
 * was read at once, or the end was met. What the actor does with that is its next condition, or,
 * where it waits then, the last line of the reader's that it comes to before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/fate.h"

/* Of `part`, which loops there in the end; NULL: it is blocked. False: all are as there, or it says
 * nothing. */
bool sim_result_find(const struct sim_fate_evidence *evidence, uint32_t part,
        const struct sim_location *loops, struct sim_odd_result *ret);

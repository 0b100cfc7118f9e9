/*
 * columns.h -- a run as columns: one for each part, time down.
 *
 *      step     time  client                     server                response
 *         1      0ns  poll, stores waker for
 *                     the reply -> pending
 *      ~~~ all wait; 50ms pass ~~~
 *         2     50ms                                                    is ready
 *                     <-- here client should have been woken
 *
 * No line is wider than 100 columns. Where the parts do not fit side by side, the
 * host's sources share a column, then all but the tasks do; where that is
 * not enough, each row is "who: what".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/record/outcome.h"
#include "sim/explain/view/rows.h"

#define SIM_ROWS_DEFAULT 60u

/*
 * Adds the run. `outcome` may be NULL: no actor is of special interest. `steps` (may be NULL) are
 * shown in any case. `rows_max` 0: everything, nothing folded.
 */
void sim_columns_put(struct sim_page *page, const struct sim_actor_table *actor_table,
        const struct sim_outcome *outcome, const uint64_t *steps, uint32_t steps_count,
        uint32_t rows_max);

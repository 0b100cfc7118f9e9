/*
 * where.h -- the frames that a failure is reported with, whatever its kind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/code/frames.h"
#include "sim/core/record/outcome.h"
#include "sim/core/record/recorder.h"
#include "sim/explain/view/actor_table.h"

/*
 * The events that cloned the waker which is lost: the newest of each task before `lost_step`, the
 * newest first; 0: before the end. Returns how many were written to `ret_clones`, at most `max`.
 * With clones of several tasks it is one of them: a copy of a waker is no event.
 */
uint32_t sim_where_clones(const struct sim_actor_table *actor_table, uint64_t lost_step,
        uint64_t *ret_clones, uint32_t max);

/* The actor whose waker the event `clone` cloned. */
uint32_t sim_where_whose(const struct sim_actor_table *actor_table, uint64_t clone);

/*
 * Of a crash, a hang or a broken rule its stack (outcome->stack); of a leak of wakers the lines
 * that cloned them (sim_where_clones). Else none. `recorder` may be NULL.
 */
void sim_where_find(const struct sim_outcome *outcome, const struct sim_recorder *recorder,
        struct sim_frames *ret);

/*
 * batch.h -- a run order in batches: a task woken during a batch is polled in the next one.
 *
 *      head -> 4 -> 1 -> 7 ┊ 2 -> 9 <- tail
 *              this batch  ┊ the next one; a batch begins by moving the fence to the tail
 *
 * The article swaps the ready list for an empty one and polls what was in it (G1). One queue with a
 * fence is the same order and needs no second list. Within a batch, and from batch to batch, the
 * order is that of the wakes (G2).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TICK_BATCH_H
#define RT_TICK_BATCH_H

#include "runtime/task/sched.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_sched_batch {
    struct rt_sched sched;
    struct rt_sched_fifo queue;
    uint32_t last; /* The last of this batch; RT_SCHED_NONE: the batch is over. */
};

/* An empty policy without a batch. Borrows `links`, one for each number below `capacity`. */
void rt_sched_batch_init(
        struct rt_sched_batch *batch, struct rt_sched_link *links, uint32_t capacity);

/* All tasks queued now form the batch. Until the first call `pop` answers none. */
void rt_sched_batch_begin(struct rt_sched_batch *batch);

/* True when the batch is over: `pop` answers RT_SCHED_NONE. */
static inline bool
rt_sched_batch_done(const struct rt_sched_batch *batch)
{
    return batch->last == RT_SCHED_NONE;
}

#ifdef __cplusplus
}
#endif
#endif

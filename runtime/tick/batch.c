/*
 * batch.c -- one fifo and a fence in it.
 *
 * Invariant: `last` is in the queue, and the batch is everything from the head up to
 * it. Removing `last` moves the fence to the one before, or, at the head, ends the
 * batch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tick/batch.h"

#include "runtime/base/assert.h"
#include "runtime/base/list.h"

#include "runtime/base/banned.h"

static struct rt_sched_batch *
batch_of(struct rt_sched *sched)
{
    return rt_container_of(sched, struct rt_sched_batch, sched);
}

static void
take_out(struct rt_sched_batch *batch, uint32_t id)
{
    if (id == batch->last) {
        batch->last = batch->queue.links[id].prev;
    }
    struct rt_sched *queue = &batch->queue.sched;
    queue->ops->remove(queue, id);
}

static void
push(struct rt_sched *sched, uint32_t id)
{
    struct rt_sched *queue = &batch_of(sched)->queue.sched;
    queue->ops->push(queue, id);
}

static uint32_t
pop(struct rt_sched *sched)
{
    struct rt_sched_batch *batch = batch_of(sched);
    if (rt_sched_batch_done(batch)) {
        return RT_SCHED_NONE;
    }
    uint32_t id = batch->queue.head;
    rt_assert(id != RT_SCHED_NONE);
    take_out(batch, id);
    return id;
}

static void
remove_id(struct rt_sched *sched, uint32_t id)
{
    struct rt_sched_batch *batch = batch_of(sched);
    if (batch->queue.links[id].queued) {
        take_out(batch, id);
    }
}

static const struct rt_sched_ops batch_ops = {
        .push = push,
        .pop = pop,
        .remove = remove_id,
};

void
rt_sched_batch_init(struct rt_sched_batch *batch, struct rt_sched_link *links, uint32_t capacity)
{
    rt_assert(batch != NULL);
    batch->sched.ops = &batch_ops;
    rt_sched_fifo_init(&batch->queue, links, capacity);
    batch->last = RT_SCHED_NONE;
}

void
rt_sched_batch_begin(struct rt_sched_batch *batch)
{
    rt_assert(batch != NULL);
    rt_assert(batch->sched.ops == &batch_ops);
    batch->last = batch->queue.tail;
}

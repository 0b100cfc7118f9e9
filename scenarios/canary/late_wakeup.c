/*
 * late_wakeup.c -- a canary: the item is there, and the wake is sent with the next flush.
 *
 * A logger's line is put into the box at once, but its writer is woken by a flush at intervals. In
 * between no task runs, while the writer could make progress: the delay is not intended. The flush
 * happens in the end, so no wake is lost and the run passes, unless one of the quiescent states
 * before it is drawn for an audit.
 *
 * Must end in: late-wakeup.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define TICKS 100

struct box {
    struct rt_slot reader;
    bool full;
};

struct writer {
    struct rt_task task;
    struct box *box;
};

struct flusher {
    struct rt_task task;
    struct box *box;
    struct rt_sleep tick;
    uint32_t ticks;
};

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct writer *writer = rt_container_of(task, struct writer, task);
    if (writer->box->full) {
        return RT_READY;
    }
    rt_slot_replace(&writer->box->reader, cx, "a line to write");
    return RT_PENDING;
}

/* Puts the line at the first tick, and wakes the reader at the last. */
static rt_poll
flusher_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct flusher *flusher = rt_container_of(task, struct flusher, task);
    while (flusher->ticks < TICKS) {
        RT_AWAIT(rt_sleep_poll(&flusher->tick, cx));
        rt_sleep_init(&flusher->tick, RT_MS);
        flusher->box->full = true;
        flusher->ticks++;
    }
    rt_slot_wake(&flusher->box->reader);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct box *box = sim_new(world, struct box);
    struct writer *writer = sim_new(world, struct writer);
    struct flusher *flusher = sim_new(world, struct flusher);
    rt_slot_init(&box->reader);
    writer->box = box;
    flusher->box = box;
    rt_sleep_init(&flusher->tick, RT_MS);
    rt_task_init(&writer->task, writer_poll, NULL, "writer");
    rt_task_init(&flusher->task, flusher_poll, NULL, "flusher");
    sim_spawn(rt, &writer->task);
    sim_spawn(rt, &flusher->task);
}

SIM_SCENARIO(canary_late_wakeup, .name = "canary/late-wakeup",
        .about = "An item is put at once, and its reader woken a hundred ticks later.",
        .setup = setup, .expect = SIM_VERDICT_LATE_WAKEUP);

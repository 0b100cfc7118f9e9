/*
 * batch.c -- items are written in batches: when four are there, or some time after the first.
 *
 * The flusher checks the number of items before it waits, and starts its timer with the first
 * item of a batch. After a flush the timer is off. Producers wake it for the first item of a batch,
 * for the one that makes it full, and at the end, and for nothing else: the ones in between change
 * nothing that it waits for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define PRODUCERS 2u
#define ITEMS 5u
#define FULL 4u
#define LINGER_NS (2 * RT_MS)

struct batch {
    struct sim_world *world;
    uint32_t items;
    uint32_t producers;
    struct rt_slot changed;
};

struct flusher {
    struct rt_task task;
    struct batch *batch;
    struct rt_sleep linger;
    bool lingers;
    uint32_t written;
};

struct producer {
    struct rt_task task;
    struct batch *batch;
    struct rt_sleep sleep;
    uint32_t made;
    uint32_t at;
};

static void
flusher_flush(struct flusher *flusher)
{
    rt_sleep_cancel(&flusher->linger);
    flusher->lingers = false;
    if (flusher->batch->items > 0) {
        flusher->written += flusher->batch->items;
        flusher->batch->items = 0;
        SIM_PROGRESS();
    }
}

static rt_poll
flusher_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct flusher *flusher = rt_container_of(task, struct flusher, task);
    struct batch *batch = flusher->batch;
    if (batch->items >= FULL || batch->producers == 0) {
        flusher_flush(flusher);
    }
    if (batch->producers == 0) {
        SIM_ALWAYS(flusher->written == PRODUCERS * ITEMS);
        return RT_READY;
    }
    if (batch->items > 0) {
        if (!flusher->lingers) {
            rt_sleep_init(&flusher->linger, LINGER_NS);
            flusher->lingers = true;
        }
        if (rt_sleep_poll(&flusher->linger, cx) == RT_READY) {
            flusher_flush(flusher);
        }
    }
    rt_slot_replace(&batch->changed, cx, "items of a batch");
    return RT_PENDING;
}

static rt_poll
producer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct producer *producer = rt_container_of(task, struct producer, task);
    struct batch *batch = producer->batch;
    RT_BEGIN(producer->at);
    for (producer->made = 0; producer->made < ITEMS; producer->made++) {
        rt_sleep_init(&producer->sleep, sim_range(batch->world, 0, 2 * RT_MS));
        RT_AWAIT_HERE(producer->at, rt_sleep_poll(&producer->sleep, cx));
        batch->items++;
        if (batch->items == 1 || batch->items == FULL) {
            rt_slot_wake(&batch->changed);
        }
    }
    if (--batch->producers == 0) {
        rt_slot_wake(&batch->changed);
    }
    RT_END(producer->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[PRODUCERS] = {"producer 1", "producer 2"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct batch *batch = sim_new(world, struct batch);
    struct flusher *flusher = sim_new(world, struct flusher);
    batch->world = world;
    batch->producers = PRODUCERS;
    rt_slot_init(&batch->changed);
    flusher->batch = batch;
    rt_sleep_init(&flusher->linger, 0);
    rt_task_init(&flusher->task, flusher_poll, NULL, "flusher");
    sim_spawn(rt, &flusher->task);
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        struct producer *producer = sim_new(world, struct producer);
        producer->batch = batch;
        rt_task_init(&producer->task, producer_poll, NULL, names[i]);
        sim_spawn(rt, &producer->task);
    }
}

SIM_SCENARIO(correct_batch, .name = "correct/batch",
        .about = "A batch is flushed when it is full, or after a while.", .setup = setup);

/*
 * t_batch.c -- A metrics aggregator: producers push samples and wake it once for many (a
 * coalescing flag); it handles at most two samples in a poll, to be fair.
 *
 * Cause: When a poll stops at the batch limit the aggregator sleeps with samples queued and the
 * coalescing flag still set, so neither it nor a later push wakes it again.
 * Where: aggregator_poll
 * Kind: coalescing flag never reset
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define PRODUCERS 2
#define SAMPLES 3
#define BATCH 2

static bool fixed;

struct aggregator {
    struct rt_task task;
    struct rt_slot samples;
    uint32_t queued;
    uint32_t handled;
    bool notified; /* A wake is on its way: further pushes need none. */
};

struct producer {
    struct rt_task task;
    struct aggregator *to;
    struct rt_sleep pause;
    uint32_t at;
    uint32_t i;
    uint64_t gap;
};

static void
aggregator_push(struct aggregator *to)
{
    to->queued++;
    if (!to->notified) {
        to->notified = true;
        rt_slot_wake(&to->samples);
    }
}

static rt_poll
aggregator_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct aggregator *self = rt_container_of(task, struct aggregator, task);
    uint32_t n = 0;
    while (self->queued > 0 && n < BATCH) {
        self->queued--;
        self->handled++;
        n++;
        SIM_PROGRESS();
    }
    if (self->handled == PRODUCERS * SAMPLES) {
        return RT_READY;
    }
    rt_slot_replace(&self->samples, cx, "samples");
    if (n == BATCH) {
        if (fixed) {
            rt_cx_reenqueue(cx);
        }
        return RT_PENDING; /* Where. */
    }
    self->notified = false;
    return RT_PENDING;
}

static rt_poll
producer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct producer *producer = rt_container_of(task, struct producer, task);
    RT_BEGIN(producer->at);
    for (producer->i = 0; producer->i < SAMPLES; producer->i++) {
        rt_sleep_init(&producer->pause, producer->gap);
        RT_AWAIT_HERE(producer->at, rt_sleep_poll(&producer->pause, cx));
        aggregator_push(producer->to);
    }
    RT_END(producer->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[] = {"cpu", "disk"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct aggregator *aggregator = sim_new(world, struct aggregator);
    rt_slot_init(&aggregator->samples);
    rt_task_init(&aggregator->task, aggregator_poll, NULL, "aggregator");
    sim_spawn(rt, &aggregator->task);
    for (int i = 0; i < PRODUCERS; i++) {
        struct producer *producer = sim_new(world, struct producer);
        producer->to = aggregator;
        producer->gap = (1 + i) * 100 * RT_US + sim_range(world, 0, 2) * 50 * RT_US;
        rt_task_init(&producer->task, producer_poll, NULL, names[i]);
        sim_spawn(rt, &producer->task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/t-batch/broken",
        .about = "An aggregator with a batch limit and coalesced wakes.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/t-batch/fixed",
        .about = "An aggregator with a batch limit and coalesced wakes.", .setup = setup_fixed);

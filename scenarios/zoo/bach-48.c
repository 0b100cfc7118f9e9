/*
 * bach-48.c -- an executor that clears the woken mark after the poll.
 *
 * camshaft/bach#48. bach is itself a simulation of async runtimes.
 *
 * The bug. Each task has a mark "woken", so that a second wake does not queue it twice. The
 * executor cleared it after the poll. A task that wakes itself while it is polled finds the mark
 * still set, is not queued, and then loses the mark: it is not polled again.
 *
 * The fix. The mark is cleared before the poll (T6). bach-48.patch moves that line of
 * runtime/task/executor.c after the poll.
 *
 * Here. A consumer takes one item a poll, so that a full box does not delay other tasks, and wakes
 * itself when more items are left. Three senders send one item each, about a millisecond apart. If
 * each item finds the box empty, nothing goes wrong. If two are in it at once, because senders
 * collide or the consumer is late, the consumer's wake of itself is erased, and if no later item
 * arrives it sleeps forever with an item in the box. Its waker is stored in the box, so T12 does
 * not apply.
 *
 * Cause: coalesced in consumer_poll or poll_task
 * Must end in: lost-wakeup of the consumer. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define SENDERS 3

struct box {
    struct rt_slot reader;
    uint32_t items;
};

struct consumer {
    struct rt_task task;
    struct box *box;
    uint32_t taken;
};

struct sender {
    struct rt_task task;
    struct box *box;
    struct rt_sleep nap;
};

static rt_poll
consumer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct consumer *consumer = rt_container_of(task, struct consumer, task);
    struct box *box = consumer->box;
    if (box->items > 0) {
        box->items--;
        consumer->taken++;
        SIM_PROGRESS();
    }
    if (consumer->taken == SENDERS) {
        return RT_READY;
    }
    rt_slot_replace(&box->reader, cx, "an item in the box");
    if (box->items > 0) {
        rt_cx_reenqueue(cx);
    }
    return RT_PENDING;
}

static rt_poll
sender_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct sender *sender = rt_container_of(task, struct sender, task);
    RT_AWAIT(rt_sleep_poll(&sender->nap, cx));
    sender->box->items++;
    rt_slot_wake(&sender->box->reader);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    static const char *const names[SENDERS] = {"sender 1", "sender 2", "sender 3"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct box *box = sim_new(world, struct box);
    struct consumer *consumer = sim_new(world, struct consumer);
    rt_slot_init(&box->reader);
    consumer->box = box;
    rt_task_init(&consumer->task, consumer_poll, NULL, "consumer");
    sim_spawn(rt, &consumer->task);
    for (uint32_t i = 0; i < SENDERS; i++) {
        struct sender *sender = sim_new(world, struct sender);
        sender->box = box;
        rt_sleep_init(&sender->nap, i * RT_MS + sim_range(world, 0, 2 * RT_MS));
        rt_task_init(&sender->task, sender_poll, NULL, names[i]);
        sim_spawn(rt, &sender->task);
    }
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_bach_48_broken, .name = "zoo/bach-48/broken", .bug = "A09",
        .reference = "camshaft/bach#48",
        .about = "The woken mark is cleared after the poll: a task's wake of itself is erased.",
        .setup = setup, .expect = SIM_VERDICT_LOST_WAKEUP);
#else
SIM_SCENARIO(zoo_bach_48_fixed, .name = "zoo/bach-48/fixed",
        .about = "The woken mark is cleared before the poll: a task's wake of itself is seen.",
        .setup = setup);
#endif

/*
 * tokio-3234.c -- a wake is taken as proof of a new value.
 *
 * tokio-rs/tokio#3234 (issue #3168; watch::Receiver::changed).
 *
 * The bug. A receiver awaits a notification and then expects that the value has changed:
 * `maybe_changed().expect("…bug")`. But a notification without a waiter stores a permit; a value
 * that was seen without waiting leaves its permit in place, and the next wait ends at once, without
 * a new value.
 *
 * The fix. A loop: check, wait, check again. `woken_in_vain` below.
 *
 * Here. A dial is turned three times, and a display shows each value that it receives. The dial may
 * be turned before the display's first check.
 *
 * Cause: not-a-wake in woken_in_vain or changed_poll
 * Must end in: crash, as for tokio's users. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "runtime/sync/notify.h"
#include "sim/rewake.h"

#define TURNS 3

struct watch {
    bool broken;
    struct rt_notify changed;
    struct rt_notified wait;
    bool awaits;
    uint32_t value;
    uint32_t seen;
    struct rt_task display;
    struct rt_task dial;
    struct rt_sleep hand;
};

/* Woken, but the value has been seen before. */
static void
woken_in_vain(const struct watch *watch)
{
    if (watch->broken) {
        abort(); /* "This is a bug, please report it." */
    }
}

/* READY when there is a value that has not been seen. */
static rt_poll
changed_poll(struct watch *watch, struct rt_cx *cx)
{
    while (watch->awaits || watch->seen == watch->value) {
        watch->awaits = true;
        RT_AWAIT(rt_notified_poll(&watch->wait, cx));
        watch->awaits = false;
        rt_notified_init(&watch->wait, &watch->changed);
        if (watch->seen == watch->value) {
            woken_in_vain(watch);
        }
    }
    watch->seen = watch->value;
    SIM_PROGRESS();
    return RT_READY;
}

static rt_poll
display_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct watch *watch = rt_container_of(task, struct watch, display);
    while (watch->seen < TURNS) {
        RT_AWAIT(changed_poll(watch, cx));
    }
    rt_notified_drop(&watch->wait);
    return RT_READY;
}

static rt_poll
dial_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct watch *watch = rt_container_of(task, struct watch, dial);
    while (watch->value < TURNS) {
        RT_AWAIT(rt_sleep_poll(&watch->hand, cx));
        rt_sleep_init(&watch->hand, RT_MS);
        watch->value++;
        rt_notify_one(&watch->changed);
    }
    return RT_READY;
}

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct watch *watch = sim_new(world, struct watch);
    watch->broken = broken;
    rt_notify_init(&watch->changed);
    rt_notified_init(&watch->wait, &watch->changed);
    rt_sleep_init(&watch->hand, 0);
    rt_task_init(&watch->display, display_poll, NULL, "display");
    rt_task_init(&watch->dial, dial_poll, NULL, "dial");
    sim_spawn(rt, &watch->display);
    sim_spawn(rt, &watch->dial);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_tokio_3234_broken, .name = "zoo/tokio-3234/broken", .bug = "C10",
        .reference = "tokio-rs/tokio#3234",
        .about = "A notified receiver expects a new value without a check.", .setup = setup_broken,
        .expect = SIM_VERDICT_CRASH);
SIM_SCENARIO(zoo_tokio_3234_fixed, .name = "zoo/tokio-3234/fixed",
        .about = "A notified receiver checks for a new value.", .setup = setup_fixed);

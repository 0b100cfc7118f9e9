/*
 * tokio-3234.c -- a wake that is taken for a proof.
 *
 * tokio-rs/tokio#3234 (issue #3168; watch::Receiver::changed).
 *
 * The bug. Whoever waits for a new value awaits a notification and then expects that the value has
 * changed: `maybe_changed().expect("…bug")`. But a notification leaves a permit where nobody
 * waits; a value that was seen without waiting leaves its permit behind, and the next wait ends at
 * once, with nothing new.
 *
 * The fix. A loop: look, wait, look again. `told_in_vain` below.
 *
 * Here. A dial is turned three times, and a display shows each value that it comes to see. The dial
 * may be turned before the display looks for the first time.
 *
 * Cause: not-a-wake in told_in_vain or changed_poll
 * Must end in: crash, which is how tokio's users met it. Fails on the baseline run: no.
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

/* Woken, and the value is the one that was seen. */
static void
told_in_vain(const struct watch *watch)
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
            told_in_vain(watch);
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
        .about = "Whoever is notified takes for granted that there is something new.",
        .setup = setup_broken, .expect = SIM_VERDICT_CRASH);
SIM_SCENARIO(zoo_tokio_3234_fixed, .name = "zoo/tokio-3234/fixed",
        .about = "Whoever is notified looks whether there is something new.", .setup = setup_fixed);

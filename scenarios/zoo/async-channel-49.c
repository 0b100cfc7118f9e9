/*
 * async-channel-49.c -- a notification is dropped while an earlier one is not consumed yet.
 *
 * smol-rs/async-channel#49 (commit 736bc72; the same mechanism: smol-rs/async-lock#91).
 *
 * The bug. `notify(1)` makes sure that one listener is notified: while one is notified and not yet
 * polled, it does nothing. Two items are sent and one listener is notified; the second item stays
 * in the queue unless that listener returns for it.
 *
 * The fix. One notification for each item, `notify_additional(1)`. async-channel-49.patch makes
 * rt_notify_one, in runtime/sync/notify.c, do nothing while a waiter is chosen and not polled.
 *
 * Here. Two cooks wait for a bell, then check for an order. A waiter brings two orders, some time
 * apart, and rings for each. A cook with an order never returns for another.
 *
 * Cause: never-fired in rt_notify_one_at or waiter_poll or coalesced in waiter_poll
 * Must end in: lost-wakeup of a cook. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/notify.h"
#include "sim/rewake.h"

#define COOKS 2

struct kitchen;

struct cook {
    struct rt_task task;
    struct kitchen *kitchen;
    struct rt_notified bell;
};

struct kitchen {
    struct rt_notify bell;
    uint32_t orders;
    uint32_t brought;
    struct rt_task waiter;
    struct rt_sleep walk;
    uint64_t gap_ns;
    struct cook cooks[COOKS];
};

static rt_poll
cook_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct cook *cook = rt_container_of(task, struct cook, task);
    struct kitchen *kitchen = cook->kitchen;
    for (;;) {
        bool signalled = rt_notified_poll(&cook->bell, cx) == RT_READY;
        if (kitchen->orders > 0) {
            break;
        }
        if (!signalled) {
            return RT_PENDING;
        }
        rt_notified_init(&cook->bell, &kitchen->bell);
    }
    rt_notified_drop(&cook->bell);
    kitchen->orders--;
    SIM_PROGRESS();
    return RT_READY;
}

static rt_poll
waiter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct kitchen *kitchen = rt_container_of(task, struct kitchen, waiter);
    while (kitchen->brought < COOKS) {
        RT_AWAIT(rt_sleep_poll(&kitchen->walk, cx));
        rt_sleep_init(&kitchen->walk, kitchen->gap_ns);
        kitchen->brought++;
        kitchen->orders++;
        rt_notify_one(&kitchen->bell);
    }
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    static const char *const names[COOKS] = {"first cook", "second cook"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct kitchen *kitchen = sim_new(world, struct kitchen);
    rt_notify_init(&kitchen->bell);
    kitchen->gap_ns = RT_MS - sim_range(world, 0, RT_MS);
    rt_sleep_init(&kitchen->walk, RT_MS);
    for (uint32_t i = 0; i < COOKS; i++) {
        struct cook *cook = &kitchen->cooks[i];
        cook->kitchen = kitchen;
        rt_notified_init(&cook->bell, &kitchen->bell);
        rt_task_init(&cook->task, cook_poll, NULL, names[i]);
        sim_spawn(rt, &cook->task);
    }
    rt_task_init(&kitchen->waiter, waiter_poll, NULL, "waiter");
    sim_spawn(rt, &kitchen->waiter);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_async_channel_49_broken, .name = "zoo/async-channel-49/broken", .bug = "C07",
        .reference = "smol-rs/async-channel#49",
        .about = "A notification is dropped while an earlier one is not consumed.", .setup = setup,
        .expect = SIM_VERDICT_LOST_WAKEUP);
#else
SIM_SCENARIO(zoo_async_channel_49_fixed, .name = "zoo/async-channel-49/fixed",
        .about = "Each notification chooses a separate waiter.", .setup = setup);
#endif

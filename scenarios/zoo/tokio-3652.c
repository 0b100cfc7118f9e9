/*
 * tokio-3652.c -- a dropped waiter erases the stored permit.
 *
 * tokio-rs/tokio#3652 (Notify).
 *
 * The bug. A Notified that is dropped as the last one of the list sets the state to "empty", on the
 * assumption that it was "waiting". notify_waiters has taken the waiter out of the list, and a
 * later notify_one has stored its permit in the same state.
 *
 * The fix. Only a state of "waiting" is reset. tokio-3652.patch makes the drop in
 * runtime/sync/notify.c erase the permit when no waiter is in the list.
 *
 * Here. A guest waits for the door, with a time limit. The porter wakes all waiters, and notifies
 * once more for the next visitor. The late visitor arrives after that. The guest's limit may expire
 * when all are woken.
 *
 * Cause: order, porter_poll before guest_poll or erased in drop
 * Must end in: deadlock: the visitor waits for a permit that was stored. Fails on the baseline run:
 * no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/notify.h"
#include "sim/rewake.h"

struct house {
    struct rt_notify door;
    struct rt_task guest;
    struct rt_notified for_guest;
    struct rt_sleep patience;
    struct rt_slot arrival; /* The porter waits for the guest. */
    bool arrived;
    struct rt_task porter;
    struct rt_sleep rest;
    struct rt_task visitor;
    struct rt_sleep walk;
    struct rt_notified for_visitor;
    bool there;
};

static rt_poll
guest_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct house *house = rt_container_of(task, struct house, guest);
    if (rt_sleep_poll(&house->patience, cx) == RT_READY) {
        rt_notified_drop(&house->for_guest);
        house->arrived = true; /* And has left. */
        rt_slot_wake(&house->arrival);
        return RT_READY;
    }
    if (rt_notified_poll(&house->for_guest, cx) == RT_READY) {
        rt_sleep_cancel(&house->patience);
        return RT_READY;
    }
    if (!house->arrived) {
        house->arrived = true;
        rt_slot_wake(&house->arrival);
    }
    return RT_PENDING;
}

static rt_poll
porter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct house *house = rt_container_of(task, struct house, porter);
    if (!house->arrived) {
        rt_slot_replace(&house->arrival, cx, "the guest");
        return RT_PENDING;
    }
    RT_AWAIT(rt_sleep_poll(&house->rest, cx));
    (void)rt_notify_all(&house->door);
    rt_notify_one(&house->door);
    return RT_READY;
}

static rt_poll
visitor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct house *house = rt_container_of(task, struct house, visitor);
    if (!house->there) {
        RT_AWAIT(rt_sleep_poll(&house->walk, cx));
        house->there = true;
    }
    return rt_notified_poll(&house->for_visitor, cx);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct house *house = sim_new(world, struct house);
    rt_notify_init(&house->door);
    rt_slot_init(&house->arrival);
    rt_notified_init(&house->for_guest, &house->door);
    rt_notified_init(&house->for_visitor, &house->door);
    rt_sleep_until(&house->patience, RT_MS);
    rt_sleep_until(&house->rest, sim_range(world, 0, 2 * RT_MS));
    rt_sleep_until(&house->walk, 4 * RT_MS);
    rt_task_init(&house->guest, guest_poll, NULL, "guest");
    rt_task_init(&house->porter, porter_poll, NULL, "porter");
    rt_task_init(&house->visitor, visitor_poll, NULL, "visitor");
    sim_spawn(rt, &house->guest);
    sim_spawn(rt, &house->porter);
    sim_spawn(rt, &house->visitor);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_tokio_3652_broken, .name = "zoo/tokio-3652/broken", .bug = "A01",
        .reference = "tokio-rs/tokio#3652", .about = "A dropped wait erases a permit.",
        .setup = setup, .expect = SIM_VERDICT_DEADLOCK);
#else
SIM_SCENARIO(zoo_tokio_3652_fixed, .name = "zoo/tokio-3652/fixed",
        .about = "A dropped wait leaves a stored permit alone.", .setup = setup);
#endif

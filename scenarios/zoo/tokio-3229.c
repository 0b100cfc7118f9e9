/*
 * tokio-3229.c -- a timer is cancelled at the time when it expires.
 *
 * tokio-rs/tokio#3229 (commit 9706ca9), for a panic reported in ZcashFoundation/zebra#1452.
 *
 * The bug. Expired timers are first moved from their slot of the wheel to a list of pending timers,
 * and then fired one by one. Each timer stores its slot, for a cancel; the move does not change
 * that. Dropping a pending timer searches a slot that is empty.
 *
 * The fix. The move stores the new position. tokio-3229.patch removes that from
 * runtime/time/wheel.c; in timers.c it makes firing use the list that the timer is in and not the
 * stored position, as tokio's did, and keeps the runtime's audit, which would notice at once, from
 * reading the position.
 *
 * Here. A call has two limits, one for silence and one for the whole. Each is a timer with a
 * separate sub-waker, and the first to fire cancels the other inside the wake, as a race that drops
 * its losers does. Nothing goes wrong unless both expire in one call of rt_timers_process: the
 * limits are equal, or the runtime was late.
 *
 * Cause: not-a-wake in rt__wheel_advance or rt__wheel_remove or limit_woken
 * Must end in: contract, by an assertion of the wheel, as in tokio. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define LIMITS 2
#define WHOLE (5 * RT_MS)

struct call;

struct limit {
    struct rt_target target;
    struct rt_sleep sleep;
    struct call *call;
};

struct call {
    struct rt_task task;
    struct rt_slot over;
    struct limit limits[LIMITS];
    bool begun;
    bool is_over;
};

/* One limit fired: cancels the other. */
static void
limit_woken(struct rt_target *target, const struct rt_site *await)
{
    struct limit *limit = rt_container_of(target, struct limit, target);
    struct call *call = limit->call;
    call->is_over = true;
    for (uint32_t i = 0; i < LIMITS; i++) {
        if (&call->limits[i] != limit) {
            rt_sleep_cancel_at(&call->limits[i].sleep, await);
        }
    }
    rt_slot_wake_at(&call->over, await);
}

static void
call_begin(struct call *call, struct rt_cx *cx)
{
    call->begun = true;
    for (uint32_t i = 0; i < LIMITS; i++) {
        struct limit *limit = &call->limits[i];
        SIM_ALWAYS(rt_target_open(&limit->target, cx->executor, limit_woken) == RT_OK);
        struct rt_cx child = rt_cx_for_child(cx, rt_target_waker(&limit->target));
        SIM_ALWAYS(rt_sleep_poll(&limit->sleep, &child) == RT_PENDING);
        rt_cx_poison(&child);
    }
}

static rt_poll
call_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct call *call = rt_container_of(task, struct call, task);
    if (call->is_over) {
        return RT_READY;
    }
    if (!call->begun) {
        call_begin(call, cx);
    }
    rt_slot_replace(&call->over, cx, "the end of the call");
    return RT_PENDING;
}

static void
call_cleanup(struct rt_task *task)
{
    struct call *call = rt_container_of(task, struct call, task);
    for (uint32_t i = 0; i < LIMITS; i++) {
        rt_target_close(&call->limits[i].target);
        rt_sleep_cancel(&call->limits[i].sleep);
    }
}

static void
setup(struct sim_world *world)
{
    const uint64_t limits_ns[LIMITS] = {WHOLE, sim_range(world, 1 * RT_MS, WHOLE)};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct call *call = sim_new(world, struct call);
    for (uint32_t i = 0; i < LIMITS; i++) {
        call->limits[i].call = call;
        rt_sleep_init(&call->limits[i].sleep, limits_ns[i]);
    }
    rt_slot_init(&call->over);
    rt_task_init(&call->task, call_poll, call_cleanup, "call");
    sim_spawn(rt, &call->task);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_tokio_3229_broken, .name = "zoo/tokio-3229/broken", .bug = "E02",
        .reference = "tokio-rs/tokio#3229",
        .about = "A timer that expires with another is cancelled by the other's waker.",
        .setup = setup, .expect = SIM_VERDICT_CONTRACT);
#else
SIM_SCENARIO(zoo_tokio_3229_fixed, .name = "zoo/tokio-3229/fixed",
        .about = "The same, with a timer that knows that it is pending.", .setup = setup);
#endif

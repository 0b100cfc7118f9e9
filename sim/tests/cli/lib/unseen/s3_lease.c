// Cause: s3_lease.c:64 when the timer comes due and the lease was extended meanwhile the keeper goes on waiting for a farewell without starting its timer for the new deadline, so nothing ends the lease and those who wait for it stay.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define RENEWALS_MAX 3
#define TTL (2 * RT_MS)

struct lease {
    uint64_t deadline_ns;
    bool over;
    bool farewell;
    struct rt_slot closed; /* The keeper waits here, … */
    struct rt_slot freed;  /* … and here who wants the lease next. */
};

struct keeper {
    struct rt_task task;
    struct lease *lease;
    struct rt_sleep sleep;
    bool armed;
    bool fixed;
};

struct owner {
    struct rt_task task;
    struct lease *lease;
    struct rt_sleep sleep;
    uint64_t pause_ns[RENEWALS_MAX];
    uint32_t renewals;
    uint32_t renewed;
    bool polite;
    uint32_t at;
};

struct next_owner {
    struct rt_task task;
    struct lease *lease;
};

static rt_poll
keeper_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct keeper *keeper = rt_container_of(task, struct keeper, task);
    struct lease *lease = keeper->lease;
    for (;;) {
        if (!keeper->armed && !lease->farewell) {
            rt_sleep_until(&keeper->sleep, lease->deadline_ns);
            keeper->armed = true;
        }
        if (lease->farewell) {
            rt_sleep_cancel(&keeper->sleep);
            break;
        }
        if (rt_sleep_poll(&keeper->sleep, cx) == RT_PENDING) {
            rt_slot_replace(&lease->closed, cx, "the farewell of the owner");
            return RT_PENDING;
        }
        keeper->armed = false;
        if (lease->deadline_ns <= rt_cx_now(cx)) {
            break;
        }
        if (!keeper->fixed) {
            rt_slot_replace(&lease->closed, cx, "the farewell of the owner");
            return RT_PENDING;
        }
    }
    lease->over = true;
    rt_slot_wake(&lease->freed);
    return RT_READY;
}

static rt_poll
owner_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct owner *owner = rt_container_of(task, struct owner, task);
    struct lease *lease = owner->lease;
    RT_BEGIN(owner->at);
    while (owner->renewed < owner->renewals) {
        rt_sleep_init(&owner->sleep, owner->pause_ns[owner->renewed]);
        RT_AWAIT_HERE(owner->at, rt_sleep_poll(&owner->sleep, cx));
        if (lease->over) {
            return RT_READY;
        }
        owner->renewed++;
        lease->deadline_ns = rt_cx_now(cx) + TTL;
    }
    if (owner->polite) {
        rt_sleep_init(&owner->sleep, TTL / 4);
        RT_AWAIT_HERE(owner->at, rt_sleep_poll(&owner->sleep, cx));
        lease->farewell = true;
        rt_slot_wake(&lease->closed);
    }
    RT_END(owner->at);
}

static rt_poll
next_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct next_owner *next = rt_container_of(task, struct next_owner, task);
    if (next->lease->over) {
        return RT_READY;
    }
    rt_slot_replace(&next->lease->freed, cx, "the lease");
    return RT_PENDING;
}

static void
setup(struct sim_world *world, bool fixed)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct lease *lease = sim_new(world, struct lease);
    struct keeper *keeper = sim_new(world, struct keeper);
    struct owner *owner = sim_new(world, struct owner);
    struct next_owner *next = sim_new(world, struct next_owner);
    lease->deadline_ns = TTL;
    rt_slot_init(&lease->closed);
    rt_slot_init(&lease->freed);
    keeper->lease = owner->lease = next->lease = lease;
    keeper->fixed = fixed;
    owner->renewals = sim_pick(world, RENEWALS_MAX + 1);
    owner->polite = sim_pick(world, 3) == 1;
    for (uint32_t i = 0; i < RENEWALS_MAX; i++) {
        owner->pause_ns[i] = sim_range(world, RT_MS / 2, 5 * RT_MS / 2);
    }
    rt_task_init(&keeper->task, keeper_poll, NULL, "keeper");
    rt_task_init(&owner->task, owner_poll, NULL, "owner");
    rt_task_init(&next->task, next_poll, NULL, "next owner");
    sim_spawn(rt, &keeper->task);
    sim_spawn(rt, &owner->task);
    sim_spawn(rt, &next->task);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_lease/broken", .about = "A lease that can be extended.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_lease/fixed", .about = "A lease that can be extended.",
        .setup = setup_fixed);

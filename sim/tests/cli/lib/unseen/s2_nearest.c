// Cause: s2_nearest.c:39 the wheel rounds a deadline to the nearest tick instead of up: a timer that is rounded down fires before its deadline, is put back into the slot of the tick that is just over, and comes due only when the wheel has gone round once more.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define TICK (1 * RT_MS)
#define SLOTS 32u
#define TASKS 3u

struct entry {
    struct rt_slot slot; /* of the task that waits */
    uint64_t due_tick;
    bool armed;
};

struct wheel {
    struct sim_world *world;
    bool fixed;
    uint64_t tick; /* processed last */
    struct entry *entries[TASKS];
    uint32_t users; /* tasks that have not ended */
};

struct waiter {
    struct rt_task task;
    struct wheel *wheel;
    struct entry entry;
    uint64_t delay_ns, deadline_ns;
    uint32_t at;
};

static void wheel_put(struct wheel *wheel, struct entry *entry, uint64_t deadline_ns)
{
    if (wheel->fixed) {
        entry->due_tick = (deadline_ns + TICK - 1) / TICK;
        if (entry->due_tick <= wheel->tick)
            entry->due_tick = wheel->tick + 1;
    } else {
        entry->due_tick = (deadline_ns + TICK / 2) / TICK;
    }
    entry->armed = true;
}

/* Fires what is in the slot of this tick; a real wheel has a list there. */
static void wheel_process(struct wheel *wheel)
{
    for (uint32_t i = 0; i < TASKS; i++) {
        struct entry *entry = wheel->entries[i];
        if (entry->armed && entry->due_tick % SLOTS == wheel->tick % SLOTS) {
            entry->armed = false;
            rt_slot_wake(&entry->slot);
        }
    }
}

static void wheel_main(struct sim_world *world, void *argument)
{
    struct wheel *wheel = argument;
    while (wheel->users > 0) {
        uint64_t now = sim_now(world), next = (wheel->tick + 1) * TICK;
        if (now < next)
            sim_sleep(world, next - now);
        while (wheel->tick < sim_now(world) / TICK) {
            wheel->tick++;
            wheel_process(wheel);
        }
    }
}

static rt_poll wait_for_deadline(struct waiter *waiter, struct rt_cx *cx)
{
    if (sim_now(waiter->wheel->world) >= waiter->deadline_ns) {
        waiter->entry.armed = false;
        return RT_READY;
    }
    if (!waiter->entry.armed)
        wheel_put(waiter->wheel, &waiter->entry, waiter->deadline_ns);
    rt_slot_replace(&waiter->entry.slot, cx, "its deadline");
    return RT_PENDING;
}

static rt_poll waiter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct waiter *waiter = rt_container_of(task, struct waiter, task);
    RT_BEGIN(waiter->at);
    waiter->deadline_ns = sim_now(waiter->wheel->world) + waiter->delay_ns;
    RT_AWAIT_HERE(waiter->at, wait_for_deadline(waiter, cx));
    waiter->wheel->users--;
    RT_END(waiter->at);
}

static void setup(struct sim_world *world, bool fixed)
{
    static const char *const names[TASKS] = {"ping", "flush", "sweep"};
    static const uint64_t delays[4] = {2800 * RT_US, 3900 * RT_US, 1200 * RT_US, 5300 * RT_US};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct wheel *wheel = sim_new(world, struct wheel);
    wheel->world = world;
    wheel->fixed = fixed;
    for (uint32_t i = 0; i < TASKS; i++) {
        struct waiter *waiter = sim_new(world, struct waiter);
        waiter->wheel = wheel;
        waiter->delay_ns = delays[sim_pick(world, 4)];
        rt_slot_init(&waiter->entry.slot);
        wheel->entries[i] = &waiter->entry;
        wheel->users++;
        rt_task_init(&waiter->task, waiter_poll, NULL, names[i]);
        sim_spawn(rt, &waiter->task);
    }
    (void)sim_loop_new(world, "wheel", wheel_main, wheel);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/nearest/broken", .about = "A wheel that rounds to the nearest tick.",
        .setup = setup_broken, .slack_ns = 4 * RT_MS, .expect = SIM_VERDICT_LATE_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/nearest/fixed", .about = "A wheel that rounds up.",
        .setup = setup_fixed, .slack_ns = 4 * RT_MS);

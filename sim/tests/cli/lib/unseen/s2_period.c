// Cause: s2_period.c:58 the new period is set on the interval and the reporter is not woken: where it already waits for its next tick it goes on waiting for the old one, and reports a whole old period later.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define REPORTS 3

struct reporter {
    struct rt_task task;
    bool fixed;
    struct rt_interval interval;
    struct rt_slot changed;
    struct rt_sleep sending;
    uint32_t reports;
    uint32_t at;
};

struct operator {
    struct rt_task task;
    struct reporter *reporter;
    struct rt_sleep sleep;
    uint64_t when_ns;
    uint32_t at;
};

/* The next tick, by the old schedule or by a new one. */
static rt_poll next_tick(struct reporter *reporter, struct rt_cx *cx)
{
    if (rt_interval_poll(&reporter->interval, cx, NULL) == RT_READY) {
        rt_slot_clear(&reporter->changed);
        return RT_READY;
    }
    rt_slot_replace(&reporter->changed, cx, "another schedule");
    return RT_PENDING;
}

static rt_poll reporter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reporter *reporter = rt_container_of(task, struct reporter, task);
    RT_BEGIN(reporter->at);
    for (reporter->reports = 0; reporter->reports < REPORTS; reporter->reports++) {
        RT_AWAIT_HERE(reporter->at, next_tick(reporter, cx));
        rt_sleep_init(&reporter->sending, 3 * RT_MS);
        RT_AWAIT_HERE(reporter->at, rt_sleep_poll(&reporter->sending, cx));
    }
    rt_interval_cancel(&reporter->interval);
    RT_END(reporter->at);
}

static rt_poll operator_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct operator *operator = rt_container_of(task, struct operator, task);
    RT_BEGIN(operator->at);
    rt_sleep_init(&operator->sleep, operator->when_ns);
    RT_AWAIT_HERE(operator->at, rt_sleep_poll(&operator->sleep, cx));
    if (operator->reporter->at != RT_AT_END) {
        operator->reporter->interval.period_ns = 10 * RT_MS;
        rt_interval_reset(&operator->reporter->interval, rt_cx_now(cx) + 5 * RT_MS);
        if (operator->reporter->fixed)
            rt_slot_wake(&operator->reporter->changed);
    }
    RT_END(operator->at);
}

static void setup(struct sim_world *world, bool fixed)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct reporter *reporter = sim_new(world, struct reporter);
    struct operator *operator = sim_new(world, struct operator);
    reporter->fixed = fixed;
    rt_slot_init(&reporter->changed);
    rt_interval_init(&reporter->interval, RT_MS, 500 * RT_MS, RT_MISSED_DELAY);
    operator->reporter = reporter;
    operator->when_ns = sim_range(world, 2 * RT_MS, 12 * RT_MS); /* from 4 ms on it waits for a tick */
    rt_task_init(&reporter->task, reporter_poll, NULL, "reporter");
    rt_task_init(&operator->task, operator_poll, NULL, "operator");
    sim_spawn(rt, &reporter->task);
    sim_spawn(rt, &operator->task);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/period/broken", .about = "A shorter period that a waiting task is not told.",
        .setup = setup_broken, .expect = SIM_VERDICT_LATE_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/period/fixed", .about = "A shorter period that wakes the waiting task.",
        .setup = setup_fixed);

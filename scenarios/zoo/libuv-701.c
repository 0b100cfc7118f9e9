/*
 * libuv-701.c -- timers that are due at the same time fire in the order of their addresses.
 *
 * libuv commit fadfeaf, reported in joyent/libuv#701; google/pigweed e61c2da is the same.
 *
 * The bug. Timers are in a tree, ordered by time. Equal times were ordered by the address of the
 * timer, so which of two fires first depended on their memory and not on their starts, as programs
 * expect.
 *
 * The fix. A timer stores the number of its start, and equal times are ordered by that.
 * libuv-701.patch reverts that in runtime/time/wheel.h: one line.
 *
 * Here. A test of a server. A timer opens the server's door after some time; another one, started
 * after it, makes the client knock, not earlier than that. A knock at a closed door is not heard.
 * The delays are drawn, and may be equal; the client's timer is the first in memory.
 *
 * Cause: order, knock before open_door or never-fired in knock
 * Must end in: deadlock of the server, which waits for a knock. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct alarm {
    struct rt_target target;
    struct rt_sleep sleep;
};

struct test {
    struct rt_task task;
    struct rt_slot knocked;
    struct alarm client;
    struct alarm door;
    bool begun;
    bool is_open;
    bool was_knocked;
};

static void
open_door(struct rt_target *target, const struct rt_site *await)
{
    struct test *test = rt_container_of(target, struct test, door.target);
    (void)await;
    test->is_open = true;
}

static void
knock(struct rt_target *target, const struct rt_site *await)
{
    struct test *test = rt_container_of(target, struct test, client.target);
    test->was_knocked = test->is_open;
    if (test->was_knocked) {
        rt_slot_wake_at(&test->knocked, await);
    }
}

static void
alarm_start(struct alarm *alarm, struct rt_cx *cx,
        void (*woken)(struct rt_target *target, const struct rt_site *await))
{
    SIM_ALWAYS(rt_target_open(&alarm->target, cx->executor, woken) == RT_OK);
    struct rt_cx child = rt_cx_for_child(cx, rt_target_waker(&alarm->target));
    SIM_ALWAYS(rt_sleep_poll(&alarm->sleep, &child) == RT_PENDING);
    rt_cx_poison(&child);
}

static rt_poll
test_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct test *test = rt_container_of(task, struct test, task);
    if (test->was_knocked) {
        return RT_READY;
    }
    if (!test->begun) {
        test->begun = true;
        alarm_start(&test->door, cx, open_door);
        alarm_start(&test->client, cx, knock);
    }
    rt_slot_replace(&test->knocked, cx, "a knock at the door");
    return RT_PENDING;
}

static void
alarm_end(struct alarm *alarm)
{
    rt_target_close(&alarm->target);
    rt_sleep_cancel(&alarm->sleep);
}

static void
test_cleanup(struct rt_task *task)
{
    struct test *test = rt_container_of(task, struct test, task);
    alarm_end(&test->door);
    alarm_end(&test->client);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct test *test = sim_new(world, struct test);
    uint64_t opens_ns = (2 + sim_pick(world, 4)) * RT_MS;
    uint64_t later_ns = (3 - sim_pick(world, 4)) * RT_MS;
    rt_sleep_init(&test->door.sleep, opens_ns);
    rt_sleep_init(&test->client.sleep, opens_ns + later_ns);
    rt_slot_init(&test->knocked);
    rt_task_init(&test->task, test_poll, test_cleanup, "server");
    sim_spawn(rt, &test->task);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_libuv_701_broken, .name = "zoo/libuv-701/broken", .bug = "E10",
        .reference = "joyent/libuv#701", .about = "Equal deadlines come due by address.",
        .setup = setup, .expect = SIM_VERDICT_DEADLOCK);
#else
SIM_SCENARIO(zoo_libuv_701_fixed, .name = "zoo/libuv-701/fixed",
        .about = "Equal deadlines come due in the order of their starts.", .setup = setup);
#endif

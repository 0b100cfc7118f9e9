/* Cause: fire_due(), line 76: `next` is read before the callback runs; when that callback cancels the next alarm,
 * the cancelled one is still called; repair: begin again at the head of the list after each callback. */
#include <sim/rewake.h>

/* A request with two timers in a loop of callbacks: one retries, one gives the request up. */

struct loop;

struct alarm {
    struct alarm *next;
    uint64_t due_ns;
    bool set;
    void (*ring)(struct loop *loop);
};

struct loop {
    bool fixed;
    struct rt_host *host;
    struct alarm *first;
    struct alarm retry;
    struct alarm give_up;
    bool request_lives;
    uint32_t attempts;
    uint64_t retry_ns;
    uint64_t give_up_ns;
};

static void
set(struct loop *loop, struct alarm *alarm, uint64_t after_ns)
{
    uint64_t due_ns = rt_host_now(loop->host) + after_ns;
    alarm->due_ns = (due_ns + RT_MS - 1) / RT_MS * RT_MS; /* Its clock counts milliseconds. */
    alarm->set = true;
    struct alarm **link = &loop->first; /* The earliest first. */
    while (*link != NULL && (*link)->due_ns <= alarm->due_ns) {
        link = &(*link)->next;
    }
    alarm->next = *link;
    *link = alarm;
}

static void
cancel(struct loop *loop, struct alarm *alarm)
{
    struct alarm **link = &loop->first;
    while (*link != NULL && *link != alarm) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = alarm->next;
    }
    alarm->set = false;
}

static void
on_retry(struct loop *loop)
{
    SIM_ALWAYS(loop->request_lives);
    loop->attempts++;
    set(loop, &loop->retry, loop->retry_ns);
}

static void
on_give_up(struct loop *loop)
{
    cancel(loop, &loop->retry);
    loop->request_lives = false;
}

static void
fire_due(struct loop *loop)
{
    uint64_t now_ns = rt_host_now(loop->host);
    struct alarm *alarm = loop->first;
    while (alarm != NULL) {
        struct alarm *next = alarm->next;
        if (alarm->due_ns <= now_ns) {
            cancel(loop, alarm);
            alarm->ring(loop);
            if (loop->fixed) {
                next = loop->first;
            }
        }
        alarm = next;
    }
}

static uint64_t
earliest(const struct loop *loop)
{
    uint64_t due_ns = RT_NEVER;
    for (const struct alarm *alarm = loop->first; alarm != NULL; alarm = alarm->next) {
        due_ns = alarm->due_ns < due_ns ? alarm->due_ns : due_ns;
    }
    return due_ns;
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    (void)world;
    loop->request_lives = true;
    on_retry(loop);
    set(loop, &loop->give_up, loop->give_up_ns);
    while (loop->first != NULL) {
        struct rt_pollable deadline;
        struct rt_pollable *list[1] = {&deadline};
        uint32_t ready[1];
        uint32_t count = 1;
        SIM_ALWAYS(rt_subscribe_instant(loop->host, earliest(loop), &deadline) == RT_OK);
        SIM_ALWAYS(rt_host_poll(loop->host, list, 1, ready, &count) == RT_OK);
        rt_pollable_drop(&deadline);
        fire_due(loop);
    }
    SIM_ALWAYS(!loop->request_lives);
}

static void
begin(struct sim_world *world, bool fixed)
{
    struct loop *loop = sim_new(world, struct loop);
    loop->fixed = fixed;
    loop->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    loop->retry.ring = on_retry;
    loop->give_up.ring = on_give_up;
    loop->retry_ns = sim_range(world, 1500 * RT_US, 4 * RT_MS);
    loop->give_up_ns = sim_range(world, 5 * RT_MS, 9 * RT_MS);
    (void)sim_loop_new(world, "client", loop_main, loop);
}

static void
broken(struct sim_world *world)
{
    begin(world, false);
}

static void
fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(s15_alarms_b, .name = "s15/alarms/broken", .about = "A cancelled alarm rings.",
        .setup = broken);
SIM_SCENARIO(s15_alarms_f, .name = "s15/alarms/fixed", .about = "The walk begins again.",
        .setup = fixed);
/* SPDX-License-Identifier: Apache-2.0 */

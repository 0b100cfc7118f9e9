// Cause: on_clock(): it arms the host's one clock again only if a timer was called. Timers are cancelled lazily
// (cancel() leaves the clock as it is), so when the earliest timer was cancelled before its time the clock reports,
// no timer is called, the clock stays unarmed, and the remaining timer never fires.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define TIMERS 2u

struct loop;

struct timer {
    uint64_t due_ns;
    bool active;
    void (*fn)(struct loop *loop);
};

struct loop {
    struct sim_world *world;
    struct rt_host *host;
    struct rt_pollable bell;
    struct rt_pollable clock;
    bool clock_armed;
    struct timer timers[TIMERS]; /* 0: the time limit of the request, 1: the next report. */
    bool replied;                /* By the other thread. */
    bool request_over;
    bool reported;
    bool arms_always;
};

static void
arm(struct loop *loop)
{
    uint64_t due_ns = SIM_NEVER;
    for (uint32_t i = 0; i < TIMERS; i++) {
        if (loop->timers[i].active && loop->timers[i].due_ns < due_ns) {
            due_ns = loop->timers[i].due_ns;
        }
    }
    if (!loop->clock_armed && due_ns != SIM_NEVER) {
        SIM_ALWAYS(rt_subscribe_instant(loop->host, due_ns, &loop->clock) == RT_OK);
        loop->clock_armed = true;
    }
}

static void
cancel(struct timer *timer)
{
    timer->active = false; /* The clock is left as it is: on_clock finds nothing then. */
}

static void
on_time_limit(struct loop *loop)
{
    loop->request_over = true;
}

static void
on_report(struct loop *loop)
{
    loop->reported = true;
}

static uint32_t
call_due(struct loop *loop)
{
    uint64_t now_ns = rt_host_now(loop->host);
    uint32_t called = 0;
    for (uint32_t i = 0; i < TIMERS; i++) {
        struct timer *timer = &loop->timers[i];
        if (timer->active && timer->due_ns <= now_ns) {
            timer->active = false;
            timer->fn(loop);
            called++;
        }
    }
    return called;
}

static void
on_clock(struct loop *loop)
{
    rt_pollable_drop(&loop->clock);
    loop->clock_armed = false;
    if (call_due(loop) > 0 || loop->arms_always) {
        arm(loop);
    }
}

static void
on_bell(struct loop *loop)
{
    if (loop->replied && !loop->request_over) {
        loop->request_over = true;
        cancel(&loop->timers[0]);
    }
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    (void)world;
    arm(loop);
    while (!loop->request_over || !loop->reported) {
        struct rt_pollable *list[2] = {&loop->bell, &loop->clock};
        uint32_t ready[2];
        uint32_t count = loop->clock_armed ? 2 : 1;
        SIM_ALWAYS(rt_host_poll(loop->host, list, count, ready, &count) == RT_OK);
        for (uint32_t i = 0; i < count; i++) {
            if (ready[i] == 0) {
                on_bell(loop);
            } else {
                on_clock(loop);
            }
        }
    }
    if (loop->clock_armed) {
        rt_pollable_drop(&loop->clock);
    }
    rt_pollable_drop(&loop->bell);
}

static void
peer_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    sim_sleep(world, 4 * RT_MS - sim_range(world, 0, 3 * RT_MS));
    loop->replied = true;
    rt_host_notify(loop->host);
}

static void
begin(struct sim_world *world, bool arms_always)
{
    struct loop *loop = sim_new(world, struct loop);
    loop->world = world;
    loop->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    loop->arms_always = arms_always;
    loop->timers[0] = (struct timer){2 * RT_MS, true, on_time_limit};
    loop->timers[1] = (struct timer){5 * RT_MS, true, on_report};
    SIM_ALWAYS(rt_host_subscribe(loop->host, RT_SUBSCRIBE_NOTIFY, 0, &loop->bell) == RT_OK);
    (void)sim_loop_new(world, "loop", loop_main, loop);
    (void)sim_loop_new(world, "peer", peer_main, loop);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(head_broken, .name = "set7/s7_head/broken",
        .about = "Several timers over one clock of the host.", .setup = setup_broken);
SIM_SCENARIO(head_fixed, .name = "set7/s7_head/fixed",
        .about = "Several timers over one clock of the host.", .setup = setup_fixed);

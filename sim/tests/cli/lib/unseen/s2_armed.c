// Cause: s2_armed.c:60 the timer thread says how long it will sleep (`armed`) only after a call of its host, although it has looked at the timers before: a timer that is added in between believes the thread awake and does not ring, and the thread sleeps without it.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define TIMERS 3

struct timers {
    struct rt_host *host;
    struct rt_pollable bell;
    bool fixed;
    uint64_t armed;            /* sleeps until then; 0: awake, will look */
    uint64_t deadline[TIMERS]; /* 0: not set */
    uint32_t fired;
    uint64_t idle_since;
    bool users_over;
};

/* From any thread. */
static void timers_add(struct timers *timers, uint32_t which, uint64_t deadline_ns)
{
    timers->deadline[which] = deadline_ns;
    if (deadline_ns < timers->armed)
        rt_host_notify(timers->host);
}

static uint64_t earliest(const struct timers *timers)
{
    uint64_t first = RT_NEVER;
    for (int i = 0; i < TIMERS; i++)
        if (timers->deadline[i] != 0 && timers->deadline[i] < first)
            first = timers->deadline[i];
    return first;
}

static void run_due(struct timers *timers, uint64_t now)
{
    for (int i = 0; i < TIMERS; i++) {
        if (timers->deadline[i] != 0 && timers->deadline[i] <= now) {
            timers->deadline[i] = 0;
            timers->fired++;
            SIM_PROGRESS();
        }
    }
}

static void timers_main(struct sim_world *world, void *argument)
{
    struct timers *timers = argument;
    for (;;) {
        struct rt_pollable instant = {0}, *list[2] = {&timers->bell, &instant};
        uint32_t ready[2], count = 1;
        run_due(timers, rt_host_now(timers->host));
        if (timers->fired == TIMERS)
            break;
        uint64_t next = earliest(timers);
        if (timers->fixed)
            timers->armed = next;
        timers->idle_since = rt_host_now(timers->host);
        timers->armed = next;
        if (next != RT_NEVER) {
            SIM_ALWAYS(rt_subscribe_instant(timers->host, next, &instant) == RT_OK);
            count = 2;
        }
        SIM_ALWAYS(rt_host_poll(timers->host, list, count, ready, &count) == RT_OK);
        timers->armed = 0;
        rt_pollable_drop(&instant);
    }
    while (!timers->users_over)
        sim_sleep(world, 100 * RT_US);
    rt_pollable_drop(&timers->bell);
}

static void user_main(struct sim_world *world, void *argument)
{
    struct timers *timers = argument;
    for (uint32_t i = 0; i < TIMERS; i++) {
        sim_sleep(world, sim_range(world, 3 * RT_MS, 4 * RT_MS) - sim_range(world, 0, 3 * RT_MS));
        timers_add(timers, i, sim_now(world) + sim_range(world, RT_MS, 2 * RT_MS));
    }
    timers->users_over = true;
}

static void setup(struct sim_world *world, bool fixed)
{
    struct timers *timers = sim_new(world, struct timers);
    timers->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    timers->fixed = fixed;
    SIM_ALWAYS(rt_host_subscribe(timers->host, RT_SUBSCRIBE_NOTIFY, 0, &timers->bell) == RT_OK);
    (void)sim_loop_new(world, "timers", timers_main, timers);
    (void)sim_loop_new(world, "user", user_main, timers);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/armed/broken", .about = "A timer thread that says too late how long it sleeps.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/armed/fixed", .about = "A timer thread that says it before its next call.",
        .setup = setup_fixed);

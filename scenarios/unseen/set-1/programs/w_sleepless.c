/*
 * w_sleepless.c -- A loop with a timer list. Other threads add timers with a lock-free push; the
 * loop computes how long it may sleep from the list.
 *
 * Cause: add_timer() does not interrupt a loop that has already computed its time-out and
 * sleeps, so a timer that is earlier than all others (or the first one) is not seen.
 * Where: add_timer
 * Kind: deadline computed before a change
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define TIMERS 3

static bool fixed;

struct timers {
    struct sim_world *world;
    struct sim_fds *os;
    int wake;
    uint64_t due[TIMERS]; /* 0: none. */
    uint32_t fired;
};

static uint64_t
earliest(const struct timers *timers)
{
    uint64_t first = SIM_NEVER;
    for (int i = 0; i < TIMERS; i++) {
        if (timers->due[i] != 0 && timers->due[i] < first) {
            first = timers->due[i];
        }
    }
    return first;
}

static void
add_timer(struct timers *timers, int place, uint64_t delay)
{
    uint64_t before = earliest(timers);
    timers->due[place] = sim_now(timers->world) + delay; /* Where. */
    if (fixed && timers->due[place] < before) {
        SIM_ALWAYS(sim_fd_notify(timers->os, timers->wake) == RT_OK);
    }
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct timers *timers = argument;
    struct sim_fd_event event;
    uint64_t count;
    while (timers->fired < TIMERS) {
        uint64_t now = sim_now(world);
        for (int i = 0; i < TIMERS; i++) {
            if (timers->due[i] != 0 && timers->due[i] <= now) {
                timers->due[i] = 0;
                timers->fired++;
                SIM_PROGRESS();
            }
        }
        if (timers->fired == TIMERS) {
            break;
        }
        uint64_t first = earliest(timers);
        uint64_t sleep = first == SIM_NEVER ? SIM_NEVER : first > now ? first - now : 0;
        if (sim_fd_wait(timers->os, &event, 1, sleep) == 1) {
            sim_fd_read(timers->os, timers->wake, &count, sizeof(count));
        }
    }
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct timers *timers = argument;
    for (int i = 0; i < TIMERS; i++) {
        sim_sleep(world, sim_range(world, 0, 2 * RT_MS));
        add_timer(timers, i, (uint64_t)(TIMERS - i) * RT_MS);
    }
}

static void
setup(struct sim_world *world)
{
    struct timers *timers = sim_new(world, struct timers);
    timers->world = world;
    timers->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(timers->os, "wake", &timers->wake) == RT_OK);
    SIM_ALWAYS(sim_fd_add(timers->os, timers->wake, SIM_FD_IN, 0) == RT_OK);
    sim_loop_new(world, "loop", loop_main, timers);
    sim_loop_new(world, "client", client_main, timers);
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/w-sleepless/broken",
        .about = "Timers that other threads add to a sleeping loop.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/w-sleepless/fixed",
        .about = "Timers that other threads add to a sleeping loop.", .setup = setup_fixed);

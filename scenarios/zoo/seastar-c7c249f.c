/*
 * seastar-c7c249f.c -- only a reactor that goes to sleep requests its timer's next completion.
 *
 * scylladb/seastar commit c7c249f; scylladb/seastar#1890 (PR #3553) is the same.
 *
 * The bug. The reactor's timer is a kernel descriptor whose completion is fetched like all others
 * and must be requested again after each. That was done only before sleeping. A reactor that always
 * has work never sleeps: the first completion arrives, the next one was not requested, and
 * sleep(1s) never ends.
 *
 * The fix. The next completion is requested when one is taken: on_timer_completion below.
 *
 * Here. A fiber sleeps three times for a millisecond, beside computations that run until it has
 * ended. How busy the reactor is, is its user's choice: a batch of computations leaves some time
 * for sleep, or none.
 *
 * Cause: never-stored in on_timer_completion or not-a-wake in reactor_main
 * Must end in: livelock. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define SLEEPS 3u
#define NAP_NS RT_MS
#define BATCH_NS (20 * RT_US)

/* ---- The kernel: a timer, and completions of requests that were made for it. ----------------- */

struct kernel {
    struct sim_world *world;
    uint64_t expires_ns;
    bool asked;
};

static bool
kernel_fetch(struct kernel *kernel)
{
    bool complete = kernel->asked && kernel->expires_ns <= sim_now(kernel->world);
    if (complete) {
        kernel->asked = false;
    }
    return complete;
}

static void
kernel_sleep(struct kernel *kernel)
{
    uint64_t now_ns = sim_now(kernel->world);
    if (kernel->expires_ns > now_ns) {
        sim_sleep(kernel->world, kernel->expires_ns - now_ns);
    }
}

/* ---- The reactor. ---------------------------------------------------------------------------- */

struct reactor {
    struct kernel kernel;
    uint32_t slept;
    bool busy; /* There is always another batch. */
    bool broken;
};

static void
on_timer_completion(struct reactor *reactor)
{
    uint64_t now_ns = sim_now(reactor->kernel.world);
    reactor->slept++;
    reactor->kernel.expires_ns = now_ns + NAP_NS;
    SIM_PROGRESS();
    if (!reactor->broken) {
        reactor->kernel.asked = true;
    }
}

static void
reap(struct reactor *reactor)
{
    if (kernel_fetch(&reactor->kernel)) {
        on_timer_completion(reactor);
    }
}

static void
wait_and_reap(struct reactor *reactor)
{
    reactor->kernel.asked = true;
    kernel_sleep(&reactor->kernel);
    reap(reactor);
}

static void
reactor_main(struct sim_world *world, void *argument)
{
    struct reactor *reactor = argument;
    reactor->kernel.expires_ns = sim_now(world) + NAP_NS;
    reactor->kernel.asked = true;
    while (reactor->slept < SLEEPS) {
        sim_work(world, BATCH_NS);
        sim_loop_pause(world);
        reap(reactor);
        if (!reactor->busy) {
            wait_and_reap(reactor);
        }
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct reactor *reactor = sim_new(world, struct reactor);
    *reactor = (struct reactor){.kernel = {.world = world}, .broken = broken};
    reactor->busy = sim_pick(world, 4) == 3;
    (void)sim_loop_new(world, "reactor", reactor_main, reactor);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_seastar_c7c249f_broken, .name = "zoo/seastar-c7c249f/broken", .bug = "E24",
        .reference = "scylladb/seastar c7c249f",
        .about = "Only a reactor that sleeps requests its timer's next completion.",
        .setup = setup_broken, .expect = SIM_VERDICT_LIVELOCK);
SIM_SCENARIO(zoo_seastar_c7c249f_fixed, .name = "zoo/seastar-c7c249f/fixed",
        .about = "A reactor requests its timer's next completion when it takes one.",
        .setup = setup_fixed);

/*
 * node-9561.c -- an interval that was cleared in its own callback is started again.
 *
 * nodejs/node#9561, fixed by nodejs/node#9606; nodejs/node#1191 (#1231) is the same with a timer
 * that is called twice.
 *
 * The bug. An interval that does not keep the process alive (unref) has a separate handle. When the
 * handle expires the callback is called and then, as it repeats, the handle is started again.
 * clearInterval in the callback closes and removes the handle: the start dereferences NULL.
 *
 * The fix. After the callback, the handle is started only if the interval is still active:
 * on_timeout below.
 *
 * Here. An interval checks whether a job is done, and then clears itself. The worker may clear it
 * earlier, if no other party waits.
 *
 * Cause: not-a-wake in handle_start or on_timeout
 * Must end in: crash. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define PERIOD_NS (2 * RT_MS)

/* ---- Intervals, as in node's timers.js. ------------------------------------------------------ */

struct handle {
    uint64_t timeout_ns;
};

struct interval {
    struct sim_world *world;
    struct handle *handle; /* NULL: cleared. */
    void (*callback)(struct interval *interval);
    uint64_t repeat_ns;
    bool broken;
};

static void
handle_start(struct interval *interval)
{
    uint64_t timeout_ns = sim_now(interval->world) + interval->repeat_ns;
    *(volatile uint64_t *)&interval->handle->timeout_ns = timeout_ns;
}

static void
clear_interval(struct interval *interval)
{
    interval->handle = NULL;
}

static void
on_timeout(struct interval *interval)
{
    interval->callback(interval);
    if (interval->broken || interval->handle != NULL) {
        handle_start(interval);
    }
}

/* ---- The job. -------------------------------------------------------------------------------- */

struct state {
    struct interval check;
    bool done;
    bool tidy; /* The worker clears the interval. */
};

static void
check(struct interval *interval)
{
    struct state *state = rt_container_of(interval, struct state, check);
    if (state->done) {
        clear_interval(interval);
    }
}

static void
node_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    struct interval *interval = &state->check;
    while (interval->handle != NULL) {
        uint64_t now_ns = sim_now(world);
        if (interval->handle->timeout_ns <= now_ns) {
            on_timeout(interval);
        } else {
            sim_sleep(world, interval->handle->timeout_ns - now_ns);
        }
    }
}

static void
job_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    sim_sleep(world, sim_range(world, 1 * RT_MS, 9 * RT_MS));
    state->done = true;
    if (state->tidy) {
        clear_interval(&state->check);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    state->check = (struct interval){.world = world,
            .handle = sim_new(world, struct handle),
            .callback = check,
            .repeat_ns = PERIOD_NS,
            .broken = broken};
    handle_start(&state->check);
    state->tidy = sim_pick(world, 2) == 0;
    (void)sim_loop_new(world, "node", node_main, state);
    (void)sim_loop_new(world, "job", job_main, state);
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

SIM_SCENARIO(zoo_node_9561_broken, .name = "zoo/node-9561/broken", .bug = "E18",
        .reference = "nodejs/node#9561",
        .about = "An interval is started again after its callback has cleared it.",
        .setup = setup_broken, .expect = SIM_VERDICT_CRASH);
SIM_SCENARIO(zoo_node_9561_fixed, .name = "zoo/node-9561/fixed",
        .about = "An interval is started again only while it is active.", .setup = setup_fixed);

/*
 * tokio-7494.c -- a reported pidfd is taken as proof that the process has ended.
 *
 * tokio-rs/tokio#7494 (commit 1979615).
 *
 * The bug. On Linux a child process is waited for with a pidfd, which becomes readable when the
 * process has ended. When the reactor reported "readable" the child was reaped with
 * `try_wait()?.expect("the process should have exited")`. Readiness is a hint: a report may be late
 * or spurious, and then the program panics. (Only title and number of the fix were available; the
 * steps are reconstructed.)
 *
 * The fix. If there is no process to reap, wait again: not_ended below.
 *
 * Here. A parent waits for its child, and reads the lines that the child prints. The host sometimes
 * reports descriptors that are not ready.
 *
 * Cause: not-a-wake in not_ended or on_pidfd
 * Must end in: crash. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "sim/rewake.h"

#define LINES 8u

enum { PIDFD, PIPE, SOURCES };

struct parent {
    bool broken;
    struct rt_host *host;
    struct sim_source *sources[SOURCES];
    struct rt_pollable readable[SOURCES];
    uint32_t lines;
    bool ended;
};

/* The descriptor is reported, but the process runs. */
static void
not_ended(const struct parent *parent)
{
    if (parent->broken) {
        abort(); /* "pidfd is ready to read, the process should have exited" */
    }
}

static void
on_pidfd(struct parent *parent)
{
    parent->ended = sim_source_take(parent->sources[PIDFD]) == RT_OK; /* waitpid, WNOHANG */
    if (!parent->ended) {
        not_ended(parent);
    }
}

static void
on_pipe(struct parent *parent)
{
    while (sim_source_take(parent->sources[PIPE]) == RT_OK) {
        parent->lines++;
    }
}

/* One turn of the reactor over what is still waited for. */
static void
turn(struct parent *parent)
{
    struct rt_pollable *list[SOURCES];
    uint32_t whose[SOURCES];
    uint32_t ready[SOURCES];
    uint32_t count = 0;
    bool wanted[SOURCES] = {!parent->ended, parent->lines < LINES};
    for (uint32_t i = 0; i < SOURCES; i++) {
        if (wanted[i]) {
            whose[count] = i;
            list[count++] = &parent->readable[i];
        }
    }
    SIM_ALWAYS(rt_host_poll(parent->host, list, count, ready, &count) == RT_OK);
    for (uint32_t i = 0; i < count; i++) {
        (whose[ready[i]] == PIDFD ? on_pidfd : on_pipe)(parent);
    }
}

static void
parent_main(struct sim_world *world, void *argument)
{
    struct parent *parent = argument;
    (void)world;
    while (!parent->ended || parent->lines < LINES) {
        turn(parent);
    }
    for (uint32_t i = 0; i < SOURCES; i++) {
        rt_pollable_drop(&parent->readable[i]);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    static const char *const names[SOURCES] = {"pidfd", "pipe"};
    struct sim_host *host = sim_host_new(world, "kernel", SIM_PROFILE_DEFAULT);
    struct parent *parent = sim_new(world, struct parent);
    parent->broken = broken;
    parent->host = sim_host_seam(host);
    for (uint32_t i = 0; i < SOURCES; i++) {
        parent->sources[i] = sim_source_new(host, names[i]);
        SIM_ALWAYS(sim_source_subscribe(parent->sources[i], &parent->readable[i]) == RT_OK);
    }
    for (uint32_t i = 0; i < LINES; i++) {
        sim_source_event_in(parent->sources[PIPE], RT_MS, 10 * RT_MS);
    }
    sim_source_event_in(parent->sources[PIDFD], 10 * RT_MS, 20 * RT_MS);
    (void)sim_loop_new(world, "parent", parent_main, parent);
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

SIM_SCENARIO(zoo_tokio_7494_broken, .name = "zoo/tokio-7494/broken", .bug = "C11",
        .reference = "tokio-rs/tokio#7494",
        .about = "A reported pidfd is taken as proof that the process has ended.",
        .setup = setup_broken, .profile = SIM_PROFILE_HOSTILE, .expect = SIM_VERDICT_CRASH);
SIM_SCENARIO(zoo_tokio_7494_fixed, .name = "zoo/tokio-7494/fixed",
        .about = "A reported pidfd makes the parent check the process.", .setup = setup_fixed,
        .profile = SIM_PROFILE_HOSTILE);

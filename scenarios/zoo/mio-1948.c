/*
 * mio-1948.c -- a timeout too long for its type becomes a negative number.
 *
 * tokio-rs/mio#1948 (897a2c8); redis 24187ed (#12474) is the same with another outcome, and mio
 * c45510f an earlier fix.
 *
 * The bug. The kernel takes a timeout as an int, where a negative number means "forever". The
 * poller casts a wider number. A timeout beyond the range of the int becomes negative, or some
 * short time, depending on where it wraps. mio counts milliseconds, and an int of those ends after
 * 24.8 days; redis counted microseconds, which end after 35.8 minutes. Here it is redis' unit, so
 * that the run is shorter.
 *
 * The fix. A timeout that is too long is cut to the longest one; the loop then wakes up early,
 * finds no timer due, and waits for the rest: timeout_of below.
 *
 * Here. A cache holds an entry as long as its user chooses: 2 s, 10, 20 or 40 minutes. Its loop
 * sleeps until then, and ends when the entry has expired.
 *
 * Cause: never-stored in timeout_of or kernel_wait
 * Must end in: deadlock (the loop waits forever, for a message that no actor sends). Fails on the
 * baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <limits.h>

#include "sim/rewake.h"

#define BATCH_MAX 4
#define MINUTE (60 * RT_SECOND)

/* ---- The poller. ----------------------------------------------------------------------------- */

struct poller {
    struct sim_fds *fds;
    bool broken;
};

static int
timeout_of(const struct poller *poller, uint64_t timeout_ns)
{
    uint64_t us = timeout_ns / RT_US + (timeout_ns % RT_US != 0);
    if (!poller->broken && us > INT_MAX) {
        return INT_MAX;
    }
    return (int)(uint32_t)us;
}

/* The kernel's poll: negative is forever. */
static uint32_t
kernel_wait(struct poller *poller, struct sim_fd_event *ret_events, uint32_t max, int us)
{
    return sim_fd_wait(poller->fds, ret_events, max, us < 0 ? SIM_NEVER : (uint64_t)us * RT_US);
}

/* ---- The cache. ------------------------------------------------------------------------------ */

struct state {
    struct poller poller;
    int client;
    uint64_t lives_ns;
    bool evicted;
};

static void
cache_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    uint64_t expires_ns = sim_now(world) + state->lives_ns;
    while (!state->evicted) {
        struct sim_fd_event batch[BATCH_MAX];
        uint64_t now_ns = sim_now(world);
        if (now_ns >= expires_ns) {
            state->evicted = true;
            break;
        }
        int timeout = timeout_of(&state->poller, expires_ns - now_ns);
        uint32_t count = kernel_wait(&state->poller, batch, BATCH_MAX, timeout);
        SIM_ALWAYS(count == 0); /* The client sends nothing. */
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    static const uint64_t lives_ns[] = {2 * RT_SECOND, 10 * MINUTE, 20 * MINUTE, 40 * MINUTE};
    struct state *state = sim_new(world, struct state);
    struct sim_fds *fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    int ends[2] = {-1, -1};
    state->poller = (struct poller){.fds = fds, .broken = broken};
    state->lives_ns = lives_ns[sim_pick(world, 4)];
    SIM_ALWAYS(sim_fd_pair(fds, "client", 0, RT_MS, ends) == RT_OK);
    state->client = ends[0];
    SIM_ALWAYS(sim_fd_add(fds, state->client, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "cache", cache_main, state);
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

SIM_SCENARIO(zoo_mio_1948_broken, .name = "zoo/mio-1948/broken", .bug = "D19",
        .reference = "tokio-rs/mio#1948",
        .about = "A timeout of forty minutes is negative, and so forever.", .setup = setup_broken,
        .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(zoo_mio_1948_fixed, .name = "zoo/mio-1948/fixed",
        .about = "A timeout that is too long is cut, and the rest waited for afterwards.",
        .setup = setup_fixed, .profile = SIM_PROFILE_FD);

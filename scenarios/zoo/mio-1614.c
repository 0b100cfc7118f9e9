/*
 * mio-1614.c -- a timeout below a millisecond is truncated to 0.
 *
 * tokio-rs/mio#1614, fixed by #1615; redis 175a9e3 (#8764) and oven-sh/bun#34780 are the same.
 *
 * The bug. The runtime's deadlines are in nanoseconds, the kernel's timeout in milliseconds. The
 * poller divides and truncates. With less than a millisecond left it asks the kernel not to wait,
 * gets no event, finds that no timer is due, and asks again: the last part of every wait is a busy
 * loop.
 *
 * The fix. A remainder is rounded up: timeout_ms below.
 *
 * Here. A sampler reads a gauge twenty times, at a rate that the user chooses, and ends. A peer
 * could stop it earlier, and never does. At 100 a second all is well. At 60 a second the period is
 * 16.667 ms.
 *
 * Cause: not-a-wake in timeout_ms or kernel_wait or sampler_main
 * Must end in: livelock. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BATCH_MAX 4
#define SAMPLES 20

/* ---- The poller. ----------------------------------------------------------------------------- */

struct poller {
    struct sim_fds *fds;
    bool broken;
};

static uint64_t
timeout_ms(const struct poller *poller, uint64_t timeout_ns)
{
    if (poller->broken) {
        return timeout_ns / RT_MS;
    }
    return timeout_ns / RT_MS + (timeout_ns % RT_MS != 0);
}

/* epoll_wait: its timeout is in milliseconds. */
static uint32_t
kernel_wait(struct poller *poller, struct sim_fd_event *ret_events, uint32_t max, uint64_t ms)
{
    return sim_fd_wait(poller->fds, ret_events, max, ms * RT_MS);
}

static uint32_t
poller_wait(struct poller *poller, struct sim_fd_event *ret_events, uint64_t timeout_ns)
{
    return kernel_wait(poller, ret_events, BATCH_MAX, timeout_ms(poller, timeout_ns));
}

/* ---- The sampler. ---------------------------------------------------------------------------- */

struct state {
    struct poller poller;
    int control;
    uint64_t period_ns;
    uint64_t next_ns;
    uint32_t samples;
};

static void
sampler_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    state->next_ns = sim_now(world) + state->period_ns;
    while (state->samples < SAMPLES) {
        uint64_t now_ns = sim_now(world);
        if (now_ns >= state->next_ns) {
            state->samples++;
            state->next_ns += state->period_ns;
            continue;
        }
        struct sim_fd_event batch[BATCH_MAX];
        if (poller_wait(&state->poller, batch, state->next_ns - now_ns) > 0) {
            return; /* Stopped by the peer. */
        }
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    static const uint64_t rates[] = {100, 50, 60, 144};
    struct state *state = sim_new(world, struct state);
    struct sim_fds *fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    int ends[2] = {-1, -1};
    state->poller = (struct poller){.fds = fds, .broken = broken};
    state->period_ns = RT_SECOND / rates[sim_pick(world, 4)];
    SIM_ALWAYS(sim_fd_pair(fds, "control", 0, RT_MS, ends) == RT_OK);
    state->control = ends[0];
    SIM_ALWAYS(sim_fd_add(fds, state->control, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "sampler", sampler_main, state);
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

SIM_SCENARIO(zoo_mio_1614_broken, .name = "zoo/mio-1614/broken", .bug = "D18",
        .reference = "tokio-rs/mio#1614", .about = "The last part of a millisecond is a busy loop.",
        .setup = setup_broken, .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_LIVELOCK);
SIM_SCENARIO(zoo_mio_1614_fixed, .name = "zoo/mio-1614/fixed",
        .about = "A part of a millisecond is rounded up.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);

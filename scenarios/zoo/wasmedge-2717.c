/*
 * wasmedge-2717.c -- a timer with a timeout of 0 is switched off.
 *
 * WasmEdge/WasmEdge#2717; smol-rs/polling 8f1c4e5 ("epoll would block when the timeout is set to
 * zero") is the same.
 *
 * The bug. poll_oneoff of WASI is built on epoll and timerfds: a clock subscription sets a timerfd
 * to its timeout, and the epoll set is waited for without a timeout. timerfd_settime with a value
 * of 0 switches the timer off. So a guest that passes a timeout of 0, to poll without blocking,
 * waits until a descriptor is ready; if none ever is, forever.
 *
 * The fix. 0 is set as one nanosecond: clock_subscribe below.
 *
 * Here. A guest waits for a message, and every 2 ms does some other work. The timeout is the time
 * until its next turn, and 0 when that has passed. The message is sent when the work is done, so
 * until then only the clock can end the wait.
 *
 * Cause: never-stored in clock_subscribe or timerfd_settime or epoll_wait_forever
 * Must end in: lost-wakeup. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BATCH_MAX 4
#define PERIOD_NS (2 * RT_MS)
#define ROUNDS 4

/* ---- poll_oneoff over epoll and a timerfd. --------------------------------------------------- */

struct timerfd {
    bool armed;
    uint64_t due_ns;
};

struct wasi {
    struct sim_world *world;
    struct sim_fds *fds;
    struct timerfd timer;
    bool broken;
};

/* A value of 0 switches it off. */
static void
timerfd_settime(struct wasi *wasi, uint64_t value_ns)
{
    wasi->timer.armed = value_ns != 0;
    wasi->timer.due_ns = sim_now(wasi->world) + value_ns;
}

static void
clock_subscribe(struct wasi *wasi, uint64_t timeout_ns)
{
    if (!wasi->broken && timeout_ns == 0) {
        timeout_ns = 1;
    }
    timerfd_settime(wasi, timeout_ns);
}

/* Blocks until a descriptor is ready, or the timer. */
static uint32_t
epoll_wait_forever(struct wasi *wasi, struct sim_fd_event *ret_events, uint32_t max)
{
    uint64_t now_ns = sim_now(wasi->world);
    uint64_t left_ns = SIM_NEVER;
    if (wasi->timer.armed) {
        left_ns = wasi->timer.due_ns > now_ns ? wasi->timer.due_ns - now_ns : 0;
    }
    return sim_fd_wait(wasi->fds, ret_events, max, left_ns);
}

/* True when the message can be read; false when the clock ended the wait. */
static bool
poll_oneoff(struct wasi *wasi, uint64_t timeout_ns)
{
    struct sim_fd_event batch[BATCH_MAX];
    clock_subscribe(wasi, timeout_ns);
    return epoll_wait_forever(wasi, batch, BATCH_MAX) > 0;
}

/* ---- The guest, and the sender of its message. ----------------------------------------------- */

struct state {
    struct wasi wasi;
    int socket;
    int peer;
    uint32_t rounds;
};

static void
work(struct state *state)
{
    struct sim_world *world = state->wasi.world;
    sim_sleep(world, sim_range(world, 100 * RT_US, 3 * RT_MS));
    if (++state->rounds == ROUNDS) {
        SIM_ALWAYS(sim_fd_write(state->wasi.fds, state->peer, "!", 1) == 1);
    }
}

static void
guest_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    uint64_t next_ns = sim_now(world) + PERIOD_NS;
    for (;;) {
        uint64_t now_ns = sim_now(world);
        uint64_t timeout_ns = now_ns < next_ns ? next_ns - now_ns : 0;
        char message = 0;
        if (poll_oneoff(&state->wasi, timeout_ns) &&
                sim_fd_read(state->wasi.fds, state->socket, &message, 1) == 1) {
            return;
        }
        if (state->rounds < ROUNDS && sim_now(world) >= next_ns) {
            work(state);
            next_ns += PERIOD_NS;
        } else if (state->rounds == ROUNDS) {
            next_ns = sim_now(world) + PERIOD_NS;
        }
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    struct sim_fds *fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    int ends[2] = {-1, -1};
    state->wasi = (struct wasi){.world = world, .fds = fds, .broken = broken};
    SIM_ALWAYS(sim_fd_pair(fds, "socket", 0, RT_MS, ends) == RT_OK);
    state->socket = ends[0];
    state->peer = ends[1];
    SIM_ALWAYS(sim_fd_add(fds, state->socket, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "guest", guest_main, state);
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

SIM_SCENARIO(zoo_wasmedge_2717_broken, .name = "zoo/wasmedge-2717/broken", .bug = "D24",
        .reference = "WasmEdge/WasmEdge#2717", .about = "A timeout of 0 switches the timer off.",
        .setup = setup_broken, .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(zoo_wasmedge_2717_fixed, .name = "zoo/wasmedge-2717/fixed",
        .about = "A timeout of 0 is the shortest that the timer has.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);

/*
 * libuv-678.c -- a timer's start time is the time at which the loop went to sleep.
 *
 * libuv commit 2f55353 (joyent/libuv#678); libevent 4f99302 is the same.
 *
 * The bug. The loop reads the clock once a turn and counts timeouts from that reading. When poll
 * returns after a wait, the callbacks run with a reading as old as the wait was long. A callback
 * that starts a timer of 50 ms after a wait of 100 ms starts one that was due 50 ms ago.
 *
 * The fix. The clock is read again after the poll: poll_for_events below.
 *
 * Here. A server answers each request 50 ms after its arrival, so that guessing a password takes
 * time. The program asserts that delay, as the test does. The arrival is the begin of its
 * callback: the loop's reading of the clock is not older than that, and time may pass before the
 * callback reads it.
 *
 * Cause: not-a-wake in answer or poll_for_events
 * Must end in: invariant, by that assertion. Fails on the baseline run: no, there is one request,
 * which is there when the loop polls first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BATCH_MAX 4
#define DELAY_MS 50u

/* ---- A loop with one timer, as libuv's; it counts milliseconds. ------------------------------ */

struct loop {
    struct sim_world *world;
    struct sim_fds *fds;
    uint64_t time_ms;
    uint64_t timeout_ms; /* SIM_NEVER: not started. */
    bool broken;
};

struct state {
    struct loop loop;
    int socket;
    int peer;
    uint32_t requests;
    uint32_t answered;
    uint64_t came_ms;
};

static uint64_t
clock_ms(const struct loop *loop)
{
    return sim_now(loop->world) / RT_MS;
}

static void
timer_start(struct loop *loop, uint64_t timeout_ms)
{
    loop->timeout_ms = loop->time_ms + timeout_ms;
}

static void
answer(struct state *state)
{
    SIM_ALWAYS(clock_ms(&state->loop) - state->came_ms >= DELAY_MS);
    SIM_ALWAYS(sim_fd_write(state->loop.fds, state->socket, "n", 1) == 1);
    state->answered++;
}

static void
on_request(struct state *state)
{
    char request;
    uint64_t now_ms = clock_ms(&state->loop);
    if (sim_fd_read(state->loop.fds, state->socket, &request, 1) == 1) {
        state->came_ms = now_ms;
        timer_start(&state->loop, DELAY_MS);
    }
}

static void
run_timers(struct state *state)
{
    struct loop *loop = &state->loop;
    if (loop->timeout_ms <= loop->time_ms) {
        loop->timeout_ms = SIM_NEVER;
        answer(state);
    }
}

static void
poll_for_events(struct state *state)
{
    struct loop *loop = &state->loop;
    struct sim_fd_event batch[BATCH_MAX];
    uint64_t timeout_ns = SIM_NEVER;
    if (loop->timeout_ms != SIM_NEVER) {
        uint64_t left_ms = loop->timeout_ms > loop->time_ms ? loop->timeout_ms - loop->time_ms : 0;
        timeout_ns = left_ms * RT_MS;
    }
    uint32_t count = sim_fd_wait(loop->fds, batch, BATCH_MAX, timeout_ns);
    if (!loop->broken) {
        loop->time_ms = clock_ms(loop);
    }
    for (uint32_t i = 0; i < count; i++) {
        on_request(state);
    }
}

/* ---- The server, and the client that guesses. ------------------------------------------------ */

static void
server_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    (void)world;
    while (state->answered < state->requests) {
        state->loop.time_ms = clock_ms(&state->loop);
        run_timers(state);
        if (state->answered < state->requests) {
            poll_for_events(state);
        }
    }
}

static void
guesser_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    for (uint32_t i = 0; i < state->requests; i++) {
        SIM_ALWAYS(sim_fd_write(state->loop.fds, state->peer, "p", 1) == 1);
        while (state->answered == i) {
            sim_sleep(world, RT_MS);
        }
        sim_sleep(world, sim_range(world, 5, 200) * RT_MS);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    int ends[2] = {-1, -1};
    state->loop = (struct loop){.world = world, .timeout_ms = SIM_NEVER, .broken = broken};
    state->loop.fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_pair(state->loop.fds, "socket", 0, 40 * RT_MS, ends) == RT_OK);
    state->socket = ends[0];
    state->peer = ends[1];
    SIM_ALWAYS(sim_fd_add(state->loop.fds, state->socket, SIM_FD_IN, 0) == RT_OK);
    state->requests = 1 + sim_pick(world, 3);
    (void)sim_loop_new(world, "guesser", guesser_main, state);
    (void)sim_loop_new(world, "server", server_main, state);
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

SIM_SCENARIO(zoo_libuv_678_broken, .name = "zoo/libuv-678/broken", .bug = "E11",
        .reference = "joyent/libuv#678",
        .about = "A timer counts from when the loop went to sleep.", .setup = setup_broken,
        .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_INVARIANT);
SIM_SCENARIO(zoo_libuv_678_fixed, .name = "zoo/libuv-678/fixed",
        .about = "A timer counts from when the loop woke up.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);

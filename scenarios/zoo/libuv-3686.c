/*
 * libuv-3686.c -- one turn of the loop runs the timers twice.
 *
 * libuv/libuv#3686 and libuv/libuv#3927, fixed by 6600954; 24d1d08 (#4048) belongs to it.
 *
 * The bug. A program with a loop of its own turns libuv's loop once in each round, with
 * UV_RUN_ONCE. Such a turn ran the timers at its beginning, waited for events, and ran the timers
 * again at its end, so that a turn in which only a timer expires makes progress. A timer that
 * expires at the beginning, and again with its next period at the end, is called twice in one turn.
 *
 * The fix. Such a turn runs timers at its end only: turn_once below.
 *
 * Here. A timer produces pictures, and the program draws them: the timer puts the next picture into
 * a single buffer, and the program draws the buffer after each turn. Drawing takes some time. The
 * film ends when each of its pictures has been drawn, and the program ends when the loop reports
 * that.
 *
 * Cause: not-a-wake in turn_once or coalesced in on_timer or never-fired in program_main
 * Must end in: deadlock, as a picture overwrote one that was not drawn; or, where the last one is
 * still in the buffer, lost-wakeup, as the program draws it when its wait ends. Fails on the
 * baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BATCH_MAX 4
#define PERIOD_NS (4 * RT_MS)
#define PICTURES 6u

/* ---- A loop with one repeating timer, as libuv's. -------------------------------------------- */

struct loop {
    struct sim_world *world;
    struct sim_fds *fds;
    uint64_t time_ns;
    uint64_t timeout_ns; /* SIM_NEVER: stopped. */
    bool broken;
};

struct state {
    struct loop loop;
    int remote;
    int remote_peer;
    bool has_picture; /* The single buffer is full. */
    bool stopped;
    uint32_t made;
    uint32_t seen;
};

static void
on_timer(struct state *state)
{
    state->has_picture = true;
    if (++state->made == PICTURES) {
        state->loop.timeout_ns = SIM_NEVER;
    }
}

static void
run_timers(struct state *state)
{
    struct loop *loop = &state->loop;
    loop->time_ns = sim_now(loop->world);
    if (loop->timeout_ns <= loop->time_ns) {
        loop->timeout_ns = loop->time_ns + PERIOD_NS;
        on_timer(state);
    }
}

static void
poll_for_events(struct state *state)
{
    struct loop *loop = &state->loop;
    struct sim_fd_event batch[BATCH_MAX];
    uint64_t now_ns = sim_now(loop->world);
    uint64_t timeout_ns = SIM_NEVER;
    if (loop->timeout_ns != SIM_NEVER) {
        timeout_ns = loop->timeout_ns > now_ns ? loop->timeout_ns - now_ns : 0;
    }
    if (sim_fd_wait(loop->fds, batch, BATCH_MAX, timeout_ns) > 0) {
        char word;
        state->stopped = sim_fd_read(loop->fds, state->remote, &word, 1) == 1;
    }
}

static void
turn_once(struct state *state)
{
    if (state->loop.broken) {
        run_timers(state);
    }
    poll_for_events(state);
    run_timers(state);
}

/* ---- The program, and its viewer. ------------------------------------------------------------ */

static void
program_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    state->loop.timeout_ns = sim_now(world) + PERIOD_NS;
    while (!state->stopped) {
        turn_once(state);
        if (state->has_picture) {
            state->has_picture = false;
            state->seen++;
            sim_sleep(world, sim_range(world, 1 * RT_MS, 6 * RT_MS));
        }
        if (state->seen == PICTURES) {
            SIM_ALWAYS(sim_fd_write(state->loop.fds, state->remote_peer, "q", 1) == 1);
            state->seen++;
        }
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    int ends[2] = {-1, -1};
    state->loop = (struct loop){.world = world, .broken = broken};
    state->loop.fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_pair(state->loop.fds, "remote control", 0, RT_MS, ends) == RT_OK);
    state->remote = ends[0];
    state->remote_peer = ends[1];
    SIM_ALWAYS(sim_fd_add(state->loop.fds, ends[0], SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "program", program_main, state);
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

SIM_SCENARIO(zoo_libuv_3686_broken, .name = "zoo/libuv-3686/broken", .bug = "E13",
        .reference = "libuv/libuv#3686", .about = "A turn of the loop runs the timers twice.",
        .setup = setup_broken, .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_DEADLOCK,
        .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(zoo_libuv_3686_fixed, .name = "zoo/libuv-3686/fixed",
        .about = "A turn of the loop runs the timers once.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);

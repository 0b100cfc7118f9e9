/*
 * libuv-678.c -- a timer is started by the time at which the loop went to sleep.
 *
 * libuv commit 2f55353 (joyent/libuv#678); libevent 4f99302 is the same.
 *
 * The bug. The loop reads the clock once a turn and counts timeouts from that reading. After it was
 * blocked in poll the callbacks run, and the reading is as old as the sleep was long. A callback
 * that starts a timer of 50 ms after a sleep of 100 gets one that was due 50 ms ago.
 *
 * The fix. The clock is read again after the poll: poll_for_events below.
 *
 * Here. A server answers each request 50 ms after it has come, so that guessing a password takes
 * time. Who writes such a server asserts that it does: it is what the test does as well.
 * "Has come" is when its callback begins: the reading of the clock is not older than that, and time
 * may pass before the callback reads.
 *
 * Cause: not-a-wake in answer or poll_for_events
 * Must end in: invariant, by that assertion. Fails on the baseline run: no, there is one
 * request, which is at hand when the loop looks for it first.
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

struct story {
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
answer(struct story *story)
{
    SIM_ALWAYS(clock_ms(&story->loop) - story->came_ms >= DELAY_MS);
    SIM_ALWAYS(sim_fd_write(story->loop.fds, story->socket, "n", 1) == 1);
    story->answered++;
}

static void
on_request(struct story *story)
{
    char request;
    uint64_t now_ms = clock_ms(&story->loop);
    if (sim_fd_read(story->loop.fds, story->socket, &request, 1) == 1) {
        story->came_ms = now_ms;
        timer_start(&story->loop, DELAY_MS);
    }
}

static void
run_timers(struct story *story)
{
    struct loop *loop = &story->loop;
    if (loop->timeout_ms <= loop->time_ms) {
        loop->timeout_ms = SIM_NEVER;
        answer(story);
    }
}

static void
poll_for_events(struct story *story)
{
    struct loop *loop = &story->loop;
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
        on_request(story);
    }
}

/* ---- The server, and who guesses. ------------------------------------------------------------ */

static void
server_main(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    (void)world;
    while (story->answered < story->requests) {
        story->loop.time_ms = clock_ms(&story->loop);
        run_timers(story);
        if (story->answered < story->requests) {
            poll_for_events(story);
        }
    }
}

static void
guesser_main(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    for (uint32_t i = 0; i < story->requests; i++) {
        SIM_ALWAYS(sim_fd_write(story->loop.fds, story->peer, "p", 1) == 1);
        while (story->answered == i) {
            sim_sleep(world, RT_MS);
        }
        sim_sleep(world, sim_range(world, 5, 200) * RT_MS);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct story *story = sim_new(world, struct story);
    int ends[2] = {-1, -1};
    story->loop = (struct loop){.world = world, .timeout_ms = SIM_NEVER, .broken = broken};
    story->loop.fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_pair(story->loop.fds, "socket", 0, 40 * RT_MS, ends) == RT_OK);
    story->socket = ends[0];
    story->peer = ends[1];
    SIM_ALWAYS(sim_fd_add(story->loop.fds, story->socket, SIM_FD_IN, 0) == RT_OK);
    story->requests = 1 + sim_pick(world, 3);
    (void)sim_loop_new(world, "guesser", guesser_main, story);
    (void)sim_loop_new(world, "server", server_main, story);
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

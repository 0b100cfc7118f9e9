/*
 * libuv-1787.c -- a stream is read until it is empty.
 *
 * libuv commit 27e7a8b (libuv/libuv#1787); 738b31e is the same for writes.
 *
 * The bug. When a stream is readable its callback reads until there is no more. A peer that writes
 * faster than the callback reads keeps it running, and the loop serves no timer and no other
 * stream.
 *
 * The fix. At most 32 reads, and the rest in the next turn: stream_read below.
 *
 * Here. A loop reads what a producer has announced, 20 pieces or some thousands, and has to send a
 * heartbeat after 50 us. The producer makes three pieces while one is read.
 *
 * Cause: not-a-wake in stream_read or on_piece or never-fired in turn
 * Must end in: starvation, of the heartbeat's deadline. Fails on the baseline run: no, there are
 * few pieces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define READS_MAX 32u
#define HEARTBEAT_NS (50 * RT_US)
#define PER_STEP 3u

struct state {
    struct sim_world *world;
    struct rt_host *host;
    struct sim_source *stream;
    struct rt_pollable readable;
    struct rt_pollable heartbeat;
    uint32_t announced;
    uint32_t received;
    uint64_t heard_ns; /* When the producer was last heard. */
    bool beaten;
    bool broken;
};

static void
on_piece(struct state *state)
{
    state->received++;
    state->heard_ns = rt_host_now(state->host);
    sim_loop_pause(state->world); /* Others may run meanwhile. */
}

static void
stream_read(struct state *state)
{
    uint32_t left = READS_MAX;
    while (left > 0 && sim_source_take(state->stream) == RT_OK) {
        on_piece(state);
        if (!state->broken) {
            left--;
        }
    }
}

static void
turn(struct state *state)
{
    struct rt_pollable *list[2] = {&state->readable, &state->heartbeat};
    uint32_t ready[2];
    uint32_t count = 0;
    uint32_t handles = state->beaten ? 1 : 2;
    SIM_ALWAYS(rt_host_poll(state->host, list, handles, ready, &count) == RT_OK);
    for (uint32_t i = 0; i < count; i++) {
        if (ready[i] == 0) {
            stream_read(state);
        } else {
            rt_pollable_drop(&state->heartbeat);
            state->beaten = true;
        }
    }
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    uint64_t first_ns = sim_now(world) + HEARTBEAT_NS;
    SIM_ALWAYS(rt_subscribe_instant(state->host, first_ns, &state->heartbeat) == RT_OK);
    SIM_ALWAYS(sim_source_subscribe(state->stream, &state->readable) == RT_OK);
    while (state->received < state->announced) {
        turn(state);
    }
    rt_pollable_drop(&state->readable);
    rt_pollable_drop(&state->heartbeat);
}

static void
producer_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    for (uint32_t i = 0; i < state->announced; i++) {
        sim_source_event(state->stream);
        if (i % PER_STEP == PER_STEP - 1) {
            sim_loop_pause(world);
        }
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    static const uint32_t announced[] = {20, 400, 4000, 8000};
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct state *state = sim_new(world, struct state);
    *state = (struct state){.world = world, .host = sim_host_seam(host), .broken = broken};
    state->stream = sim_source_new(host, "the stream");
    state->announced = announced[sim_pick(world, 4)];
    (void)sim_loop_new(world, "loop", loop_main, state);
    (void)sim_loop_new(world, "producer", producer_main, state);
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

SIM_SCENARIO(zoo_libuv_1787_broken, .name = "zoo/libuv-1787/broken", .bug = "F09",
        .reference = "libuv/libuv#1787", .about = "A stream is read until it is empty.",
        .setup = setup_broken, .expect = SIM_VERDICT_STARVATION);
SIM_SCENARIO(zoo_libuv_1787_fixed, .name = "zoo/libuv-1787/fixed",
        .about = "A stream is read at most 32 times a turn.", .setup = setup_fixed);

/*
 * libuv-1787.c -- a stream is read for as long as there is anything to read.
 *
 * libuv commit 27e7a8b (libuv/libuv#1787); 738b31e is the same for writes.
 *
 * The bug. When a stream is readable its callback reads until there is no more. A peer that writes
 * faster than that is read never lets it end, and the loop comes to nothing else: to no timer, and
 * to no other stream.
 *
 * The fix. At most 32 reads, and the rest in the next turn: stream_read below.
 *
 * Here. A loop takes in what a producer has announced, 20 pieces or some thousands, and has a
 * heartbeat to send after 50 us. The producer makes three pieces while one is read.
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

struct story {
    struct sim_world *world;
    struct rt_host *host;
    struct sim_source *stream;
    struct rt_pollable readable;
    struct rt_pollable heartbeat;
    uint32_t announced;
    uint32_t received;
    uint64_t heard_ns; /* Of the producer, the last time. */
    bool beaten;
    bool broken;
};

static void
on_piece(struct story *story)
{
    story->received++;
    story->heard_ns = rt_host_now(story->host);
    sim_loop_pause(story->world); /* Others may run meanwhile. */
}

static void
stream_read(struct story *story)
{
    uint32_t left = READS_MAX;
    while (left > 0 && sim_source_take(story->stream) == RT_OK) {
        on_piece(story);
        if (!story->broken) {
            left--;
        }
    }
}

static void
turn(struct story *story)
{
    struct rt_pollable *list[2] = {&story->readable, &story->heartbeat};
    uint32_t ready[2];
    uint32_t count = 0;
    uint32_t handles = story->beaten ? 1 : 2;
    SIM_ALWAYS(rt_host_poll(story->host, list, handles, ready, &count) == RT_OK);
    for (uint32_t i = 0; i < count; i++) {
        if (ready[i] == 0) {
            stream_read(story);
        } else {
            rt_pollable_drop(&story->heartbeat);
            story->beaten = true;
        }
    }
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    uint64_t first_ns = sim_now(world) + HEARTBEAT_NS;
    SIM_ALWAYS(rt_subscribe_instant(story->host, first_ns, &story->heartbeat) == RT_OK);
    SIM_ALWAYS(sim_source_subscribe(story->stream, &story->readable) == RT_OK);
    while (story->received < story->announced) {
        turn(story);
    }
    rt_pollable_drop(&story->readable);
    rt_pollable_drop(&story->heartbeat);
}

static void
producer_main(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    for (uint32_t i = 0; i < story->announced; i++) {
        sim_source_event(story->stream);
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
    struct story *story = sim_new(world, struct story);
    *story = (struct story){.world = world, .host = sim_host_seam(host), .broken = broken};
    story->stream = sim_source_new(host, "the stream");
    story->announced = announced[sim_pick(world, 4)];
    (void)sim_loop_new(world, "loop", loop_main, story);
    (void)sim_loop_new(world, "producer", producer_main, story);
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
        .reference = "libuv/libuv#1787", .about = "A stream is read until there is nothing left.",
        .setup = setup_broken, .expect = SIM_VERDICT_STARVATION);
SIM_SCENARIO(zoo_libuv_1787_fixed, .name = "zoo/libuv-1787/fixed",
        .about = "A stream is read 32 times, and then the others have their turn.",
        .setup = setup_fixed);

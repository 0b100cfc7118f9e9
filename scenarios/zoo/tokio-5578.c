/*
 * tokio-5578.c -- wakers are called under the channel's lock.
 *
 * tokio-rs/tokio#5578 (commit 8497f37), broadcast.
 *
 * The bug. A send wakes all waiters while it holds the channel's lock. A waker may run any code:
 * one that reads the channel takes the lock.
 *
 * The fix. The wakers are collected under the lock and called after it is released: channel_send
 * below.
 *
 * Here. A feed has one reader. It may be a thread that its waker only unblocks, or it may belong to
 * a callback library whose waker receives at once. If it does not wait at the time of a send,
 * because it is busy with the previous line, all is well.
 *
 * Cause: not-a-wake in channel_send or never-fired in channel_send or lock_release
 * Must end in: deadlock of the sender. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenarios/zoo/lock.h"
#include "sim/rewake.h"

#define LINES 4u

struct state;

struct channel {
    struct lock lock;
    uint32_t sent;
    void (*waker)(struct state *state); /* The waiter's; NULL: none. */
    bool broken;
};

struct state {
    struct sim_world *world;
    struct channel channel;
    struct sim_loop *reader;
    uint32_t read;
    bool impatient; /* The reader receives inside its waker. */
};

static void
channel_send(struct state *state)
{
    struct channel *channel = &state->channel;
    lock_take(&channel->lock);
    channel->sent++;
    void (*waker)(struct state * state) = channel->waker;
    channel->waker = NULL;
    if (channel->broken && waker != NULL) {
        waker(state);
    }
    lock_release(&channel->lock);
    if (!channel->broken && waker != NULL) {
        waker(state);
    }
}

/* Receives all lines that were sent; stores `waker` if there are none. */
static bool
channel_receive(struct state *state, void (*waker)(struct state *state))
{
    struct channel *channel = &state->channel;
    lock_take(&channel->lock);
    bool any = state->read < channel->sent;
    state->read = channel->sent;
    if (!any) {
        channel->waker = waker;
    }
    lock_release(&channel->lock);
    return any;
}

static void
unblock(struct state *state)
{
    sim_loop_wake(state->reader);
}

static void
receive_at_once(struct state *state)
{
    (void)channel_receive(state, receive_at_once);
    sim_loop_wake(state->reader);
}

static void
reader_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    while (state->read < LINES) {
        if (channel_receive(state, state->impatient ? receive_at_once : unblock)) {
            sim_sleep(world, sim_range(world, 0, 3 * RT_MS)); /* Busy with the line. */
        } else if (state->read < LINES) {
            sim_loop_block(world, 0, "a line", RT_HERE);
        }
    }
}

static void
sender_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    for (uint32_t i = 0; i < LINES; i++) {
        channel_send(state);
        sim_sleep(world, RT_MS);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    state->world = world;
    state->channel.lock = (struct lock){.world = world, .name = "the channel's lock"};
    state->channel.broken = broken;
    state->impatient = sim_pick(world, 2) != 0;
    state->reader = sim_loop_new(world, "reader", reader_main, state);
    (void)sim_loop_new(world, "sender", sender_main, state);
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

SIM_SCENARIO(zoo_tokio_5578_broken, .name = "zoo/tokio-5578/broken", .bug = "I03",
        .reference = "tokio-rs/tokio#5578",
        .about = "A send calls wakers while it holds the channel's lock.", .setup = setup_broken,
        .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(zoo_tokio_5578_fixed, .name = "zoo/tokio-5578/fixed",
        .about = "A send calls wakers after it has released the lock.", .setup = setup_fixed);

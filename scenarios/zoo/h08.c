/*
 * h08.c -- a loop with a handle that is closing takes itself for dead.
 *
 * libuv commit 70469dc (#2721).
 *
 * The bug. A loop goes on while it is alive: while a handle is active. Closing a handle makes it
 * inactive at once, but its close callback comes in a later turn. A loop that asks only for active
 * handles ends before that turn.
 *
 * The fix. A loop with handles that are closing is alive: loop_alive below.
 *
 * Here. A connection is closed, in its close callback the timer that guarded it, and in the timer's
 * an owner thread is told that it may go. While a ticker is active there is always a next turn;
 * when it has stopped before the connection ends, the timer's callback never comes.
 *
 * Must end in: deadlock of the owner. Fails on the dullest run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define TICK_NS (2 * RT_MS)

struct loop;

struct handle {
    void (*closed)(struct loop *loop);
    bool active;
    bool closing;
};

enum { CONNECTION, GUARD, TICKER, HANDLES };

struct loop {
    struct sim_world *world;
    bool broken;
    struct handle handles[HANDLES];
    uint64_t connection_ends_ns;
    uint64_t ticker_ends_ns;
    struct sim_loop *owner;
    bool may_go;
};

static void
loop_close(struct loop *loop, uint32_t handle)
{
    loop->handles[handle].active = false;
    loop->handles[handle].closing = true;
}

static bool
loop_alive(const struct loop *loop)
{
    for (uint32_t i = 0; i < HANDLES; i++) {
        const struct handle *handle = &loop->handles[i];
        if (handle->active || (!loop->broken && handle->closing)) {
            return true;
        }
    }
    return false;
}

/* The end of a turn: of the handles that were closing when it began. */
static void
run_closing(struct loop *loop)
{
    bool closing[HANDLES];
    for (uint32_t i = 0; i < HANDLES; i++) {
        closing[i] = loop->handles[i].closing;
    }
    for (uint32_t i = 0; i < HANDLES; i++) {
        if (closing[i]) {
            loop->handles[i].closing = false;
            loop->handles[i].closed(loop);
        }
    }
}

static bool
is_over(const struct loop *loop, uint32_t handle, uint64_t ends_ns)
{
    return loop->handles[handle].active && sim_now(loop->world) >= ends_ns;
}

static void
loop_turn(struct loop *loop)
{
    if (loop->handles[CONNECTION].active || loop->handles[TICKER].active) {
        sim_sleep(loop->world, TICK_NS);
    }
    if (is_over(loop, TICKER, loop->ticker_ends_ns)) {
        loop_close(loop, TICKER);
    }
    if (is_over(loop, CONNECTION, loop->connection_ends_ns)) {
        loop_close(loop, CONNECTION);
    }
    run_closing(loop);
}

static void
connection_closed(struct loop *loop)
{
    loop_close(loop, GUARD);
}

static void
guard_closed(struct loop *loop)
{
    loop->may_go = true;
    sim_loop_wake(loop->owner);
}

static void
ticker_closed(struct loop *loop)
{
    (void)loop;
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    (void)world;
    while (loop_alive(loop)) {
        loop_turn(loop);
    }
}

static void
owner_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    while (!loop->may_go) {
        sim_loop_block(world, 0, "the end of the connection", RT_HERE);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct loop *loop = sim_new(world, struct loop);
    loop->world = world;
    loop->broken = broken;
    loop->handles[CONNECTION] = (struct handle){.closed = connection_closed, .active = true};
    loop->handles[GUARD] = (struct handle){.closed = guard_closed, .active = true};
    loop->handles[TICKER] = (struct handle){.closed = ticker_closed, .active = true};
    loop->connection_ends_ns = sim_range(world, 1 * RT_MS, 20 * RT_MS);
    loop->ticker_ends_ns = 22 * RT_MS - sim_range(world, 0, 20 * RT_MS);
    loop->owner = sim_loop_new(world, "owner", owner_main, loop);
    (void)sim_loop_new(world, "loop", loop_main, loop);
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

SIM_SCENARIO(zoo_h08_broken, .name = "zoo/h08/broken", .bug = "H08",
        .reference = "libuv/libuv 70469dc",
        .about = "A loop whose last handles are closing ends before they are closed.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(zoo_h08_fixed, .name = "zoo/h08/fixed",
        .about = "A loop is alive while handles are closing.", .setup = setup_fixed);

/*
 * libuv-2721.c -- a loop ends while a signal handle is still closing.
 *
 * libuv/libuv#2721 (fixed by #2722, commit 70469dc).
 *
 * The bug. A loop is alive while a handle is active or is in the list of those to be closed. A
 * signal handle that is closed while one of its signals is still in the loop's pipe is in neither:
 * it is stopped at once, and put into the list only when that signal has been dispatched, in the
 * next turn. If it is the last handle there is no next turn, and its close callback is never
 * called.
 *
 * The fix. It is put into the list at once, and again as long as signals are pending: signal_close
 * and finish_close below.
 *
 * Here. A server has a connection and a handle for "reload". When the connection has ended it is
 * closed; its close callback closes the signal handle, whose close callback releases the owner's
 * thread. An operator sends the signal, possibly between the poll of the last turn and its end.
 *
 * Cause: never-fired in finish_close or signal_close or loop_main
 * Must end in: deadlock of the owner. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

enum { CONNECTION, RELOAD, HANDLES };

struct loop {
    struct sim_world *world;
    struct sim_loop *thread;
    bool broken;
    bool active[HANDLES];
    bool to_close[HANDLES]; /* The list. */
    bool closing;           /* The signal handle: uv_close was called. */
    uint32_t caught;        /* Signals, by the signal handler … */
    uint32_t dispatched;    /* … and by the loop, out of the pipe. */
    bool ended;             /* The connection. */
    bool blocked;
    struct sim_loop *owner;
    bool may_go;
};

/* ---- Signals. -------------------------------------------------------------------------------- */

static void
signal_close(struct loop *loop)
{
    loop->active[RELOAD] = false;
    loop->closing = true;
    if (!loop->broken || loop->caught == loop->dispatched) {
        loop->to_close[RELOAD] = true;
    }
}

/* Reads the pipe to its end. */
static void
signal_dispatch(struct loop *loop)
{
    bool caught_more = loop->dispatched < loop->caught;
    loop->dispatched = loop->caught;
    if (loop->broken && caught_more && loop->closing) {
        loop->to_close[RELOAD] = true;
    }
}

/* ---- The loop. ------------------------------------------------------------------------------- */

static void
finish_close(struct loop *loop, uint32_t handle)
{
    if (handle == CONNECTION) {
        signal_close(loop);
        return;
    }
    if (!loop->broken && loop->caught > loop->dispatched) {
        loop->to_close[RELOAD] = true; /* Back into the list: the loop must turn once more. */
        return;
    }
    loop->may_go = true;
    sim_loop_wake(loop->owner);
}

/* Closes the handles that were in the list at the start. */
static void
run_closing(struct loop *loop)
{
    bool now[HANDLES];
    for (uint32_t i = 0; i < HANDLES; i++) {
        now[i] = loop->to_close[i];
        loop->to_close[i] = false;
    }
    for (uint32_t i = 0; i < HANDLES; i++) {
        if (now[i]) {
            finish_close(loop, i);
        }
    }
}

static bool
loop_alive(const struct loop *loop)
{
    bool alive = false;
    for (uint32_t i = 0; i < HANDLES; i++) {
        alive = alive || loop->active[i] || loop->to_close[i];
    }
    return alive;
}

static bool
has_event(const struct loop *loop)
{
    return loop->caught > loop->dispatched || (loop->active[CONNECTION] && loop->ended);
}

static void
poll_events(struct loop *loop)
{
    bool may_block = !loop->to_close[CONNECTION] && !loop->to_close[RELOAD];
    while (may_block && !has_event(loop)) {
        loop->blocked = true;
        sim_loop_block(loop->world, 0, "an event", RT_HERE);
        loop->blocked = false;
    }
    signal_dispatch(loop);
    if (loop->active[CONNECTION] && loop->ended) {
        loop->active[CONNECTION] = false;
        loop->to_close[CONNECTION] = true;
    }
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    while (loop_alive(loop)) {
        poll_events(loop);
        sim_sleep(world, RT_MS); /* Callbacks. */
        run_closing(loop);
    }
}

/* ---- All other actors. ----------------------------------------------------------------------- */

static void
interrupt(struct loop *loop)
{
    if (loop->blocked) {
        sim_loop_wake(loop->thread);
    }
}

static void
peer_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    sim_sleep(world, sim_range(world, 5 * RT_MS, 10 * RT_MS));
    loop->ended = true;
    interrupt(loop);
}

static void
operator_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    sim_sleep(world, sim_range(world, 1 * RT_MS, 12 * RT_MS));
    if (loop->active[RELOAD]) { /* Else the signal has no handler any more. */
        loop->caught++;
        interrupt(loop);
    }
}

static void
owner_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    while (!loop->may_go) {
        sim_loop_block(world, 0, "the end of the server", RT_HERE);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct loop *loop = sim_new(world, struct loop);
    loop->world = world;
    loop->broken = broken;
    loop->active[CONNECTION] = true;
    loop->active[RELOAD] = true;
    loop->owner = sim_loop_new(world, "owner", owner_main, loop);
    loop->thread = sim_loop_new(world, "loop", loop_main, loop);
    (void)sim_loop_new_background(world, "peer", peer_main, loop);
    (void)sim_loop_new_background(world, "operator", operator_main, loop);
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

SIM_SCENARIO(zoo_libuv_2721_broken, .name = "zoo/libuv-2721/broken", .bug = "H08",
        .reference = "libuv/libuv 70469dc",
        .about = "A signal handle that is closing but in no list does not keep its loop alive.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(zoo_libuv_2721_fixed, .name = "zoo/libuv-2721/fixed",
        .about = "A signal handle that is closing keeps its loop alive.", .setup = setup_fixed);

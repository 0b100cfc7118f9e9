/*
 * async-std-272.c -- accept returns PENDING and has stored no waker.
 *
 * async-rs/async-std#272 (issue #248), UnixListener::accept.
 *
 * The bug. A watcher tries an operation, and registers the task's waker when that fails with
 * "would block". The accept of the library below reports this differently: it succeeds, with no
 * connection. The watcher treats that as success and registers nothing; the listener treats "no
 * connection" as PENDING. So the task sleeps and its waker is stored nowhere.
 *
 * The fix. "No connection" becomes "would block" before the watcher sees it: `accept_one` below.
 *
 * Here. A client connects, a server accepts one connection. If the client connects first, accept
 * succeeds at once; only a server that polls first sleeps. The author of the public fix saw the
 * same: a first test, with both joined in one task, passed without it.
 *
 * Cause: never-stored in watcher_poll or listener_accept or server_poll
 * Must end in: contract, RT_E_NO_WAKER of the server (T12), at the poll that stored no waker, and
 * not later at a stall. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

/* ---- The library below: mio-uds in the original. --------------------------------------------- */

/* RT_OK with or without a connection; other errors do not happen here. */
static rt_err
socket_accept(struct sim_source *socket, bool *ret_connected)
{
    *ret_connected = sim_source_take(socket) == RT_OK;
    return RT_OK;
}

/* ---- The watcher and the listener. ----------------------------------------------------------- */

struct listener {
    bool broken;
    struct sim_source *socket;
    struct rt_pollable readable;
    struct rt_wait wait;
    bool connected; /* The result of the operation. */
};

/* Tries `operation` until it succeeds or would block. */
static rt_poll
watcher_poll(struct listener *listener, rt_err (*operation)(struct listener *), struct rt_cx *cx)
{
    while (operation(listener) == RT_E_AGAIN) {
        RT_AWAIT(rt_wait_for(&listener->wait, &listener->readable, cx));
    }
    return RT_READY;
}

static rt_err
accept_one(struct listener *listener)
{
    rt_err err = socket_accept(listener->socket, &listener->connected);
    if (!listener->broken && err == RT_OK && !listener->connected) {
        return RT_E_AGAIN;
    }
    return err;
}

static rt_poll
listener_accept(struct listener *listener, struct rt_cx *cx)
{
    RT_AWAIT(watcher_poll(listener, accept_one, cx));
    return listener->connected ? RT_READY : RT_PENDING;
}

/* ---- A client and a server. ------------------------------------------------------------------ */

struct state {
    struct listener listener;
    struct rt_task client;
    struct rt_task server;
};

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, client);
    (void)cx;
    sim_source_event(state->listener.socket);
    return RT_READY;
}

static rt_poll
server_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, server);
    RT_AWAIT(listener_accept(&state->listener, cx));
    return RT_READY;
}

static void
server_cleanup(struct rt_task *task)
{
    struct state *state = rt_container_of(task, struct state, server);
    rt_wait_cancel(&state->listener.wait);
    rt_pollable_drop(&state->listener.readable);
}

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct state *state = sim_new(world, struct state);
    struct listener *listener = &state->listener;
    listener->broken = broken;
    listener->socket = sim_source_new(sim_rt_host(rt), "socket");
    SIM_ALWAYS(sim_source_subscribe(listener->socket, &listener->readable) == RT_OK);
    rt_wait_init(&listener->wait);
    rt_task_init(&state->client, client_poll, NULL, "client");
    rt_task_init(&state->server, server_poll, server_cleanup, "server");
    sim_spawn(rt, &state->client);
    sim_spawn(rt, &state->server);
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

SIM_SCENARIO(zoo_async_std_272_broken, .name = "zoo/async-std-272/broken", .bug = "A23",
        .reference = "async-rs/async-std#272",
        .about = "Accept finds no connection, registers no waker, and returns PENDING.",
        .setup = setup_broken, .expect = SIM_VERDICT_CONTRACT);
SIM_SCENARIO(zoo_async_std_272_fixed, .name = "zoo/async-std-272/fixed",
        .about = "Accept finds no connection, and its waker is registered.", .setup = setup_fixed);

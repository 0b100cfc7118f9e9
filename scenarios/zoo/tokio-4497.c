/*
 * tokio-4497.c -- a cancellation token with an inverted check of its wakers.
 *
 * tokio-rs/tokio#4497 (tokio-util, CancellationToken).
 *
 * The bug. A waiter of the token has a node in its list, with a waker. A further poll checks
 * whether the stored waker would wake the polling task, and should store the new one if it would
 * not; the `!` was missing. So the waker was renewed exactly where that changes nothing, and a wait
 * that moved to another task kept the waker of the old one.
 *
 * The fix. The `!` in the condition: `must_renew` below.
 *
 * Here. A connection is greeted by one task and then served by another, and its wait for the token
 * moves with it. An operator cancels at some time. Before the connection moves, the greeter is
 * woken, as it should be; if it moves before the greeter has polled its wait, the wait is new and
 * stores the server's waker. Otherwise the cancellation wakes only the greeter, and the server is
 * not woken. It also waits for a request, so it has stored a waker somewhere (T12 does not apply),
 * and the request never arrives.
 *
 * Cause: never-stored in wait_poll or server_poll
 * Must end in: lost-wakeup of the server. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

/* ---- The token. ------------------------------------------------------------------------------ */

struct token {
    bool broken;
    bool cancelled;
    struct rt_list nodes;
};

/* A wait for the token. Its node is in the list from the first poll on, until it is cancelled. */
struct wait {
    struct token *token;
    struct rt_list node;
    struct rt_slot slot;
};

static bool
must_renew(const struct wait *wait, const struct rt_cx *cx)
{
    bool same = rt_waker_will_wake(&wait->slot.waker, rt_cx_waker(cx));
    return wait->token->broken ? same : !same;
}

static rt_poll
wait_poll(struct wait *wait, struct rt_cx *cx)
{
    bool is_new = rt_list_empty(&wait->node);
    if (wait->token->cancelled) {
        return RT_READY;
    }
    if (is_new) {
        rt_list_push_back(&wait->token->nodes, &wait->node);
    }
    if (is_new || must_renew(wait, cx)) {
        rt_slot_replace(&wait->slot, cx, "cancellation");
    }
    return RT_PENDING;
}

static void
token_cancel(struct token *token)
{
    struct rt_list *node;
    token->cancelled = true;
    while ((node = rt_list_pop_front(&token->nodes)) != NULL) {
        struct wait *wait = rt_container_of(node, struct wait, node);
        rt_slot_wake(&wait->slot);
    }
}

/* ---- A connection that is greeted, then served. ---------------------------------------------- */

struct connection {
    struct wait cancelled;
    struct rt_slot readable;
    bool greeted; /* The peer has said hello. */
    bool moved;   /* The server owns it. */
};

struct state {
    struct token token;
    struct connection connection;
    struct rt_slot handed;    /* The server waits for a connection. */
    struct rt_sleep patience; /* The operator's. */
    struct rt_task server;
    struct rt_task greeter;
    struct rt_task peer;
    struct rt_task operator;
};

static rt_poll
server_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, server);
    if (!state->connection.moved) {
        rt_slot_replace(&state->handed, cx, "a connection");
        return RT_PENDING;
    }
    rt_slot_replace(&state->connection.readable, cx, "a request");
    return wait_poll(&state->connection.cancelled, cx);
}

/* A cancelled connection is handed over too, for the server to close it. */
static rt_poll
greeter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, greeter);
    struct connection *connection = &state->connection;
    if (!connection->greeted && wait_poll(&connection->cancelled, cx) == RT_PENDING) {
        rt_slot_replace(&connection->readable, cx, "a hello");
        return RT_PENDING;
    }
    connection->moved = true;
    rt_slot_wake(&state->handed);
    return RT_READY;
}

static rt_poll
peer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, peer);
    (void)cx;
    state->connection.greeted = true;
    rt_slot_wake(&state->connection.readable);
    return RT_READY;
}

static rt_poll
operator_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, operator);
    RT_AWAIT(rt_sleep_poll(&state->patience, cx));
    token_cancel(&state->token);
    return RT_READY;
}

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct state *state = sim_new(world, struct state);
    state->token.broken = broken;
    rt_list_init(&state->token.nodes);
    state->connection.cancelled.token = &state->token;
    rt_list_init(&state->connection.cancelled.node);
    rt_slot_init(&state->connection.cancelled.slot);
    rt_slot_init(&state->connection.readable);
    rt_slot_init(&state->handed);
    rt_sleep_init(&state->patience, sim_range(world, 0, 2 * RT_MS));
    rt_task_init(&state->server, server_poll, NULL, "server");
    rt_task_init(&state->greeter, greeter_poll, NULL, "greeter");
    rt_task_init(&state->peer, peer_poll, NULL, "peer");
    rt_task_init(&state->operator, operator_poll, NULL, "operator");
    sim_spawn(rt, &state->server);
    sim_spawn(rt, &state->greeter);
    sim_spawn(rt, &state->peer);
    sim_spawn(rt, &state->operator);
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

SIM_SCENARIO(zoo_tokio_4497_broken, .name = "zoo/tokio-4497/broken", .bug = "A06",
        .reference = "tokio-rs/tokio#4497",
        .about = "A wait for cancellation renews its waker only where it is the same one.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(zoo_tokio_4497_fixed, .name = "zoo/tokio-4497/fixed",
        .about = "A wait for cancellation renews its waker where it is another one.",
        .setup = setup_fixed);

/*
 * echo.c -- the echo server that users run (runtime/programs/echo.h), against bad networks.
 *
 * Three clients connect, send a line in pieces with pauses, and read it back; a fourth one sends
 * and never reads, and hangs up. The server has descriptors for two connections and memory for
 * three, so accept is out of descriptors, pauses and goes on. When the clients are done the server
 * is drained. Whatever the network does, what comes back is a prefix of what was sent, all of it if
 * nothing failed; and the server ends with nothing open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/programs/echo.h"

#include <string.h>

#include "sim/rewake.h"

#define PORT 7
#define CLIENTS 4u
#define NEVER_READS 3u /* The number of that client. */
#define CONNECTIONS 3u
#define DESCRIPTORS 3u /* Of the server: the listener and two connections. */
#define PIECE 11u

static const char line[] = "Of all the gin joints in all the towns in all the world.";
#define LINE (sizeof(line) - 1)

struct state;

struct client {
    struct rt_task task;
    struct state *state;
    struct rt_tcp_stream stream;
    struct rt_io_wait wait;
    struct rt_sleep pause;
    struct rt_tcp_moved moved;
    uint64_t pause_ns;
    uint32_t at;
    size_t said;
    size_t heard;
    char back[LINE + 1];
    rt_err err;
};

struct state {
    struct echo_server server;
    struct echo_connection connections[CONNECTIONS];
    struct sim_rt *server_rt;
    struct sim_rt *rt;
    struct client clients[CLIENTS];
    struct rt_net_address address;
    struct rt_task closer;
    uint32_t failures; /* That the server has reported. */
};

/* ---- A client. ------------------------------------------------------------------------------- */

static rt_err
say(struct client *client)
{
    client->said += client->moved.size;
    client->moved.size = 0;
    rt_sleep_init(&client->pause, client->pause_ns);
    return client->moved.err;
}

static rt_err
hear(struct client *client)
{
    client->heard += client->moved.size;
    client->moved.size = 0;
    SIM_ALWAYS(client->heard <= client->said);
    SIM_ALWAYS(memcmp(client->back, line, client->heard) == 0);
    return client->moved.err;
}

static size_t
piece_of(const struct client *client)
{
    return LINE - client->said < PIECE ? LINE - client->said : PIECE;
}

/* As far as nothing fails; `err` is what did. */
static rt_poll
talk(struct client *client, struct rt_cx *cx)
{
    struct rt_tcp_stream *stream = &client->stream;
    RT_BEGIN(client->at);
    client->err =
            rt_tcp_connect_start(stream, sim_rt_io(client->state->rt), &client->state->address);
    if (client->err == RT_OK) {
        RT_AWAIT_HERE(client->at, rt_tcp_connect_finish(stream, &client->wait, cx, &client->err));
    }
    while (client->err == RT_OK && client->said < LINE) {
        RT_AWAIT_HERE(client->at, rt_tcp_write(stream, &client->wait, cx, line + client->said,
                                          piece_of(client), &client->moved));
        client->err = say(client);
        RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->pause, cx));
    }
    if (client->err == RT_OK) {
        client->err = rt_tcp_shutdown(stream);
    }
    while (client->err == RT_OK && client != &client->state->clients[NEVER_READS]) {
        RT_AWAIT_HERE(
                client->at, rt_tcp_read(stream, &client->wait, cx, client->back + client->heard,
                                    sizeof(client->back) - client->heard, &client->moved));
        client->err = hear(client);
    }
    RT_END(client->at);
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    return talk(rt_container_of(task, struct client, task), cx);
}

static void
client_cleanup(struct rt_task *task)
{
    struct client *client = rt_container_of(task, struct client, task);
    rt_sleep_cancel(&client->pause);
    rt_io_wait_cancel(&client->wait);
    rt_tcp_close(&client->stream);
}

/* ---- The end of the server. ------------------------------------------------------------------ */

/* Joins the clients, one after the other; then asks for the end. */
static rt_poll
closer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, closer);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        if (rt_task_posted(&state->clients[i].task)) {
            RT_AWAIT(rt_task_join(&state->clients[i].task, cx));
        }
    }
    return RT_READY;
}

static void
closer_cleanup(struct rt_task *task)
{
    struct state *state = rt_container_of(task, struct state, closer);
    echo_drain(&state->server);
}

/* ---- Both nodes. ----------------------------------------------------------------------------- */

static void
count_failure(void *argument, rt_err err, const struct rt_net_address *peer)
{
    struct state *state = argument;
    (void)peer;
    SIM_ALWAYS(err != RT_OK && err != RT_E_CLOSED);
    state->failures++;
}

static void
server_begin(struct sim_world *world, struct state *state, struct sim_net *net)
{
    struct sim_rt_options options = {.name = "echo", .net = net};
    state->server_rt = sim_rt_new(world, &options);
    struct sim_node *node = sim_rt_node(state->server_rt);
    sim_node_limit(node, DESCRIPTORS);
    state->address = sim_node_address(node, PORT);
    struct echo_config config = {
            .runtime = sim_rt_runtime(state->server_rt),
            .address = state->address,
            .backlog = 2,
            .connections = state->connections,
            .capacity = CONNECTIONS,
            .pause_ns = 2 * RT_MS,
            .drain_ns = 100 * RT_MS,
            .report = count_failure,
            .argument = state,
    };
    rt_err err = echo_start(&state->server, &config);
    while (err == RT_E_FULL || err == RT_E_NO_DESCRIPTOR) {
        err = echo_start(&state->server, &config);
    }
    SIM_ALWAYS(err == RT_OK);
}

static void
client_begin(struct sim_world *world, struct state *state, uint32_t number)
{
    static const char *const names[CLIENTS] = {"client 1", "client 2", "client 3", "never reads"};
    struct client *client = &state->clients[number];
    client->state = state;
    client->pause_ns = sim_range(world, 0, 3) * RT_MS;
    rt_tcp_stream_init(&client->stream);
    rt_io_wait_init(&client->wait);
    rt_sleep_init(&client->pause, 0);
    rt_task_init(&client->task, client_poll, client_cleanup, names[number]);
    sim_spawn(state->rt, &client->task);
}

static void
setup(struct sim_world *world)
{
    struct sim_net_options net_options = {.capacity = 32};
    struct sim_net *net = sim_net_new(world, &net_options);
    struct state *state = sim_new(world, struct state);
    server_begin(world, state, net);
    struct sim_rt_options options = {.name = "clients", .net = net};
    state->rt = sim_rt_new(world, &options);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        client_begin(world, state, i);
    }
    rt_task_init(&state->closer, closer_poll, closer_cleanup, "closer");
    sim_spawn(state->rt, &state->closer);
    sim_set_state(world, state);
}

/* A client that was told neither of an error nor of the server's has everything back. */
static bool
served(const struct state *state, const struct client *client)
{
    bool cancelled =
            client->task.end == RT_TASK_CANCELLED || state->server.task.end == RT_TASK_CANCELLED;
    return cancelled || state->failures > 0 || client->err != RT_E_CLOSED ||
           client->heard == LINE || client->said < LINE;
}

static void
check(struct sim_world *world, void *argument)
{
    const struct state *state = argument;
    (void)world;
    SIM_ALWAYS(echo_is_over(&state->server));
    for (uint32_t i = 0; i < NEVER_READS; i++) {
        SIM_ALWAYS(served(state, &state->clients[i]));
    }
}

SIM_SCENARIO(program_echo, .name = "programs/echo",
        .about = "The echo server that users run, and four clients, over a network that fails.",
        .setup = setup, .check = check, .survives = SIM_FAULT_ALL);

/*
 * http.c -- the HTTP server of runtime/programs against bad networks and bad clients.
 *
 *      polite     three requests, the second with a body, in pieces; reads all responses
 *      one by one a request, its response, the next
 *      slow       a byte now and then: 408, or it is in time
 *      confused   what is no HTTP: 400, and the connection ends
 *      silent     says nothing
 *
 * A task drains the server at some time; then all connections end, and with them the accept loop.
 * Whatever the network does, what a client has received is a sequence of whole responses in the
 * order of its requests, of which only the last may be cut off; none follows one that closes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/programs/http.h"
#include "sim/rewake.h"

#define PORT 8080
#define CONNECTIONS 3u
#define DESCRIPTORS 4u /* Of the server: the listener and three connections. */
#define CLIENTS 5u

struct script {
    const char *name;
    const char *text;
    uint32_t responses; /* To all of it, if nothing fails. */
    uint32_t piece;     /* Bytes at a time … */
    uint64_t pause_ns;  /* … and between them. */
    int status;         /* Of the last response; 0: 200. */
};

static const struct script scripts[CLIENTS] = {
        {"polite",
                "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12345"
                "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
                3, 40, 0, 0},
        {"one by one",
                "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
                "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
                2, 27, 4 * RT_MS, 0},
        {"slow", "GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 1, 1, 5 * RT_MS,
                408},
        {"confused", "HELO mail\r\n\r\nand more of it, which is no request either", 1, 16, 0, 400},
        {"silent", "", 0, 1, 0, 0},
};

struct client {
    struct rt_task task;
    const struct script *script;
    struct sim_rt *rt;
    struct rt_net_address address;
    struct rt_tcp_stream stream;
    struct rt_io_wait reads;
    struct rt_io_wait writes;
    struct rt_sleep pause;
    bool started;
    bool connected;
    bool pausing;
    size_t said;
    size_t heard;
    rt_err ended; /* How the responses ended; RT_OK: they have not. */
    char text[2048];
};

struct state {
    struct http_server server;
    struct http_connection *connections;
    struct client clients[CLIENTS];
    struct rt_task drainer;
    struct rt_sleep until_drain;
    struct sim_rt *rt;
};

/* ---- A client: says and hears at the same time. ---------------------------------------------- */

static rt_poll
say_piece(struct client *client, struct rt_cx *cx)
{
    const struct script *script = client->script;
    size_t left = strlen(script->text) - client->said;
    size_t size = left < script->piece ? left : script->piece;
    struct rt_tcp_moved moved;
    if (client->pausing) {
        RT_AWAIT(rt_sleep_poll(&client->pause, cx));
        client->pausing = false;
    }
    RT_AWAIT(rt_tcp_write(
            &client->stream, &client->writes, cx, script->text + client->said, size, &moved));
    client->said = moved.err == RT_OK ? client->said + moved.size : strlen(script->text);
    if (script->pause_ns > 0) {
        rt_sleep_init(&client->pause, script->pause_ns);
        client->pausing = true;
    }
    return RT_READY;
}

static rt_poll
hear(struct client *client, struct rt_cx *cx)
{
    struct rt_tcp_moved moved;
    while (client->ended == RT_OK) {
        RT_AWAIT(rt_tcp_read(&client->stream, &client->reads, cx, client->text + client->heard,
                sizeof(client->text) - 1 - client->heard, &moved));
        client->heard += moved.size;
        client->ended = moved.err;
    }
    return RT_READY;
}

static rt_poll
connect_to_server(struct client *client, struct rt_cx *cx)
{
    rt_err err = RT_OK;
    if (!client->started) {
        err = rt_tcp_connect_start(&client->stream, sim_rt_io(client->rt), &client->address);
        client->started = true;
    }
    if (err == RT_OK) {
        RT_AWAIT(rt_tcp_connect_finish(&client->stream, &client->reads, cx, &err));
    }
    client->connected = true;
    client->ended = err;
    return RT_READY;
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    if (!client->connected) {
        RT_AWAIT(connect_to_server(client, cx));
    }
    rt_poll said = RT_READY;
    while (client->ended == RT_OK && said == RT_READY &&
            client->said < strlen(client->script->text)) {
        said = say_piece(client, cx);
    }
    return hear(client, cx);
}

static void
client_cleanup(struct rt_task *task)
{
    struct client *client = rt_container_of(task, struct client, task);
    rt_sleep_cancel(&client->pause);
    rt_io_wait_cancel(&client->reads);
    rt_io_wait_cancel(&client->writes);
    rt_tcp_close(&client->stream);
}

/* ---- What was heard. ------------------------------------------------------------------------- */

/* The response at `text`: its size, or 0 when it is cut off. */
static size_t
response_size(const char *text, bool head, int *ret_status, bool *ret_closes)
{
    const char *end = strstr(text, "\r\n\r\n");
    if (end == NULL) {
        return 0;
    }
    const char *length = strstr(text, "Content-Length: ");
    SIM_ALWAYS(strncmp(text, "HTTP/1.1 ", 9) == 0 && length != NULL && length < end);
    const char *closes = strstr(text, "Connection: close\r\n");
    *ret_status = atoi(text + 9);
    *ret_closes = closes != NULL && closes < end;
    size_t size = (size_t)(end + 4 - text) +
                  (head && *ret_status == 200 ? 0 : strtoul(length + 16, NULL, 10));
    return size <= strlen(text) ? size : 0;
}

/* Checks all that it heard; how many responses that is. */
static uint32_t
check_client(const struct client *client)
{
    const struct script *script = client->script;
    const char *text = client->text;
    uint32_t count = 0;
    bool closes = false;
    while (*text != '\0') {
        int status = 0;
        bool head = count == 1 && strcmp(script->name, "one by one") == 0;
        SIM_ALWAYS(!closes);
        size_t size = response_size(text, head, &status, &closes);
        if (size == 0) {
            break;
        }
        SIM_ALWAYS(status == 200 || status == script->status || status == 408);
        SIM_ALWAYS(status == 200 || closes);
        text += size;
        count++;
    }
    SIM_ALWAYS(count <= script->responses + 1); /* One more: 408. */
    SIM_SOMETIMES(script->responses == 3 && count == 3);
    SIM_SOMETIMES(script->status == 408 && closes);
    return count;
}

/* ---- The whole. ------------------------------------------------------------------------------ */

static rt_poll
drainer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, drainer);
    if (!state->server.draining) {
        RT_AWAIT(rt_sleep_poll(&state->until_drain, cx));
        http_drain(&state->server);
    }
    return rt_task_join(&state->server.task, cx);
}

static void
drainer_cleanup(struct rt_task *task)
{
    struct state *state = rt_container_of(task, struct state, drainer);
    rt_sleep_cancel(&state->until_drain);
    http_drain(&state->server); /* Also where the drainer is cancelled. */
}

static void
begin_server(struct sim_world *world, struct state *state, struct sim_net *net)
{
    struct sim_rt_options options = {.name = "server", .net = net};
    state->rt = sim_rt_new(world, &options);
    sim_node_limit(sim_rt_node(state->rt), DESCRIPTORS);
    state->connections = sim_alloc(world, CONNECTIONS * sizeof(struct http_connection));
    struct http_config config = {
            .runtime = sim_rt_runtime(state->rt),
            .address = sim_node_address(sim_rt_node(state->rt), PORT),
            .backlog = 3,
            .connections = state->connections,
            .capacity = CONNECTIONS,
            .idle_ns = 60 * RT_MS,
            .request_ns = 150 * RT_MS,
            .write_ns = 150 * RT_MS,
            .linger_ns = 20 * RT_MS,
            .drain_ns = 100 * RT_MS,
            .pause_ns = 2 * RT_MS,
    };
    rt_err err;
    do {
        err = http_start(&state->server, &config);
    } while (err == RT_E_FULL || err == RT_E_NO_DESCRIPTOR);
    SIM_ALWAYS(err == RT_OK);
    rt_task_init(&state->drainer, drainer_poll, drainer_cleanup, "drainer");
    rt_sleep_init(&state->until_drain, sim_range(world, 20, 600) * RT_MS);
    sim_spawn(state->rt, &state->drainer);
}

static void
setup(struct sim_world *world)
{
    struct sim_net_options net_options = {.capacity = 256};
    struct sim_net *net = sim_net_new(world, &net_options);
    struct state *state = sim_new(world, struct state);
    begin_server(world, state, net);
    struct sim_rt_options options = {.name = "clients", .net = net};
    struct sim_rt *rt = sim_rt_new(world, &options);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *client = &state->clients[i];
        client->script = &scripts[i];
        client->rt = rt;
        client->address = sim_node_address(sim_rt_node(state->rt), PORT);
        rt_tcp_stream_init(&client->stream);
        rt_io_wait_init(&client->reads);
        rt_io_wait_init(&client->writes);
        rt_sleep_init(&client->pause, 0);
        rt_task_init(&client->task, client_poll, client_cleanup, scripts[i].name);
        sim_spawn(rt, &client->task);
    }
    sim_set_state(world, state);
}

/* Of a client whose connection ended in order before the server drained, all responses are there,
 * unless it was slow. */
static void
check(struct sim_world *world, void *argument)
{
    const struct state *state = argument;
    (void)world;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        (void)check_client(&state->clients[i]);
    }
    SIM_ALWAYS(rt_list_empty(&state->server.open));
    SIM_ALWAYS(state->server.listener.state == RT_TCP_CLOSED);
}

SIM_SCENARIO(programs_http, .name = "programs/http",
        .about = "An HTTP server, its clients good and bad, and a network that fails.",
        .setup = setup, .check = check, .survives = SIM_FAULT_ALL);

/*
 * echo_server.c -- the TCP listener of the thread-per-core article (S3), grown into a server.
 *
 *      let listener = AsyncTcpListener::bind(addr, &rt)?;
 *      loop {
 *          let (stream, peer) = listener.accept(&rt).await?;
 *          rt.spawn(echo(stream));
 *      }
 *
 * Two runtimes on one network: a server with four handlers, and three clients. A client connects,
 * sends its line, shuts its side down, and reads the echo until the end; a handler reads, writes
 * all of it back, and reads again until the end. A connection buffers less than a line, so both
 * sides wait for space; the backlog holds one connection less than there are clients; and the
 * server has descriptors for two connections only, so the third is accepted when one is closed: the
 * accept loop pauses, as the article's `?` does not.
 *
 * Whether cancelled, refused, cut off or reset, all tasks close their connections, and a client
 * tries again a few times. The echo is always a prefix of what was sent, and all of it if nothing
 * failed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/rewake.h"

#define PORT 8080
#define CLIENTS 3u
#define HANDLERS 4u
#define DESCRIPTORS 3u /* Of the server: the listener and two connections. */
#define ROOM 32u
#define TRIES 4u

static const char *const lines[CLIENTS] = {
        "It was a bright cold day in April, and the clocks ran late.",
        "Call me Ishmael. Some years ago - never mind how long.",
        "The sky above the port was the color of television.",
};

struct server;

struct handler {
    struct rt_task task;
    struct server *server;
    struct rt_tcp_stream stream;
    struct rt_io_wait wait;
    char text[16];
    size_t from; /* To be written back: text[from .. to-1]. */
    size_t to;
};

struct server {
    struct rt_task task;
    struct sim_rt *rt;
    struct rt_tcp_listener listener;
    struct rt_io_wait wait;
    struct rt_sleep pause;
    struct rt_slot vacancy;
    bool pausing;
    struct handler handlers[HANDLERS];
};

enum stage { CALLING, CONNECTING, SAYING, HEARING, RESTING };

struct client {
    struct rt_task task;
    struct sim_rt *rt;
    struct rt_net_address address;
    struct rt_tcp_stream stream;
    struct rt_io_wait wait;
    struct rt_sleep rest;
    enum stage stage;
    const char *line;
    size_t said;
    size_t heard;
    char echo[64];
    uint32_t tries;
    rt_err trouble; /* What ended the last try; RT_OK: nothing. */
};

struct state {
    struct server server;
    struct client clients[CLIENTS];
};

/* ---- A handler: reads, and writes back. ------------------------------------------------------ */

static rt_poll
handler_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct handler *handler = rt_container_of(task, struct handler, task);
    struct rt_tcp_moved moved;
    for (;;) {
        bool writes = handler->from < handler->to;
        if (writes) {
            RT_AWAIT(rt_tcp_write(&handler->stream, &handler->wait, cx,
                    handler->text + handler->from, handler->to - handler->from, &moved));
            handler->from += moved.size;
        } else {
            RT_AWAIT(rt_tcp_read(&handler->stream, &handler->wait, cx, handler->text,
                    sizeof(handler->text), &moved));
            handler->from = 0;
            handler->to = moved.size;
        }
        if (moved.err != RT_OK) {
            return RT_READY; /* The end, or the client has gone. */
        }
    }
}

static void
handler_cleanup(struct rt_task *task)
{
    struct handler *handler = rt_container_of(task, struct handler, task);
    rt_io_wait_cancel(&handler->wait);
    rt_tcp_close(&handler->stream);
    (void)rt_slot_wake(&handler->server->vacancy);
}

static void
handler_start(struct handler *handler)
{
    handler->from = handler->to = 0;
    rt_task_init(&handler->task, handler_poll, handler_cleanup, "handler");
    sim_spawn_background(handler->server->rt, &handler->task);
}

/* ---- The accept loop. ------------------------------------------------------------------------ */

static struct handler *
find_free(struct server *server)
{
    for (uint32_t i = 0; i < HANDLERS; i++) {
        if (!rt_task_posted(&server->handlers[i].task)) {
            return &server->handlers[i];
        }
    }
    return NULL;
}

/* Out of descriptors or capacity: no event reports when there are some again. */
static rt_poll
pause_a_little(struct server *server, struct rt_cx *cx)
{
    RT_AWAIT(rt_sleep_poll(&server->pause, cx));
    server->pausing = false;
    return RT_READY;
}

static rt_poll
accept_one(struct server *server, struct handler *handler, struct rt_cx *cx)
{
    rt_err err = RT_OK;
    RT_AWAIT(rt_tcp_accept(&server->listener, &server->wait, cx, &handler->stream, &err));
    if (err == RT_OK) {
        handler_start(handler);
    } else if (err != RT_E_ABORTED) {
        rt_sleep_init(&server->pause, 2 * RT_MS);
        server->pausing = true;
    }
    return RT_READY;
}

static rt_poll
server_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct server *server = rt_container_of(task, struct server, task);
    if (server->listener.state == RT_TCP_STARTED) {
        rt_err err = RT_OK;
        RT_AWAIT(rt_tcp_listen_finish(&server->listener, &server->wait, cx, &err));
        SIM_ALWAYS(err == RT_OK);
    }
    for (;;) {
        if (server->pausing) {
            RT_AWAIT(pause_a_little(server, cx));
        }
        struct handler *handler = find_free(server);
        if (handler == NULL) {
            rt_slot_replace(&server->vacancy, cx, "a free handler");
            return RT_PENDING;
        }
        RT_AWAIT(accept_one(server, handler, cx));
    }
}

static void
server_cleanup(struct rt_task *task)
{
    struct server *server = rt_container_of(task, struct server, task);
    if (server->pausing) {
        rt_sleep_cancel(&server->pause);
    }
    rt_io_wait_cancel(&server->wait);
    rt_tcp_listener_close(&server->listener);
}

/* ---- A client. ------------------------------------------------------------------------------- */

/* This try is over; the next one, if any, begins after a pause. */
static void
client_hang_up(struct client *client, rt_err trouble)
{
    rt_tcp_close(&client->stream);
    client->trouble = trouble;
    client->stage = RESTING;
    rt_sleep_init(&client->rest, 3 * RT_MS);
}

static rt_err
client_call(struct client *client)
{
    client->said = client->heard = 0;
    client->tries++;
    client->trouble = RT_OK;
    return rt_tcp_connect_start(&client->stream, sim_rt_io(client->rt), &client->address);
}

static rt_poll
client_say(struct client *client, struct rt_cx *cx)
{
    size_t size = strlen(client->line);
    struct rt_tcp_moved moved = {RT_OK, 0};
    while (client->said < size && moved.err == RT_OK) {
        RT_AWAIT(rt_tcp_write(&client->stream, &client->wait, cx, client->line + client->said,
                size - client->said, &moved));
        client->said += moved.size;
    }
    client->trouble = moved.err == RT_OK ? rt_tcp_shutdown(&client->stream) : moved.err;
    return RT_READY;
}

static rt_poll
client_hear(struct client *client, struct rt_cx *cx)
{
    struct rt_tcp_moved moved = {RT_OK, 0};
    while (moved.err == RT_OK) {
        size_t space = sizeof(client->echo) - client->heard;
        RT_AWAIT(rt_tcp_read(
                &client->stream, &client->wait, cx, client->echo + client->heard, space, &moved));
        client->heard += moved.size;
        SIM_ALWAYS(memcmp(client->echo, client->line, client->heard) == 0);
    }
    /* An end before everything is back: the server is gone. */
    client->trouble = client->heard == strlen(client->line) ? RT_OK : moved.err;
    return RT_READY;
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    for (;;) {
        switch (client->stage) {
        case CALLING:
            client->trouble = client_call(client);
            client->stage = CONNECTING;
            break;
        case CONNECTING:
            RT_AWAIT(rt_tcp_connect_finish(&client->stream, &client->wait, cx, &client->trouble));
            client->stage = SAYING;
            break;
        case SAYING:
            RT_AWAIT(client_say(client, cx));
            client->stage = HEARING;
            break;
        case HEARING:
            RT_AWAIT(client_hear(client, cx));
            if (client->trouble == RT_OK) {
                return RT_READY;
            }
            break;
        case RESTING:
            RT_AWAIT(rt_sleep_poll(&client->rest, cx));
            if (client->tries == TRIES) {
                return RT_READY;
            }
            client->stage = CALLING;
            continue;
        }
        if (client->trouble != RT_OK) {
            client_hang_up(client, client->trouble);
        }
    }
}

static void
client_cleanup(struct rt_task *task)
{
    struct client *client = rt_container_of(task, struct client, task);
    if (client->stage == RESTING) {
        rt_sleep_cancel(&client->rest);
    }
    rt_io_wait_cancel(&client->wait);
    rt_tcp_close(&client->stream);
}

/* ---- Both runtimes. -------------------------------------------------------------------------- */

static void
server_begin(struct sim_world *world, struct server *server, struct sim_net *net)
{
    struct sim_rt_options options = {.name = "server", .net = net};
    server->rt = sim_rt_new(world, &options);
    struct sim_node *node = sim_rt_node(server->rt);
    sim_node_limit(node, DESCRIPTORS);
    rt_tcp_listener_init(&server->listener);
    rt_io_wait_init(&server->wait);
    rt_slot_init(&server->vacancy);
    for (uint32_t i = 0; i < HANDLERS; i++) {
        struct handler *handler = &server->handlers[i];
        handler->server = server;
        rt_task_init(&handler->task, handler_poll, handler_cleanup, "handler");
        rt_tcp_stream_init(&handler->stream);
        rt_io_wait_init(&handler->wait);
    }
    rt_task_init(&server->task, server_poll, server_cleanup, "accept loop");
    struct rt_net_address address = sim_node_address(node, PORT);
    rt_err err = rt_tcp_listen_start(&server->listener, sim_rt_io(server->rt), &address, 2);
    while (err == RT_E_FULL || err == RT_E_NO_DESCRIPTOR) {
        err = rt_tcp_listen_start(&server->listener, sim_rt_io(server->rt), &address, 2);
    }
    SIM_ALWAYS(err == RT_OK);
    sim_spawn_background(server->rt, &server->task);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[CLIENTS] = {"client 1", "client 2", "client 3"};
    struct sim_net_options net_options = {.capacity = ROOM};
    struct sim_net *net = sim_net_new(world, &net_options);
    struct state *state = sim_new(world, struct state);
    server_begin(world, &state->server, net);
    struct sim_rt_options options = {.name = "clients", .net = net};
    struct sim_rt *rt = sim_rt_new(world, &options);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *client = &state->clients[i];
        client->rt = rt;
        client->line = lines[i];
        client->address = sim_node_address(sim_rt_node(state->server.rt), PORT);
        rt_tcp_stream_init(&client->stream);
        rt_io_wait_init(&client->wait);
        rt_task_init(&client->task, client_poll, client_cleanup, names[i]);
        sim_spawn(rt, &client->task);
    }
    sim_set_state(world, state);
}

/* A client without an error and not cancelled has received everything. */
static void
check(struct sim_world *world, void *argument)
{
    const struct state *state = argument;
    (void)world;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        const struct client *client = &state->clients[i];
        bool cancelled = client->task.end == RT_TASK_CANCELLED;
        SIM_ALWAYS(cancelled || client->trouble != RT_OK || client->heard == strlen(client->line));
    }
}

SIM_SCENARIO(seed3_echo_server, .name = "articles/s3/echo-server",
        .about = "An accept loop and three clients on two runtimes, over a network that fails.",
        .setup = setup, .check = check, .survives = SIM_FAULT_ALL);

/*
 * ping_server.c -- two clients send a ping over the network, one server answers each.
 *
 * The server accepts one connection after the other and answers what it reads until the client has
 * shut down its side. A client that comes before the server listens is refused, and tries again a
 * little later. Reads and writes may move less than was asked for, so both sides count. Each
 * task has one wait, as it waits for one thing at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define CLIENTS 2u
#define PING 4u

struct server {
    struct rt_task task;
    struct rt_tcp_listener listener;
    struct rt_tcp_stream stream;
    struct rt_io_wait wait;
    struct rt_tcp_moved moved;
    char bytes[PING];
    size_t written;
    uint32_t served;
    uint32_t at;
    rt_err err;
};

struct client {
    struct rt_task task;
    struct rt_io *io;
    struct rt_net_address address;
    struct rt_tcp_stream stream;
    struct rt_io_wait wait;
    struct rt_tcp_moved moved;
    struct rt_sleep pause;
    size_t done;
    uint32_t at;
    rt_err err;
};

static rt_poll
server_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct server *server = rt_container_of(task, struct server, task);
    struct rt_tcp_stream *stream = &server->stream;
    RT_BEGIN(server->at);
    RT_AWAIT_HERE(
            server->at, rt_tcp_listen_finish(&server->listener, &server->wait, cx, &server->err));
    SIM_ALWAYS(server->err == RT_OK);
    for (server->served = 0; server->served < CLIENTS; server->served++) {
        RT_AWAIT_HERE(server->at,
                rt_tcp_accept(&server->listener, &server->wait, cx, stream, &server->err));
        SIM_ALWAYS(server->err == RT_OK);
        for (;;) {
            RT_AWAIT_HERE(server->at,
                    rt_tcp_read(stream, &server->wait, cx, server->bytes, PING, &server->moved));
            if (server->moved.err == RT_E_CLOSED) {
                break;
            }
            SIM_ALWAYS(server->moved.err == RT_OK);
            server->written = server->moved.size;
            while (server->written > 0) {
                RT_AWAIT_HERE(server->at, rt_tcp_write(stream, &server->wait, cx, server->bytes,
                                                  server->written, &server->moved));
                SIM_ALWAYS(server->moved.err == RT_OK);
                server->written -= server->moved.size;
            }
        }
        rt_tcp_close(stream);
    }
    rt_tcp_listener_close(&server->listener);
    RT_END(server->at);
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    static const char ping[PING] = {'p', 'i', 'n', 'g'};
    struct client *client = rt_container_of(task, struct client, task);
    struct rt_tcp_stream *stream = &client->stream;
    char buffer[PING];
    RT_BEGIN(client->at);
    for (;;) {
        SIM_ALWAYS(rt_tcp_connect_start(stream, client->io, &client->address) == RT_OK);
        RT_AWAIT_HERE(client->at, rt_tcp_connect_finish(stream, &client->wait, cx, &client->err));
        if (client->err == RT_OK) {
            break;
        }
        SIM_ALWAYS(client->err == RT_E_REFUSED); /* The server does not listen yet. */
        rt_tcp_close(stream);
        rt_sleep_init(&client->pause, RT_MS);
        RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->pause, cx));
    }
    for (client->done = 0; client->done < PING; client->done += client->moved.size) {
        RT_AWAIT_HERE(client->at,
                rt_tcp_write(stream, &client->wait, cx, ping, PING - client->done, &client->moved));
        SIM_ALWAYS(client->moved.err == RT_OK);
    }
    for (client->done = 0; client->done < PING; client->done += client->moved.size) {
        RT_AWAIT_HERE(
                client->at, rt_tcp_read(stream, &client->wait, cx, buffer, PING, &client->moved));
        SIM_ALWAYS(client->moved.err == RT_OK);
    }
    SIM_ALWAYS(rt_tcp_shutdown(stream) == RT_OK);
    rt_tcp_close(stream);
    RT_END(client->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[CLIENTS] = {"client 1", "client 2"};
    struct sim_net *net = sim_net_new(world, NULL);
    struct sim_rt *here = sim_rt_new(world, &(struct sim_rt_options){.name = "here", .net = net});
    struct sim_rt *there = sim_rt_new(world, &(struct sim_rt_options){.name = "there", .net = net});
    struct rt_net_address address = sim_node_address(sim_rt_node(there), 7);
    struct server *server = sim_new(world, struct server);
    rt_tcp_listener_init(&server->listener);
    rt_tcp_stream_init(&server->stream);
    rt_io_wait_init(&server->wait);
    SIM_ALWAYS(rt_tcp_listen_start(&server->listener, sim_rt_io(there), &address, 4) == RT_OK);
    rt_task_init(&server->task, server_poll, NULL, "server");
    sim_spawn(there, &server->task);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *client = sim_new(world, struct client);
        client->io = sim_rt_io(here);
        client->address = address;
        rt_tcp_stream_init(&client->stream);
        rt_io_wait_init(&client->wait);
        rt_task_init(&client->task, client_poll, NULL, names[i]);
        sim_spawn(here, &client->task);
    }
}

SIM_SCENARIO(correct_ping_server, .name = "correct/ping-server",
        .about = "Two clients and a server on the simulated network.", .setup = setup);

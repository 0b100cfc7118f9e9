/*
 * asks.c -- a scenario that is the client of a program: two tasks ask the server at port 7000 for
 * "done", one of which shuts down its direction first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#include <string.h>

#define ANSWER 4u

struct client {
    struct rt_task task;
    struct rt_io *io;
    struct rt_tcp_stream stream;
    struct rt_io_wait wait;
    struct rt_tcp_moved moved;
    char answer[ANSWER];
    size_t done;
    uint32_t at;
    bool shuts;
    rt_err err;
};

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    static const char request[] = {'g', 'o', '\n'};
    struct client *client = rt_container_of(task, struct client, task);
    struct rt_tcp_stream *stream = &client->stream;
    struct rt_net_address address = rt_net_address_v4(127, 0, 0, 1, 7000);
    RT_BEGIN(client->at);
    SIM_ALWAYS(rt_tcp_connect_start(stream, client->io, &address) == RT_OK);
    RT_AWAIT_HERE(client->at, rt_tcp_connect_finish(stream, &client->wait, cx, &client->err));
    SIM_ALWAYS(client->err == RT_OK);
    for (client->done = 0; client->done < sizeof(request); client->done += client->moved.size) {
        RT_AWAIT_HERE(client->at, rt_tcp_write(stream, &client->wait, cx, request + client->done,
                                          sizeof(request) - client->done, &client->moved));
        SIM_ALWAYS(client->moved.err == RT_OK);
    }
    SIM_ALWAYS(!client->shuts || rt_tcp_shutdown(stream) == RT_OK);
    for (client->done = 0; client->done < ANSWER; client->done += client->moved.size) {
        RT_AWAIT_HERE(
                client->at, rt_tcp_read(stream, &client->wait, cx, client->answer + client->done,
                                    ANSWER - client->done, &client->moved));
        SIM_ALWAYS(client->moved.err == RT_OK);
    }
    SIM_ALWAYS(memcmp(client->answer, "done", ANSWER) == 0);
    rt_tcp_close(stream);
    RT_END(client->at);
}

static void
start(struct sim_world *world, bool shuts)
{
    struct sim_net *net = sim_net_new(world, NULL);
    struct sim_rt *here = sim_rt_new(world, &(struct sim_rt_options){.name = "here", .net = net});
    for (uint32_t i = 0; i < 2; i++) {
        struct client *client = sim_new(world, struct client);
        client->io = sim_rt_io(here);
        client->shuts = shuts && i == 1;
        rt_tcp_stream_init(&client->stream);
        rt_io_wait_init(&client->wait);
        rt_task_init(&client->task, client_poll, NULL, i == 0 ? "first" : "second");
        sim_spawn(here, &client->task);
    }
}

static void
setup_plain(struct sim_world *world)
{
    start(world, false);
}

static void
setup_shuts(struct sim_world *world)
{
    start(world, true);
}

SIM_SCENARIO(asks_plain, .name = "asks/plain", .about = "Two clients.", .setup = setup_plain);
SIM_SCENARIO(asks_shuts, .name = "asks/shuts", .about = "One of two shuts down its direction.",
        .setup = setup_shuts);

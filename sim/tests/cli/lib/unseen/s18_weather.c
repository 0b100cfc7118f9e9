/* Cause: answer_or_patience(), line 93: the first question was given up after its time, its answer still comes on the same connection and is taken for that to the second; repair: skip answers for another station. */
#include <sim/rewake.h>

#define PORT 4000
#define STATIONS 2

struct service {
    struct rt_task task;
    struct sim_world *world;
    struct rt_io *io;
    struct rt_net_address address;
    struct rt_tcp_listener listener;
    struct rt_tcp_stream stream;
    struct rt_io_wait wait;
    struct rt_tcp_moved moved;
    struct rt_sleep measure;
    rt_err err;
    uint32_t at;
    uint8_t station;
    uint8_t answer[2];
    size_t sent;
};

struct client {
    struct rt_task task;
    struct rt_io *io;
    struct rt_net_address server;
    struct rt_tcp_stream stream;
    struct rt_io_wait wait;
    struct rt_tcp_moved moved;
    struct rt_sleep patience;
    rt_err err;
    uint32_t at;
    uint8_t station;
    uint8_t answer[2];
    size_t have;
    bool gave_up;
    bool compares;
};

static uint8_t
degrees(uint8_t station)
{
    return (uint8_t)(10 + 7 * station);
}

static rt_poll
service_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct service *it = rt_container_of(task, struct service, task);
    RT_BEGIN(it->at);
    SIM_ALWAYS(rt_tcp_listen_start(&it->listener, it->io, &it->address, 4) == RT_OK);
    RT_AWAIT_HERE(it->at, rt_tcp_listen_finish(&it->listener, &it->wait, cx, &it->err));
    RT_AWAIT_HERE(it->at, rt_tcp_accept(&it->listener, &it->wait, cx, &it->stream, &it->err));
    for (;;) {
        RT_AWAIT_HERE(
                it->at, rt_tcp_read(&it->stream, &it->wait, cx, &it->station, 1, &it->moved));
        if (it->moved.err != RT_OK) {
            break;
        }
        rt_sleep_init(&it->measure, sim_range(it->world, 1 * RT_MS, 9 * RT_MS));
        RT_AWAIT_HERE(it->at, rt_sleep_poll(&it->measure, cx));
        it->answer[0] = it->station;
        it->answer[1] = degrees(it->station);
        for (it->sent = 0; it->sent < 2; it->sent += it->moved.size) {
            RT_AWAIT_HERE(it->at, rt_tcp_write(&it->stream, &it->wait, cx,
                                          it->answer + it->sent, 2 - it->sent, &it->moved));
            if (it->moved.err != RT_OK) {
                break;
            }
        }
    }
    rt_tcp_close(&it->stream);
    rt_tcp_listener_close(&it->listener);
    RT_END(it->at);
}

/* READY with a whole answer, or when the time is over. */
static rt_poll
answer_or_patience(struct client *it, struct rt_cx *cx)
{
    while (it->have < 2) {
        if (rt_tcp_read(&it->stream, &it->wait, cx, it->answer + it->have, 2 - it->have,
                    &it->moved) != RT_READY) {
            it->gave_up = rt_sleep_poll(&it->patience, cx) == RT_READY;
            if (it->gave_up) {
                rt_io_wait_cancel(&it->wait);
            }
            return it->gave_up ? RT_READY : RT_PENDING;
        }
        SIM_ALWAYS(it->moved.err == RT_OK);
        it->have += it->moved.size;
        if (it->have == 2 && it->compares && it->answer[0] != it->station) {
            it->have = 0;
        }
    }
    rt_sleep_cancel(&it->patience);
    return RT_READY;
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *it = rt_container_of(task, struct client, task);
    RT_BEGIN(it->at);
    do {
        SIM_ALWAYS(rt_tcp_connect_start(&it->stream, it->io, &it->server) == RT_OK);
        RT_AWAIT_HERE(it->at, rt_tcp_connect_finish(&it->stream, &it->wait, cx, &it->err));
        if (it->err != RT_OK) {
            rt_tcp_close(&it->stream);
            rt_sleep_init(&it->patience, 5 * RT_MS);
            RT_AWAIT_HERE(it->at, rt_sleep_poll(&it->patience, cx));
        }
    } while (it->err != RT_OK);
    for (it->station = 0; it->station < STATIONS; it->station++) {
        RT_AWAIT_HERE(
                it->at, rt_tcp_write(&it->stream, &it->wait, cx, &it->station, 1, &it->moved));
        it->gave_up = false;
        if (it->have == 2) {
            it->have = 0;
        }
        rt_sleep_init(&it->patience, 8 * RT_MS);
        RT_AWAIT_HERE(it->at, answer_or_patience(it, cx));
        if (!it->gave_up) {
            SIM_ALWAYS(it->answer[1] == degrees(it->station));
        }
    }
    rt_tcp_close(&it->stream);
    RT_END(it->at);
}

static void
set_up(struct sim_world *world, bool compares)
{
    struct sim_net *net = sim_net_new(world, NULL);
    struct sim_rt *there = sim_rt_new(world, &(struct sim_rt_options){.name = "tower", .net = net});
    struct sim_rt *here = sim_rt_new(world, &(struct sim_rt_options){.name = "home", .net = net});
    struct service *service = sim_new(world, struct service);
    struct client *client = sim_new(world, struct client);
    service->world = world;
    service->io = sim_rt_io(there);
    service->address = client->server = sim_node_address(sim_rt_node(there), PORT);
    client->io = sim_rt_io(here);
    client->compares = compares;
    rt_tcp_listener_init(&service->listener);
    rt_tcp_stream_init(&service->stream);
    rt_tcp_stream_init(&client->stream);
    rt_io_wait_init(&service->wait);
    rt_io_wait_init(&client->wait);
    rt_task_init(&service->task, service_poll, NULL, "tower");
    rt_task_init(&client->task, client_poll, NULL, "reader");
    sim_spawn(there, &service->task);
    sim_spawn(here, &client->task);
}

static void set_up_broken(struct sim_world *world) { set_up(world, false); }
static void set_up_fixed(struct sim_world *world) { set_up(world, true); }

SIM_SCENARIO(broken, .name = "s18/weather/broken", .about = "Two questions on one connection.",
        .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s18/weather/fixed", .about = "Two questions on one connection.",
        .setup = set_up_fixed);

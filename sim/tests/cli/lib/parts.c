/*
 * parts.c -- a user's library that uses every part once, through the one header.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sim/rewake.h>

#include <string.h>

/* ---- A channel and a semaphore: two permits to send; a receive races a sleep. ---------------- */

#define ITEMS 3u

struct exchange {
    struct rt_channel channel;
    struct rt_semaphore semaphore;
    uint32_t ring[2];
    struct rt_task sender;
    struct rt_acquire acquire;
    struct rt_send send;
    bool acquired;
    uint32_t sent;
    struct rt_task taker;
    struct rt_recv recv;
    struct rt_sleep_future patience;
    struct rt_race race;
    struct rt_child children[2];
    uint32_t item;
    uint32_t taken;
    bool racing;
};

static rt_poll
sender_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct exchange *exchange = rt_container_of(task, struct exchange, sender);
    while (exchange->sent < ITEMS) {
        if (!exchange->acquired) {
            RT_AWAIT(rt_acquire_poll(&exchange->acquire, cx));
            exchange->acquired = true;
            rt_send_init(&exchange->send, &exchange->channel, &exchange->sent);
        }
        RT_AWAIT(rt_send_poll(&exchange->send, cx));
        SIM_ALWAYS(rt_semaphore_release(&exchange->semaphore, 2) == RT_OK);
        exchange->acquired = false;
        exchange->sent++;
        rt_acquire_init(&exchange->acquire, &exchange->semaphore, 2);
    }
    rt_channel_drop_sender(&exchange->channel);
    return RT_READY;
}

static void
race_begin(struct exchange *exchange)
{
    rt_recv_init(&exchange->recv, &exchange->channel, &exchange->item);
    rt_sleep_future_init(&exchange->patience, 50 * RT_US);
    exchange->children[0].future = &exchange->recv.future;
    exchange->children[1].future = &exchange->patience.future;
    SIM_ALWAYS(rt_race_init(&exchange->race, exchange->children, 2) == RT_OK);
    exchange->racing = true;
}

static rt_poll
taker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct exchange *exchange = rt_container_of(task, struct exchange, taker);
    for (;;) {
        if (!exchange->racing) {
            race_begin(exchange);
        }
        RT_AWAIT(rt_race_poll(&exchange->race, cx));
        exchange->racing = false;
        if (exchange->race.winner != 0) {
            continue;
        }
        if (exchange->recv.err == RT_E_CLOSED) {
            return RT_READY;
        }
        SIM_ALWAYS(exchange->item == exchange->taken++);
    }
}

static void
exchange_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct exchange *exchange = sim_new(world, struct exchange);
    struct rt_channel_config config = {
            .ring = exchange->ring, .item_size = sizeof(uint32_t), .capacity = 2};
    rt_channel_init(&exchange->channel, &config);
    rt_channel_add_sender(&exchange->channel);
    rt_channel_add_receiver(&exchange->channel);
    rt_channel_drop_handle(&exchange->channel);
    rt_semaphore_init(&exchange->semaphore, 2);
    rt_acquire_init(&exchange->acquire, &exchange->semaphore, 2);
    rt_task_init(&exchange->sender, sender_poll, NULL, "sender");
    rt_task_init(&exchange->taker, taker_poll, NULL, "taker");
    sim_spawn(rt, &exchange->sender);
    sim_spawn(rt, &exchange->taker);
    sim_set_state(world, exchange);
}

static void
exchange_check(struct sim_world *world, void *state)
{
    const struct exchange *exchange = state;
    (void)world;
    SIM_ALWAYS(exchange->taken == ITEMS);
}

SIM_SCENARIO(exchange, .name = "parts/exchange", .about = "A channel, a semaphore, a race.",
        .setup = exchange_setup, .check = exchange_check);

/* ---- A group of streams. --------------------------------------------------------------------- */

struct naps {
    struct rt_task task;
    struct rt_group group;
    struct rt_slab_entry entries[2];
    struct rt_group_member members[2];
    struct rt_sleep_future sleeps[2];
    struct rt_once once[2];
    uint32_t items;
};

static rt_poll
naps_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct naps *naps = rt_container_of(task, struct naps, task);
    void *item = NULL;
    do {
        RT_AWAIT(rt_group_poll(&naps->group, cx, NULL, &item));
        naps->items += item != NULL;
    } while (item != NULL);
    SIM_ALWAYS(naps->items == 2);
    return RT_READY;
}

static void
naps_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct naps *naps = sim_new(world, struct naps);
    rt_group_init(&naps->group, naps->entries, 2);
    for (uint32_t i = 0; i < 2; i++) {
        struct rt_key key;
        rt_sleep_future_init(&naps->sleeps[i], sim_range(world, 0, RT_MS));
        rt_once_init(&naps->once[i], &naps->sleeps[i].future);
        SIM_ALWAYS(rt_group_insert(&naps->group, &naps->members[i], &naps->once[i].stream, &key) ==
                   RT_OK);
    }
    rt_task_init(&naps->task, naps_poll, NULL, "waiter");
    sim_spawn(rt, &naps->task);
}

SIM_SCENARIO(naps, .name = "parts/group", .about = "A group of two streams.", .setup = naps_setup);

/* ---- A guest on a fiber, out of fuel now and then. ------------------------------------------- */

struct sum {
    struct rt_task task;
    struct rt_engine *engine;
    struct rt_store store;
    struct rt_call call;
    uint64_t result;
};

static void
sum_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    (void)arguments;
    for (uint64_t i = 1; i <= 10 && rt_guest_check(guest, 100); i++) {
        results[0] += i;
    }
}

static rt_poll
sum_poll(struct rt_task *task, struct rt_cx *cx)
{
    return rt_call_drive(&rt_container_of(task, struct sum, task)->call, cx);
}

static void
sum_cleanup(struct rt_task *task)
{
    struct sum *sum = rt_container_of(task, struct sum, task);
    rt_call_delete(&sum->call);
    rt_store_fini(&sum->store);
}

static void
sum_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct sum *sum = sim_new(world, struct sum);
    struct rt_call_config config = {.guest = sum_guest, .results = &sum->result, .result_count = 1};
    sum->engine = sim_engine_new(world, NULL);
    rt_store_init(&sum->store, sum->engine, sum);
    rt_fuel_set(&sum->store, 10000);
    rt_fuel_yield_interval(&sum->store, 300);
    SIM_ALWAYS(rt_call_init(&sum->call, &sum->store, &config) == RT_OK);
    rt_task_init(&sum->task, sum_poll, sum_cleanup, "sum");
    sim_spawn(rt, &sum->task);
    sim_set_state(world, sum);
}

static void
sum_check(struct sim_world *world, void *state)
{
    struct sum *sum = state;
    (void)world;
    SIM_ALWAYS(sum->result == 55);
    rt_engine_fini(sum->engine);
}

SIM_SCENARIO(sum, .name = "parts/guest", .about = "A guest that computes, with a yield interval.",
        .setup = sum_setup, .check = sum_check);

/* ---- Two shards: one asks the other, and closes the group. ----------------------------------- */

struct question {
    struct rt_task task;
    struct sim_shard_group *group;
    struct rt_submit submit;
    bool asked;
    uint32_t answered_by;
};

static void
answer(struct rt_message *message, struct rt_shard *shard)
{
    struct question *question = rt_container_of(message, struct question, submit.message);
    question->answered_by = shard->number;
    rt_message_answer(message, shard, RT_OK);
}

static rt_poll
question_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct question *question = rt_container_of(task, struct question, task);
    if (!question->asked) {
        question->asked = true;
        rt_submit_to(&question->submit, sim_shard_group_shard(question->group, 0), 1, answer);
    }
    RT_AWAIT(rt_future_poll(&question->submit.future, cx));
    SIM_ALWAYS(question->submit.message.result == RT_OK && question->answered_by == 1);
    rt_shards_close(sim_shard_group_shards(question->group));
    return RT_READY;
}

static void
question_setup(struct sim_world *world)
{
    struct question *question = sim_new(world, struct question);
    question->group = sim_shard_group_new(world, NULL);
    rt_task_init(&question->task, question_poll, NULL, "question");
    sim_spawn(sim_shard_group_rt(question->group, 0), &question->task);
}

SIM_SCENARIO(question, .name = "parts/shards", .about = "A shard asks the other one.",
        .setup = question_setup);

/* ---- A game: an activity that waits for ticks. ----------------------------------------------- */

struct dwarf {
    struct rt_activity activity;
    struct sim_ticker *game;
    struct rt_tick_wait loiter;
    bool done;
};

static rt_poll
dwarf_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct dwarf *dwarf = rt_container_of(activity, struct dwarf, activity);
    RT_AWAIT(rt_tick_wait_poll(&dwarf->loiter, &activity->scope, cx));
    dwarf->done = true;
    return RT_READY;
}

static bool
dwarf_update(struct sim_world *world, void *argument)
{
    (void)world;
    return !((const struct dwarf *)argument)->done;
}

static void
dwarf_setup(struct sim_world *world)
{
    struct dwarf *dwarf = sim_new(world, struct dwarf);
    struct sim_ticker_options options = {.update = dwarf_update, .argument = dwarf};
    dwarf->game = sim_ticker_new(world, &options);
    rt_activity_init(&dwarf->activity, dwarf_poll, NULL, "dwarf");
    rt_tick_wait_init(&dwarf->loiter, 3);
    sim_ticker_spawn(dwarf->game, &dwarf->activity);
}

SIM_SCENARIO(dwarf, .name = "parts/game", .about = "A dwarf that loiters.", .setup = dwarf_setup);

/* ---- TCP: a line is said, and heard until the end. ------------------------------------------- */

static const char line[] = "Call me Ishmael.";

struct call {
    struct sim_rt *rt;
    struct rt_task server;
    struct rt_tcp_listener listener;
    struct rt_tcp_stream heard_on;
    struct rt_io_wait server_wait;
    bool accepted;
    char heard[sizeof(line)];
    size_t heard_count;
    struct rt_task client;
    struct rt_tcp_stream stream;
    struct rt_io_wait client_wait;
    bool connected;
    size_t said;
};

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct call *call = rt_container_of(task, struct call, client);
    struct rt_tcp_moved moved = {RT_OK, 0};
    if (!call->connected) {
        rt_err err = RT_OK;
        RT_AWAIT(rt_tcp_connect_finish(&call->stream, &call->client_wait, cx, &err));
        SIM_ALWAYS(err == RT_OK);
        call->connected = true;
    }
    while (call->said < sizeof(line) - 1) {
        RT_AWAIT(rt_tcp_write(&call->stream, &call->client_wait, cx, line + call->said,
                sizeof(line) - 1 - call->said, &moved));
        call->said += moved.size;
    }
    SIM_ALWAYS(rt_tcp_shutdown(&call->stream) == RT_OK);
    return RT_READY;
}

static void
client_cleanup(struct rt_task *task)
{
    struct call *call = rt_container_of(task, struct call, client);
    rt_io_wait_cancel(&call->client_wait);
    rt_tcp_close(&call->stream);
}

static void
client_begin(struct call *call)
{
    struct rt_net_address address = sim_node_address(sim_rt_node(call->rt), 80);
    SIM_ALWAYS(rt_tcp_connect_start(&call->stream, sim_rt_io(call->rt), &address) == RT_OK);
    rt_task_init(&call->client, client_poll, client_cleanup, "client");
    sim_spawn(call->rt, &call->client);
}

static rt_poll
server_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct call *call = rt_container_of(task, struct call, server);
    struct rt_tcp_moved moved = {RT_OK, 0};
    rt_err err = RT_OK;
    if (call->listener.state == RT_TCP_STARTED) {
        RT_AWAIT(rt_tcp_listen_finish(&call->listener, &call->server_wait, cx, &err));
        SIM_ALWAYS(err == RT_OK);
        client_begin(call); /* Earlier it could be refused. */
    }
    if (!call->accepted) {
        RT_AWAIT(rt_tcp_accept(&call->listener, &call->server_wait, cx, &call->heard_on, &err));
        SIM_ALWAYS(err == RT_OK);
        call->accepted = true;
    }
    while (moved.err == RT_OK) {
        RT_AWAIT(rt_tcp_read(&call->heard_on, &call->server_wait, cx,
                call->heard + call->heard_count, sizeof(line) - call->heard_count, &moved));
        call->heard_count += moved.size;
    }
    SIM_ALWAYS(strcmp(call->heard, line) == 0);
    return RT_READY;
}

static void
server_cleanup(struct rt_task *task)
{
    struct call *call = rt_container_of(task, struct call, server);
    rt_io_wait_cancel(&call->server_wait);
    rt_tcp_close(&call->heard_on);
    rt_tcp_listener_close(&call->listener);
}

static void
call_setup(struct sim_world *world)
{
    struct call *call = sim_new(world, struct call);
    struct sim_rt_options options = {.name = "both", .net = sim_net_new(world, NULL)};
    call->rt = sim_rt_new(world, &options);
    struct rt_net_address address = sim_node_address(sim_rt_node(call->rt), 80);
    rt_tcp_listener_init(&call->listener);
    rt_tcp_stream_init(&call->heard_on);
    rt_tcp_stream_init(&call->stream);
    rt_io_wait_init(&call->server_wait);
    rt_io_wait_init(&call->client_wait);
    SIM_ALWAYS(rt_tcp_listen_start(&call->listener, sim_rt_io(call->rt), &address, 1) == RT_OK);
    rt_task_init(&call->server, server_poll, server_cleanup, "server");
    sim_spawn(call->rt, &call->server);
}

SIM_SCENARIO(call, .name = "parts/tcp", .about = "A line is said over TCP.", .setup = call_setup);

/* ---- An operation of a completion host. ------------------------------------------------------ */

struct read {
    struct rt_task task;
    struct rt_ring ring;
    struct rt_ring_place places[2];
    struct rt_slab_entry entries[2];
    struct rt_op op;
    int32_t device;
    char text[sizeof(line)];
    size_t count;
};

static rt_poll
read_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct read *read = rt_container_of(task, struct read, task);
    struct rt_op_result result = {1, false};
    while (result.result > 0) {
        if (rt_op_state(&read->op) == RT_OP_IDLE) {
            struct rt_op_request request = {
                    .submission = {.opcode = RT_OPCODE_READ,
                            .target = read->device,
                            .buffer = read->text + read->count,
                            .size = (uint32_t)(sizeof(line) - read->count)}};
            rt_op_start(&read->op, &read->ring, &request);
        }
        RT_AWAIT(rt_op_poll(&read->op, cx, &result));
        SIM_ALWAYS(result.result >= 0);
        read->count += (size_t)result.result;
    }
    SIM_ALWAYS(read->count == sizeof(line) - 1 && memcmp(read->text, line, read->count) == 0);
    return RT_READY;
}

static void
read_cleanup(struct rt_task *task)
{
    struct read *read = rt_container_of(task, struct read, task);
    rt_op_drop(&read->op);
}

static void
read_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct read *read = sim_new(world, struct read);
    struct sim_ring *host = sim_ring_new(sim_rt_host(rt), "ring", NULL);
    struct rt_ring_config config = {.host = sim_ring_seam(host),
            .runtime = sim_rt_runtime(rt),
            .places = read->places,
            .entries = read->entries,
            .capacity = 2};
    SIM_ALWAYS(rt_ring_init(&read->ring, &config) == RT_OK);
    read->device =
            sim_ring_device(host, "file", line, sizeof(line) - 1, 5, 10 * RT_US, 100 * RT_US);
    rt_op_init(&read->op);
    rt_task_init(&read->task, read_poll, read_cleanup, "reader");
    sim_spawn(rt, &read->task);
    sim_set_state(world, read);
}

static void
read_check(struct sim_world *world, void *state)
{
    struct read *read = state;
    (void)world;
    rt_ring_fini(&read->ring);
}

SIM_SCENARIO(ring, .name = "parts/ring", .about = "A file is read by a completion host.",
        .setup = read_setup, .check = read_check);

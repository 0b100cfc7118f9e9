/*
 * sharded_store.c -- a key-value store on the thread-per-core runtime of article S3.
 *
 * "Tasks pinned to specific cores with no migration": each core has a separate runtime, and a part
 * of the keys. A request arrives at any shard; if another shard owns its key, that shard gets a
 * message, and the connection's task awaits the answer on its own shard. No lock; the lanes between
 * two shards are the only shared state. An operator's thread, which is no shard (an alien in
 * Seastar's words), reads the store from outside, and closes the shards: when all connections are
 * served, or (shards-shutdown) at any time, with messages in flight.
 *
 * The operator sleeps until it is woken. If it polled instead, it would wake each shard by doing
 * so, and no shard that misses a message would be found asleep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define SHARDS 3
#define KEYS 8
#define CONNECTIONS 2 /* A shard. */
#define REQUESTS 5    /* A connection. */

struct state;

/* A request: adds `amount` to the counter `key`, and returns the result. */
struct request {
    struct rt_submit submit;
    struct state *state;
    uint32_t key;
    uint32_t amount;
    uint32_t value; /* The answer. */
};

struct connection {
    struct rt_task task;
    struct state *state;
    struct rt_shard *shard;
    struct request request;
    struct rt_submit leave; /* To shard 0, which counts open connections. */
    bool leaving;
    bool asking;
    uint32_t asked;
    uint32_t last[KEYS]; /* The last answer, by key: counters only grow. */
};

/* Disk, or another wait of the owner before it answers a slow request. */
struct lookup {
    struct rt_task task;
    struct rt_sleep disk;
    struct rt_message *message;
    struct rt_shard *shard;
    bool busy;
};

struct state {
    struct sim_shard_group *group;
    bool early;              /* The operator closes the shards at any time. */
    uint32_t counters[KEYS]; /* Counter k belongs to shard k % SHARDS; no other one reads it. */
    uint32_t added;
    uint32_t refused;
    uint32_t open; /* Connections that are not served; belongs to shard 0. */
    struct connection connections[SHARDS * CONNECTIONS];
    struct lookup lookups[SHARDS];
    struct sim_loop *operator;
    struct rt_message query;
    uint32_t seen;
};

/* ---- On the owner of the key. ---------------------------------------------------------------- */

static void
add(struct request *request)
{
    struct state *state = request->state;
    state->counters[request->key] += request->amount;
    state->added++;
    request->value = state->counters[request->key];
}

static rt_poll
lookup_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct lookup *lookup = rt_container_of(task, struct lookup, task);
    RT_AWAIT(rt_sleep_poll(&lookup->disk, cx));
    add(rt_container_of(lookup->message, struct request, submit.message));
    return RT_READY;
}

/* Also when the task is cancelled: a task that has taken a message answers it. */
static void
lookup_cleanup(struct rt_task *task)
{
    struct lookup *lookup = rt_container_of(task, struct lookup, task);
    rt_err result = task->end == RT_TASK_DONE ? RT_OK : RT_E_CANCELLED;
    rt_sleep_cancel(&lookup->disk);
    lookup->busy = false;
    rt_message_answer(lookup->message, lookup->shard, result);
}

/* Key 0 of each shard is on disk, and one at a time is read; the rest is in memory. */
static void
handle_request(struct rt_message *message, struct rt_shard *shard)
{
    struct request *request = rt_container_of(message, struct request, submit.message);
    struct state *state = request->state;
    struct lookup *lookup = &state->lookups[shard->number];
    SIM_ALWAYS(request->key % SHARDS == shard->number);
    if (request->key < SHARDS && !lookup->busy) {
        lookup->busy = true;
        lookup->message = message;
        lookup->shard = shard;
        rt_sleep_init(&lookup->disk, 100 * RT_US);
        rt_task_init(&lookup->task, lookup_poll, lookup_cleanup, "lookup");
        sim_spawn_background(sim_shard_group_rt(state->group, shard->number), &lookup->task);
        return;
    }
    add(request);
    rt_message_answer(message, shard, RT_OK);
}

/* On shard 0: one connection less. */
static void
handle_leave(struct rt_message *message, struct rt_shard *shard)
{
    struct connection *connection = rt_container_of(message, struct connection, leave.message);
    struct state *state = connection->state;
    SIM_ALWAYS(shard->number == 0);
    state->open--;
    if (state->open == 0) {
        sim_loop_wake(state->operator);
    }
    rt_message_answer(message, shard, RT_OK);
}

/* ---- On the shard where the request arrived. ------------------------------------------------- */

static rt_poll
ask(struct connection *connection, struct rt_cx *cx)
{
    struct request *request = &connection->request;
    if (!connection->asking) {
        connection->asking = true;
        request->key = (connection->asked * 3 + connection->shard->number) % KEYS;
        request->amount = 1;
        rt_submit_to(&request->submit, connection->shard, request->key % SHARDS, handle_request);
    }
    RT_AWAIT(rt_future_poll(&request->submit.future, cx));
    connection->asking = false;
    connection->asked++;
    return RT_READY;
}

static rt_poll
connection_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct connection *connection = rt_container_of(task, struct connection, task);
    struct request *request = &connection->request;
    while (connection->asked < REQUESTS) {
        RT_AWAIT(ask(connection, cx));
        if (request->submit.message.result != RT_OK) {
            SIM_ALWAYS(request->submit.message.result == RT_E_CLOSED);
            connection->state->refused++;
            continue;
        }
        SIM_ALWAYS(request->value > connection->last[request->key]);
        connection->last[request->key] = request->value;
    }
    if (!connection->leaving) {
        connection->leaving = true;
        rt_submit_to(&connection->leave, connection->shard, 0, handle_leave);
    }
    return rt_future_poll(&connection->leave.future, cx);
}

/* ---- The operator's thread. ------------------------------------------------------------------ */

static void
count_open(struct rt_message *message, struct rt_shard *shard)
{
    struct state *state = rt_container_of(message, struct state, query);
    uint32_t first = shard->number * CONNECTIONS;
    for (uint32_t i = first; i < first + CONNECTIONS; i++) {
        state->seen += state->connections[i].asked;
    }
    rt_message_answer(message, shard, RT_OK);
}

/* On the shard's thread: wakes the operator. */
static void
wake_operator(struct rt_message *message, struct rt_shard *shard)
{
    struct state *state = rt_container_of(message, struct state, query);
    (void)shard;
    sim_loop_wake(state->operator);
}

/* The number of requests that `shard` has completed; only the shard itself may read it. */
static rt_err
query_shard(struct sim_world *world, struct state *state, uint32_t shard)
{
    rt_message_init(&state->query, count_open, wake_operator);
    rt_err err = rt_alien_submit(&state->query, sim_shard_group_shard(state->group, shard));
    while (err == RT_OK && !rt_message_is_idle(&state->query)) {
        sim_loop_block(world, 0, "the shard's answer", RT_HERE);
    }
    return err;
}

static bool
all_served(struct sim_world *world, struct state *state)
{
    state->seen = 0;
    for (uint32_t i = 0; i < SHARDS; i++) {
        SIM_ALWAYS(query_shard(world, state, i) == RT_OK);
    }
    return state->seen == SHARDS * CONNECTIONS * REQUESTS;
}

static void
operator_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    if (state->early) {
        sim_sleep(world, sim_range(world, 0, 200 * RT_US));
    } else {
        while (state->open > 0) {
            sim_loop_block(world, 0, "the last connection to be served", RT_HERE);
        }
        SIM_ALWAYS(all_served(world, state));
    }
    rt_shards_close(sim_shard_group_shards(state->group));
    if (state->early) {
        rt_err err = query_shard(world, state, 0);
        SIM_ALWAYS(err == RT_OK || err == RT_E_CLOSED);
    }
}

/* ---- Both scenarios. ------------------------------------------------------------------------- */

static void
open_connection(struct state *state, uint32_t number)
{
    static const char *const names[SHARDS * CONNECTIONS] = {"connection 0a", "connection 0b",
            "connection 1a", "connection 1b", "connection 2a", "connection 2b"};
    struct connection *connection = &state->connections[number];
    uint32_t shard = number / CONNECTIONS;
    connection->state = connection->request.state = state;
    connection->shard = sim_shard_group_shard(state->group, shard);
    rt_task_init(&connection->task, connection_poll, NULL, names[number]);
    sim_spawn_background(sim_shard_group_rt(state->group, shard), &connection->task);
}

static void
begin(struct sim_world *world, bool early)
{
    struct state *state = sim_new(world, struct state);
    struct sim_shard_group_options options = {.count = SHARDS, .lane_capacity = 2};
    state->early = early;
    state->group = sim_shard_group_new(world, &options);
    for (uint32_t i = 0; i < SHARDS * CONNECTIONS; i++) {
        open_connection(state, i);
    }
    state->open = SHARDS * CONNECTIONS;
    state->operator= sim_loop_new(world, "operator", operator_main, state);
    sim_set_state(world, state);
}

static void
setup(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_shutdown(struct sim_world *world)
{
    begin(world, true);
}

/* Each request was counted once, where it was answered, or refused. */
static void
check(struct sim_world *world, void *argument)
{
    const struct state *state = argument;
    uint32_t sum = 0;
    (void)world;
    for (uint32_t i = 0; i < KEYS; i++) {
        sum += state->counters[i];
    }
    SIM_ALWAYS(sum == state->added);
    SIM_ALWAYS(state->early || state->added == SHARDS * CONNECTIONS * REQUESTS);
    for (uint32_t i = 0; i < SHARDS * CONNECTIONS; i++) {
        SIM_ALWAYS(rt_submit_is_over(&state->connections[i].request.submit));
        SIM_ALWAYS(rt_submit_is_over(&state->connections[i].leave));
    }
}

/* A request that was sent is answered: its sender waits for the answer. */
SIM_SCENARIO(seed3_sharded_store, .name = "articles/s3/sharded-store",
        .about = "Thread per core: a request arrives at one shard, another owns its key.",
        .setup = setup, .check = check, .survives = SIM_FAULT_ALL & ~SIM_FAULT_CANCEL);
SIM_SCENARIO(seed3_shards_shutdown, .name = "articles/s3/shards-shutdown",
        .about = "The sharded store is closed while messages are in flight.",
        .setup = setup_shutdown, .check = check, .survives = SIM_FAULT_ALL & ~SIM_FAULT_CANCEL);

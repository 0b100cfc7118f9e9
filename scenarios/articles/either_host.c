/*
 * either_host.c -- one small server, on a host of readiness and on a host of completions.
 *
 * The article on WASI (S1) closes with the remark that its host reports "now you may read", while
 * io_uring, and what follows WASI 0.2, reports "it has been read". The article on a custom runtime
 * (S3) names the same trade: epoll, or io_uring at the cost of portability.
 *
 * So here is one program twice. Three clients send a line each, in pieces; for each a task reads
 * the line and answers it. A client that takes too long times out: the read in flight is cancelled,
 * and the answer is 408. The tasks are the same code; the two hosts differ in `struct wire` alone:
 *
 *      readiness      read; if nothing is there, wait until there is, and read again. To cancel is
 *                     to stop waiting.
 *      completions    submit the buffer, wait until it is returned. To cancel is to request its
 *                     return; the result may still be that bytes have arrived.
 *
 * The task may be cancelled at any point (fault `cancel`), also with a read in flight. Its cleanup
 * drops the operation and closes the connection, and neither ends what the host does (U2, U6): the
 * task does not own the memory of the buffers. The ring has two places for three tasks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/rewake.h"

#define CLIENTS 3
#define PLACES 2

static const char *const lines[CLIENTS] = {"GET /a\n", "GET /long/path\n", "GET /c\n"};
static const char *const too_slow = "408 too slow\n";

struct connection;

/* A task's interface to its host. Results are bytes, 0 at the end, or RT_E_CANCELLED. */
struct wire {
    rt_poll (*read)(struct connection *connection, struct rt_cx *cx, int32_t *ret_result);
    rt_poll (*write)(struct connection *connection, struct rt_cx *cx, int32_t *ret_result);
    void (*give_up)(struct connection *connection); /* Ends the read in flight. */
    void (*close)(struct connection *connection);
};

struct readiness {
    struct sim_input *input;
    struct sim_output *output;
    struct rt_pollable readable;
    struct rt_pollable writable;
    struct rt_wait wait;
    bool given_up;
};

struct completions {
    struct rt_op op;
    struct rt_ring *ring;
    struct sim_ring *host;
    int32_t number;
};

struct connection {
    struct rt_task task;
    const struct wire *wire;
    struct readiness readiness;
    struct completions completions;
    struct rt_sleep patience;
    bool impatient;
    bool answering;
    bool answered;
    size_t got;
    size_t sent;
    char request[32];
    char answer[40];
};

struct state {
    struct sim_rt *rt;
    struct connection connections[CLIENTS];
    struct sim_ring *host; /* NULL on readiness. */
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
};

/* ---- The program. ---------------------------------------------------------------------------- */

static bool
line_is_there(const struct connection *connection)
{
    return memchr(connection->request, '\n', connection->got) != NULL;
}

static rt_poll
read_line(struct connection *connection, struct rt_cx *cx)
{
    int32_t result = 1;
    while (result > 0 && !line_is_there(connection)) {
        if (!connection->impatient && rt_sleep_poll(&connection->patience, cx) == RT_READY) {
            connection->impatient = true;
            connection->wire->give_up(connection);
        }
        RT_AWAIT(connection->wire->read(connection, cx, &result));
        connection->got += result > 0 ? (size_t)result : 0;
        result = connection->impatient ? 0 : result;
    }
    return RT_READY;
}

static void
compose_answer(struct connection *connection)
{
    if (!line_is_there(connection)) {
        memcpy(connection->answer, too_slow, strlen(too_slow) + 1);
    } else {
        memcpy(connection->answer, "200 ", 4);
        memcpy(connection->answer + 4, connection->request, connection->got);
    }
    connection->answering = true;
}

static rt_poll
serve(struct rt_task *task, struct rt_cx *cx)
{
    struct connection *connection = rt_container_of(task, struct connection, task);
    if (!connection->answering) {
        RT_AWAIT(read_line(connection, cx));
        compose_answer(connection);
    }
    while (connection->sent < strlen(connection->answer)) {
        int32_t result = 0;
        RT_AWAIT(connection->wire->write(connection, cx, &result));
        SIM_ALWAYS(result > 0);
        connection->sent += (size_t)result;
    }
    connection->answered = true;
    return RT_READY;
}

static void
cleanup(struct rt_task *task)
{
    struct connection *connection = rt_container_of(task, struct connection, task);
    (void)rt_sleep_cancel(&connection->patience);
    connection->wire->close(connection);
}

/* ---- On readiness. --------------------------------------------------------------------------- */

static rt_poll
ready_read(struct connection *connection, struct rt_cx *cx, int32_t *ret_result)
{
    struct readiness *own = &connection->readiness;
    for (;;) {
        size_t size = 0;
        rt_err err = sim_input_read(own->input, connection->request + connection->got,
                sizeof(connection->request) - connection->got, &size);
        if (err != RT_E_AGAIN || own->given_up) {
            rt_wait_cancel(&own->wait);
            *ret_result = err == RT_E_AGAIN ? RT_E_CANCELLED : (int32_t)size;
            return RT_READY;
        }
        RT_AWAIT(rt_wait_for(&own->wait, &own->readable, cx));
    }
}

static rt_poll
ready_write(struct connection *connection, struct rt_cx *cx, int32_t *ret_result)
{
    struct readiness *own = &connection->readiness;
    const char *rest = connection->answer + connection->sent;
    size_t size = 0;
    while (sim_output_write(own->output, rest, strlen(rest), &size) == RT_E_AGAIN) {
        RT_AWAIT(rt_wait_for(&own->wait, &own->writable, cx));
    }
    *ret_result = (int32_t)size;
    return RT_READY;
}

static void
ready_give_up(struct connection *connection)
{
    connection->readiness.given_up = true;
}

static void
ready_close(struct connection *connection)
{
    struct readiness *own = &connection->readiness;
    rt_wait_cancel(&own->wait);
    rt_pollable_drop(&own->readable);
    rt_pollable_drop(&own->writable);
    SIM_ALWAYS(sim_input_drop(own->input) == RT_OK);
}

static const struct wire readiness_wire = {ready_read, ready_write, ready_give_up, ready_close};

/* ---- On completions. ------------------------------------------------------------------------- */

/* One operation at a time: it is started when none is in flight. */
static rt_poll
operate(struct connection *connection, enum rt_opcode opcode, char *buffer, size_t size,
        struct rt_cx *cx, int32_t *ret_result)
{
    struct completions *own = &connection->completions;
    if (rt_op_state(&own->op) == RT_OP_IDLE) {
        struct rt_op_request request = {.submission = {.opcode = opcode,
                                                .target = own->number,
                                                .buffer = buffer,
                                                .size = (uint32_t)size}};
        rt_op_start(&own->op, own->ring, &request);
    }
    struct rt_op_result result;
    RT_AWAIT(rt_op_poll(&own->op, cx, &result));
    *ret_result = result.result;
    return RT_READY;
}

static rt_poll
complete_read(struct connection *connection, struct rt_cx *cx, int32_t *ret_result)
{
    return operate(connection, RT_OPCODE_READ, connection->request + connection->got,
            sizeof(connection->request) - connection->got, cx, ret_result);
}

static rt_poll
complete_write(struct connection *connection, struct rt_cx *cx, int32_t *ret_result)
{
    char *rest = connection->answer + connection->sent;
    return operate(connection, RT_OPCODE_WRITE, rest, strlen(rest), cx, ret_result);
}

static void
complete_give_up(struct connection *connection)
{
    rt_op_cancel(&connection->completions.op);
}

static void
complete_close(struct connection *connection)
{
    struct completions *own = &connection->completions;
    rt_op_drop(&own->op);
    SIM_ALWAYS(sim_ring_close(own->host, own->number) == RT_OK);
}

static const struct wire completions_wire = {
        complete_read, complete_write, complete_give_up, complete_close};

/* ---- Both. ----------------------------------------------------------------------------------- */

/* A host without capacity (fault `capacity`) is tried again. */
static void
listen(struct readiness *own, struct sim_host *host, const char *line)
{
    own->input = sim_input_new(host, "request", line, strlen(line), 8, 1 * RT_MS, 4 * RT_MS);
    own->output = sim_output_new(host, "answer", 8, 1 * RT_MS, 4 * RT_MS);
    rt_wait_init(&own->wait);
    while (sim_input_subscribe(own->input, &own->readable) == RT_E_FULL) {
    }
    while (sim_output_subscribe(own->output, &own->writable) == RT_E_FULL) {
    }
}

static struct state *
begin(struct sim_world *world)
{
    struct state *state = sim_new(world, struct state);
    state->rt = sim_rt_new(world, NULL);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct connection *connection = &state->connections[i];
        rt_sleep_init(&connection->patience,
                sim_range(world, 20 * RT_MS, 21 * RT_MS) - sim_pick(world, 3) * 9 * RT_MS);
        rt_task_init(&connection->task, serve, cleanup, "server");
    }
    sim_set_state(world, state);
    return state;
}

static void
setup_readiness(struct sim_world *world)
{
    struct state *state = begin(world);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct connection *connection = &state->connections[i];
        connection->wire = &readiness_wire;
        listen(&connection->readiness, sim_rt_host(state->rt), lines[i]);
        sim_spawn(state->rt, &connection->task);
    }
}

static void
setup_completions(struct sim_world *world)
{
    struct state *state = begin(world);
    struct sim_ring_options small = {.submissions = 1, .completions = 1};
    state->host = sim_ring_new(sim_rt_host(state->rt), "ring", &small);
    struct rt_ring_config config = {.host = sim_ring_seam(state->host),
            .runtime = sim_rt_runtime(state->rt),
            .places = state->places,
            .entries = state->entries,
            .capacity = PLACES};
    SIM_ALWAYS(rt_ring_init(&state->ring, &config) == RT_OK);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct connection *connection = &state->connections[i];
        struct completions *own = &connection->completions;
        connection->wire = &completions_wire;
        rt_op_init(&own->op);
        own->ring = &state->ring;
        own->host = state->host;
        own->number = sim_ring_device(
                state->host, "connection", lines[i], strlen(lines[i]), 8, 1 * RT_MS, 4 * RT_MS);
        sim_spawn(state->rt, &connection->task);
    }
}

static const char *
written(const struct state *state, uint32_t client, size_t *ret_size)
{
    const struct connection *connection = &state->connections[client];
    if (state->host == NULL) {
        return sim_output_written(connection->readiness.output, ret_size);
    }
    return sim_ring_written(state->host, connection->completions.number, ret_size);
}

/* A client that was answered has its own line, or was too slow. */
static void
check(struct sim_world *world, void *argument)
{
    const struct state *state = argument;
    (void)world;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        size_t size = 0;
        const char *text = written(state, i, &size);
        if (!state->connections[i].answered) {
            continue;
        }
        bool refused = size == strlen(too_slow) && memcmp(text, too_slow, size) == 0;
        bool served = size == 4 + strlen(lines[i]) && memcmp(text, "200 ", 4) == 0 &&
                      memcmp(text + 4, lines[i], size - 4) == 0;
        SIM_ALWAYS(refused || served);
    }
}

SIM_SCENARIO(seed3_readiness, .name = "articles/s3/answer-by-readiness",
        .about = "Three requests read and answered, some timed out, on a host of readiness.",
        .setup = setup_readiness, .check = check, .survives = SIM_FAULT_ALL);
SIM_SCENARIO(seed1_completions, .name = "articles/s1/answer-by-completion",
        .about = "The same three requests by the same code on a host of completions.",
        .setup = setup_completions, .check = check, .survives = SIM_FAULT_ALL);

/*
 * socket.c -- the proposal's small socket example (S4), in polls and in callbacks.
 *
 * The peer sends a line in chunks and then nothing more; every letter is returned in upper case.
 * The host delays, splits and spuriously reports. The two programs are in separate files, and this
 * one calls only their start functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "scenarios/articles/socket.h"
#include "sim/rewake.h"

#define LINE "all work and no play makes jack a dull boy"
#define RAISED "ALL WORK AND NO PLAY MAKES JACK A DULL BOY"
#define SIZE (sizeof(LINE) - 1)

struct state {
    struct socket socket;
    struct sim_input *input;
    struct sim_output *output;
    struct echo_task polls;
    struct echo_callbacks callbacks;
    bool by_callbacks;
    uint32_t done;
};

void
socket_process(char *data, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        bool small = data[i] >= 'a' && data[i] <= 'z';
        data[i] = (char)(small ? data[i] - 'a' + 'A' : data[i]);
    }
}

static struct state *
state_of(struct socket *socket)
{
    return rt_container_of(socket, struct state, socket);
}

static rt_err
receive(struct socket *socket, char *data, uint32_t size, uint32_t *ret_size)
{
    size_t moved = 0;
    rt_err err = sim_input_read(state_of(socket)->input, data, size, &moved);
    *ret_size = (uint32_t)moved;
    return err;
}

static rt_err
send(struct socket *socket, const char *data, uint32_t size, uint32_t *ret_size)
{
    size_t moved = 0;
    rt_err err = sim_output_write(state_of(socket)->output, data, size, &moved);
    *ret_size = (uint32_t)moved;
    return err;
}

static void
done(void *argument, rt_err status)
{
    struct state *state = argument;
    SIM_ALWAYS(status == RT_OK);
    state->done++;
}

static struct state *
set_up_socket(struct sim_world *world, struct sim_rt *rt)
{
    struct state *state = sim_new(world, struct state);
    struct sim_host *host = sim_rt_host(rt);
    state->input = sim_input_new(host, "peer's line", LINE, SIZE, 12, 1 * RT_MS, 9 * RT_MS);
    state->output = sim_output_new(host, "peer's ear", 7, 1 * RT_MS, 9 * RT_MS);
    state->socket.receive = receive;
    state->socket.send = send;
    SIM_ALWAYS(sim_input_subscribe(state->input, &state->socket.readable) == RT_OK);
    SIM_ALWAYS(sim_output_subscribe(state->output, &state->socket.writable) == RT_OK);
    sim_set_state(world, state);
    return state;
}

static void
set_up_polls(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct state *state = set_up_socket(world, rt);
    echo_task_init(&state->polls, &state->socket);
    sim_spawn(rt, &state->polls.task);
}

static void
set_up_callbacks(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct state *state = set_up_socket(world, rt);
    state->by_callbacks = true;
    SIM_ALWAYS(echo_callbacks_start(&state->callbacks, sim_rt_executor(rt), &state->socket, done,
                       state) == RT_OK);
}

static void
check(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    size_t size = 0;
    const char *written = sim_output_written(state->output, &size);
    (void)world;
    SIM_ALWAYS(size == SIZE && memcmp(written, RAISED, SIZE) == 0);
    SIM_ALWAYS(state->done == (state->by_callbacks ? 1 : 0));
    rt_pollable_drop(&state->socket.readable);
    rt_pollable_drop(&state->socket.writable);
}

/* The message must be sent: a task that is cancelled, or refused a pollable, sends none. */
SIM_SCENARIO(seed4_socket_polls, .name = "articles/s4/socket-polls",
        .about = "Receive, process, send, as one task that is polled.", .setup = set_up_polls,
        .check = check, .survives = SIM_FAULT_ALL & ~(SIM_FAULT_CANCEL | SIM_FAULT_CAPACITY));
SIM_SCENARIO(seed4_socket_callbacks, .name = "articles/s4/socket-callbacks",
        .about = "Receive, process, send, as callbacks that schedule each other.",
        .setup = set_up_callbacks, .check = check,
        .survives = SIM_FAULT_ALL & ~(SIM_FAULT_CANCEL | SIM_FAULT_CAPACITY));

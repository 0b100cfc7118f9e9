/*
 * proxy_one_message.c -- the example of Pigweed's proposal (S4): receive a message, then send it.
 *
 * ProxyOneMessage::Poll, in C: if there is no send future yet, PollRead; when there is data, start
 * to send it; then poll the send. The test drives the dispatcher as the proposal's testing
 * functions do: run until stalled, check, advance the mock clock, run until stalled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/rewake.h"

/* How far the test moves the mock clock at a time. The host is not polled in between, and a poll
 * may report some of what is ready and leave the rest to the next one: a wake may be that late,
 * so the scenario declares that slack. */
#define TICK (5 * RT_MS)
#define SLACK (10 * TICK)

#define MESSAGE "Hello from the receiver"
#define SIZE (sizeof(MESSAGE) - 1)

struct proxy {
    struct rt_task task;
    struct sim_input *receiver;
    struct sim_output *sender;
    struct rt_pollable readable;
    struct rt_pollable writable;
    struct rt_wait wait;
    char data[SIZE];
    size_t received;
    size_t sent;
    bool cleaned;
};

struct state {
    struct sim_rt *rt;
    struct proxy proxy;
    uint32_t rounds; /* Of run-until-stalled and advance. */
    bool completed;
};

/* PollRead: READY when the whole message has arrived. */
static rt_poll
poll_read(struct proxy *proxy, struct rt_cx *cx)
{
    while (proxy->received < SIZE) {
        size_t size = 0;
        rt_err err = sim_input_read(
                proxy->receiver, proxy->data + proxy->received, SIZE - proxy->received, &size);
        if (err == RT_E_AGAIN) {
            RT_AWAIT(rt_wait_for(&proxy->wait, &proxy->readable, cx));
        }
        SIM_ALWAYS(err != RT_E_CLOSED);
        proxy->received += size;
    }
    return RT_READY;
}

/* SendFuture::Poll: READY when the sender has accepted everything. */
static rt_poll
poll_send(struct proxy *proxy, struct rt_cx *cx)
{
    while (proxy->sent < SIZE) {
        size_t size = 0;
        rt_err err = sim_output_write(
                proxy->sender, proxy->data + proxy->sent, SIZE - proxy->sent, &size);
        if (err == RT_E_AGAIN) {
            RT_AWAIT(rt_wait_for(&proxy->wait, &proxy->writable, cx));
        }
        proxy->sent += size;
    }
    return RT_READY;
}

static rt_poll
proxy_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct proxy *proxy = rt_container_of(task, struct proxy, task);
    RT_AWAIT(poll_read(proxy, cx));
    return poll_send(proxy, cx);
}

/* The proposal's Cleanup: the task will not be touched again, its resources are returned. */
static void
proxy_cleanup(struct rt_task *task)
{
    struct proxy *proxy = rt_container_of(task, struct proxy, task);
    rt_wait_cancel(&proxy->wait);
    rt_pollable_drop(&proxy->readable);
    rt_pollable_drop(&proxy->writable);
    proxy->cleaned = true;
}

/* The test of the proposal: RunUntilStalled, AdvanceMockTime, again. Polling the host is
 * internal to the dispatcher in Pigweed; here it is a turn that does not block. */
static void
test_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    struct rt_runtime *runtime = sim_rt_runtime(state->rt);
    struct rt_run_result result = {0, 1, RT_STALL_SLEEPING};
    SIM_ALWAYS(rt_post(&runtime->executor, &state->proxy.task) == RT_OK);
    while (result.remaining > 0) {
        SIM_ALWAYS(rt_run_until_stalled(&runtime->executor, UINT64_MAX, &result) == RT_OK);
        if (result.remaining > 0) {
            SIM_ALWAYS(result.stall == RT_STALL_SLEEPING);
            sim_sleep(world, TICK);
            SIM_ALWAYS(rt_runtime_turn(runtime, RT_TURN_POLL, NULL) == RT_OK);
        }
        state->rounds++;
    }
    SIM_ALWAYS(result.stall == RT_STALL_COMPLETE);
    state->completed = true;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.by_loop = true};
    struct state *state = sim_new(world, struct state);
    state->rt = sim_rt_new(world, &options);
    struct sim_host *host = sim_rt_host(state->rt);
    struct proxy *proxy = &state->proxy;
    proxy->receiver = sim_input_new(host, "receiver", MESSAGE, SIZE, 10, 1 * RT_MS, 9 * RT_MS);
    proxy->sender = sim_output_new(host, "sender", 7, 1 * RT_MS, 9 * RT_MS);
    SIM_ALWAYS(sim_input_subscribe(proxy->receiver, &proxy->readable) == RT_OK);
    SIM_ALWAYS(sim_output_subscribe(proxy->sender, &proxy->writable) == RT_OK);
    rt_wait_init(&proxy->wait);
    rt_task_init(&proxy->task, proxy_poll, proxy_cleanup, "proxy");
    (void)sim_loop_new(world, "test", test_main, state);
    sim_set_state(world, state);
}

static void
check(struct sim_world *world, void *argument)
{
    const struct state *state = argument;
    size_t size = 0;
    const char *written = sim_output_written(state->proxy.sender, &size);
    (void)world;
    SIM_ALWAYS(state->completed && state->proxy.cleaned);
    SIM_ALWAYS(size == SIZE && memcmp(written, MESSAGE, SIZE) == 0);
}

/* The message must be sent: a proxy that is cancelled, or refused a pollable, sends none. */
SIM_SCENARIO(seed4_proxy, .name = "articles/s4/proxy-one-message",
        .about = "Read one message, then send it: run until stalled, advance the mock clock.",
        .setup = setup, .check = check, .slack_ns = SLACK,
        .survives = SIM_FAULT_ALL & ~(SIM_FAULT_CANCEL | SIM_FAULT_CAPACITY));

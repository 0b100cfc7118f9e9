/*
 * cpython-86296.c -- a cancellation request is dropped when the answer arrives in the same turn.
 *
 * python/cpython#86296 (bpo-42130, asyncio.wait_for; the same tie: python/asyncio#343).
 *
 * The bug. wait_for awaits something with a time limit. When it is cancelled meanwhile and the
 * awaited future is done, it returns that result: `if fut.done(): return fut.result()`. The caller
 * gets its result and continues; the cancellation is lost, as asyncio raises it once.
 *
 * The fix. A cancellation is raised even if a result arrives in the same turn; the result stays
 * where it is: cancelled_first below.
 *
 * Here. A session waits with a limit for its first request, then for further ones without one. An
 * operator asks it to end and waits until it has. The answer, the cancellation and the limit may
 * all occur within one millisecond.
 *
 * Cause: coalesced in operator_poll or not-a-wake in wait_for_poll or session_poll
 * Must end in: deadlock of the operator, which waits for a session that waits for requests. Fails
 * on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/channel.h"
#include "sim/rewake.h"

/* A receive with a limit, in a task that can be cancelled. */
struct wait_for {
    struct rt_timeout timeout;
    struct rt_recv recv;
    bool broken;
    rt_err err; /* After READY: RT_OK, RT_E_CANCELLED, or RT_E_AGAIN: the limit has passed. */
};

struct state {
    struct rt_channel requests;
    bool ring[1];
    struct rt_task session;
    struct wait_for wait;
    bool waits;
    bool raised; /* The cancellation has been raised: once. */
    bool request;
    uint32_t served;
    struct rt_task client;
    struct rt_sleep until_request;
    struct rt_task operator;
    struct rt_sleep until_end;
    bool asked;
};

static void
wait_for_init(struct wait_for *wait, struct rt_channel *channel, bool *item, uint64_t limit_ns)
{
    rt_recv_init(&wait->recv, channel, item);
    rt_timeout_init(&wait->timeout, &wait->recv.future, limit_ns);
}

static rt_poll
finish(struct wait_for *wait, rt_err err)
{
    rt_timeout_drop(&wait->timeout);
    wait->err = err;
    return RT_READY;
}

/* Whether a cancellation takes precedence over a result of the same turn. */
static bool
cancelled_first(const struct wait_for *wait, bool cancelled)
{
    return cancelled && !wait->broken;
}

/* `cancelled`: this poll raises the cancellation. */
static rt_poll
wait_for_poll(struct wait_for *wait, bool cancelled, struct rt_cx *cx)
{
    if (cancelled_first(wait, cancelled)) {
        return finish(wait, RT_E_CANCELLED);
    }
    if (rt_timeout_poll(&wait->timeout, cx) == RT_READY) {
        wait->err = wait->timeout.expired ? RT_E_AGAIN : wait->recv.err;
        return RT_READY;
    }
    return cancelled ? finish(wait, RT_E_CANCELLED) : RT_PENDING;
}

static rt_poll
session_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, session);
    for (;;) {
        if (!state->waits) {
            uint64_t limit_ns = state->served == 0 ? RT_MS : RT_NEVER;
            wait_for_init(&state->wait, &state->requests, &state->request, limit_ns);
            state->waits = true;
        }
        bool cancelled = rt_task_cancel_asked(task) && !state->raised;
        state->raised = state->raised || cancelled;
        RT_AWAIT(wait_for_poll(&state->wait, cancelled, cx));
        state->waits = false;
        if (state->wait.err != RT_OK) {
            return RT_READY;
        }
        state->served++;
    }
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, client);
    bool request = true;
    RT_AWAIT(rt_sleep_poll(&state->until_request, cx));
    SIM_ALWAYS(rt_channel_try_send(&state->requests, &request) == RT_OK);
    return RT_READY;
}

static rt_poll
operator_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, operator);
    if (!state->asked) {
        RT_AWAIT(rt_sleep_poll(&state->until_end, cx));
        state->asked = true;
        rt_task_ask_cancel(&state->session);
    }
    return rt_task_join(&state->session, cx);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct state *state = sim_new(world, struct state);
    struct rt_channel_config config = {state->ring, sizeof(state->ring[0]), 1, NULL, NULL};
    state->wait.broken = broken;
    rt_channel_init(&state->requests, &config);
    rt_sleep_until(&state->until_request, sim_pick(world, 2) == 0 ? RT_MS / 2 : RT_MS);
    rt_sleep_until(&state->until_end, sim_pick(world, 2) == 0 ? 2 * RT_MS : RT_MS);
    rt_task_init(&state->session, session_poll, NULL, "session");
    rt_task_init(&state->client, client_poll, NULL, "client");
    rt_task_init(&state->operator, operator_poll, NULL, "operator");
    sim_spawn(rt, &state->session);
    sim_spawn(rt, &state->client);
    sim_spawn(rt, &state->operator);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_cpython_86296_broken, .name = "zoo/cpython-86296/broken", .bug = "C04",
        .reference = "python/cpython#86296",
        .about = "A cancellation is lost when the answer arrives in the same turn.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(zoo_cpython_86296_fixed, .name = "zoo/cpython-86296/fixed",
        .about = "A cancellation is raised, whatever arrives in the same turn.",
        .setup = setup_fixed);

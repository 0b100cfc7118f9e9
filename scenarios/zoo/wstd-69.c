/*
 * wstd-69.c -- block_on polls the host after every poll, even if that poll has woken its future.
 *
 * bytecodealliance/wstd#69, fixed by #71. wstd is an async runtime for WASI 0.2 components.
 *
 * The bug. block_on polled its future with a noop waker, and after each PENDING it blocked in the
 * reactor. Two halves of one join that communicate over a channel wake each other inside one poll:
 * the message is sent, its receiver is woken, and no pollable is waited for. The reactor refused to
 * block on an empty list and the program aborted, with the message that no progress was possible,
 * while one half could make progress.
 *
 * The fix. A real waker for the root: if it was woken during its poll, it is polled again before
 * the loop blocks (B1). wstd-69.patch removes that from runtime/runtime.c: one poll a round, and a
 * turn that blocks even if a task is woken.
 *
 * Here. A page is made of a template and of data. One half fetches the template, then receives the
 * data from the other half, which fetches and sends them. If the template is last, the data are
 * there when they are received. If the data are last, the send wakes the receiver in the same poll,
 * and block_on returns RT_E_DEADLOCK (the reactor refuses an empty list, R5). main records the
 * runtime's own report, which names no blocked task, and ends. Only the loop is wrong: polled once
 * more, the root finishes. So this is no deadlock, and rewake does not report one.
 *
 * Cause: coalesced in loader_poll or rt_runtime_turn or not-a-wake in rt_runtime_turn
 * Must end in: lost-wakeup of the root. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

/* One item from one sender to one receiver. */
struct oneshot {
    struct rt_slot receiver;
    bool sent;
};

/* One fetch from the host. */
struct fetch {
    struct sim_source *source;
    struct rt_pollable pollable;
    struct rt_wait wait;
    bool done;
};

struct half {
    struct rt_future future;
    struct fetch fetch;
    struct oneshot *oneshot;
};

struct state {
    struct sim_rt *rt;
    struct rt_task root;
    struct rt_join join;
    struct rt_child children[2];
    struct half renderer;
    struct half loader;
    struct oneshot oneshot;
};

static rt_poll
fetch_poll(struct fetch *fetch, struct rt_cx *cx)
{
    while (!fetch->done) {
        if (sim_source_take(fetch->source) == RT_E_AGAIN) {
            RT_AWAIT(rt_wait_for(&fetch->wait, &fetch->pollable, cx));
            continue;
        }
        rt_wait_cancel(&fetch->wait);
        rt_pollable_drop(&fetch->pollable);
        fetch->done = true;
    }
    return RT_READY;
}

/* Fetches the template, receives the data, and completes the page. */
static rt_poll
renderer_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct half *renderer = rt_container_of(future, struct half, future);
    RT_AWAIT(fetch_poll(&renderer->fetch, cx));
    if (!renderer->oneshot->sent) {
        rt_slot_replace(&renderer->oneshot->receiver, cx, "the data");
        return RT_PENDING;
    }
    return RT_READY;
}

/* Fetches the data and sends them. */
static rt_poll
loader_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct half *loader = rt_container_of(future, struct half, future);
    RT_AWAIT(fetch_poll(&loader->fetch, cx));
    loader->oneshot->sent = true;
    rt_slot_wake(&loader->oneshot->receiver);
    return RT_READY;
}

static rt_poll
root_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, root);
    return rt_join_poll(&state->join, cx);
}

static void
main_loop(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    struct rt_runtime *runtime = sim_rt_runtime(state->rt);
    if (rt_block_on(runtime, &state->root) == RT_E_DEADLOCK) {
        char report[128];
        uint32_t waiters = rt_runtime_report(runtime, report, sizeof(report));
        sim_log(world, "block_on: deadlock; asleep: %u %s", waiters, report);
    }
}

static void
half_init(struct half *half, struct state *state, rt_future_poll_fn poll, const char *name,
        const char *resource)
{
    struct fetch *fetch = &half->fetch;
    fetch->source = sim_source_new(sim_rt_host(state->rt), resource);
    SIM_ALWAYS(sim_source_subscribe(fetch->source, &fetch->pollable) == RT_OK);
    rt_wait_init(&fetch->wait);
    half->oneshot = &state->oneshot;
    rt_future_init(&half->future, poll, NULL, name);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.by_loop = true};
    struct state *state = sim_new(world, struct state);
    state->rt = sim_rt_new(world, &options);
    rt_slot_init(&state->oneshot.receiver);
    half_init(&state->renderer, state, renderer_poll, "renderer", "template");
    half_init(&state->loader, state, loader_poll, "loader", "data");
    sim_source_event_in(state->renderer.fetch.source, 2 * RT_MS, 20 * RT_MS);
    sim_source_event_in(state->loader.fetch.source, 1 * RT_MS, 20 * RT_MS);
    state->children[0].future = &state->renderer.future;
    state->children[1].future = &state->loader.future;
    rt_join_init(&state->join, state->children, 2);
    rt_task_init(&state->root, root_poll, NULL, "root");
    (void)sim_loop_new(world, "main", main_loop, state);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_wstd_69_broken, .name = "zoo/wstd-69/broken", .bug = "D22",
        .reference = "bytecodealliance/wstd#69",
        .about = "block_on polls the host although its future was woken by a part of itself.",
        .setup = setup, .expect = SIM_VERDICT_LOST_WAKEUP);
#else
SIM_SCENARIO(zoo_wstd_69_fixed, .name = "zoo/wstd-69/fixed",
        .about = "block_on polls a future again that was woken by a part of itself.",
        .setup = setup);
#endif

/*
 * noop_block_on.c -- the WASI article's own block_on (S1), with its noop waker.
 *
 *      let waker = noop_waker();
 *      loop {
 *          match fut.as_mut().poll(&mut cx) {
 *              Poll::Ready(res) => return res,
 *              Poll::Pending => reactor.block_until(),
 *          }
 *      }
 *
 * No executor: without a spawn there is one future, which is polled again whenever the reactor has
 * reported an event, whatever it woke. The wakers matter below it: "concurrency primitives may
 * construct their own wakers", so the reactor calls every waker, and the join polls only the child
 * that was woken.
 *
 * The future is a join of two requests and a sleep that is made as in the article, of
 * subscribe_duration and wait_for. None of them wakes itself while it is polled: this block_on
 * would miss that wake, which is why the runtime has another one (B1; zoo/wstd-71).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenarios/articles/client.h"

#define NAP (10 * RT_MS)

static const struct page pages[2] = {
        {"GET /a", "It was a dark and stormy night.", 8, 1 * RT_MS, 20 * RT_MS},
        {"GET /b", "Call me Ishmael. Some years ago -", 8, 1 * RT_MS, 20 * RT_MS},
};

/* ---- pub async fn sleep(duration, reactor) --------------------------------------------------- */

struct nap {
    struct rt_future future;
    struct rt_host *host;
    struct rt_pollable pollable;
    struct rt_wait wait;
    bool subscribed;
};

static rt_poll
nap_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct nap *nap = rt_container_of(future, struct nap, future);
    if (!nap->subscribed) {
        SIM_ALWAYS(rt_subscribe_duration(nap->host, NAP, &nap->pollable) == RT_OK);
        nap->subscribed = true;
    }
    RT_AWAIT(rt_wait_for(&nap->wait, &nap->pollable, cx));
    rt_pollable_drop(&nap->pollable);
    return RT_READY;
}

/* ---- pub fn block_on(f) ---------------------------------------------------------------------- */

struct state {
    struct sim_rt *rt;
    struct rt_join join;
    struct rt_child children[3];
    struct fetch fetches[2];
    struct nap nap;
    bool answered;
};

/* One poll with a noop waker. Its task is never posted: waits are listed in it. */
static rt_poll
poll_once(struct rt_future *future, struct rt_executor *executor, struct rt_task *carrier)
{
    struct rt_cx cx;
    rt_cx_init(&cx, executor, carrier, rt_waker_noop());
    rt_poll answer = rt_future_poll(future, &cx);
    rt_cx_poison(&cx);
    return answer;
}

static rt_poll
never_polled(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    return rt_cx_park(cx);
}

static void
block_on(struct rt_runtime *runtime, struct rt_future *future)
{
    struct rt_task carrier;
    rt_task_init(&carrier, never_polled, NULL, "block_on");
    while (poll_once(future, &runtime->executor, &carrier) == RT_PENDING) {
        uint32_t woken = 0;
        SIM_ALWAYS(rt_reactor_turn(&runtime->reactor, RT_TURN_BLOCK, NULL, 0, &woken) == RT_OK);
    }
    rt_task_fini(&carrier);
}

static void
main_loop(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    (void)world;
    block_on(sim_rt_runtime(state->rt), &state->join.future);
    state->answered = true;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.by_loop = true};
    struct state *state = sim_new(world, struct state);
    state->rt = sim_rt_new(world, &options);
    struct sim_host *host = sim_rt_host(state->rt);
    for (uint32_t i = 0; i < 2; i++) {
        fetch_init(&state->fetches[i], host, &pages[i]);
        state->children[i].future = &state->fetches[i].future;
    }
    rt_future_init(&state->nap.future, nap_poll, NULL, "sleep");
    rt_wait_init(&state->nap.wait);
    state->nap.host = sim_host_seam(host);
    state->children[2].future = &state->nap.future;
    rt_join_init(&state->join, state->children, 3);
    (void)sim_loop_new(world, "main", main_loop, state);
    sim_set_state(world, state);
}

static void
check(struct sim_world *world, void *argument)
{
    const struct state *state = argument;
    SIM_ALWAYS(state->answered);
    SIM_ALWAYS(fetch_has_page(&state->fetches[0]));
    SIM_ALWAYS(fetch_has_page(&state->fetches[1]));
    SIM_ALWAYS(sim_now(world) >= NAP);
}

/* It assumes that the host has capacity for a pollable. */
SIM_SCENARIO(seed1_noop_block_on, .name = "articles/s1/noop-block-on",
        .about = "The WASI article's block_on with a noop waker: two requests and a sleep.",
        .setup = setup, .check = check, .survives = SIM_FAULT_ALL & ~SIM_FAULT_CAPACITY);

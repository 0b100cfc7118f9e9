/*
 * two_requests.c -- the example of the WASI article (S1): two requests at once, without spawn.
 *
 *      block_on(|reactor| async {
 *          let client = Client::new(reactor);
 *          let a = async { client.send(req).await; read_to_end(res).await };
 *          let b = async { client.send(req).await; read_to_end(res).await };
 *          (a, b).join().await;
 *      })
 *
 * Client, send and the async blocks are in client.h. Both run inside one task, driven by
 * rt_block_on: the join gives each half a separate waker, so a chunk of one body does not cause a
 * poll of the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenarios/articles/client.h"

static const struct page pages[2] = {
        {"GET /a", "It was a dark and stormy night.", 8, 1 * RT_MS, 20 * RT_MS},
        {"GET /b", "Call me Ishmael. Some years ago -", 8, 1 * RT_MS, 20 * RT_MS},
};

struct state {
    struct sim_rt *rt;
    struct rt_task root;
    struct rt_join join;
    struct rt_child children[2];
    struct fetch fetches[2]; /* a and b */
    bool answered;
};

/* (a, b).join().await */
static rt_poll
root_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, root);
    return rt_join_poll(&state->join, cx);
}

/* main: block_on(...) */
static void
main_loop(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    (void)world;
    SIM_ALWAYS(rt_block_on(sim_rt_runtime(state->rt), &state->root) == RT_OK);
    state->answered = true;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.by_loop = true};
    struct state *state = sim_new(world, struct state);
    state->rt = sim_rt_new(world, &options);
    for (uint32_t i = 0; i < 2; i++) {
        fetch_init(&state->fetches[i], sim_rt_host(state->rt), &pages[i]);
        state->children[i].future = &state->fetches[i].future;
    }
    rt_join_init(&state->join, state->children, 2);
    rt_task_init(&state->root, root_poll, NULL, "block_on");
    (void)sim_loop_new(world, "main", main_loop, state);
    sim_set_state(world, state);
}

/* A user of the two bodies would check them. */
static void
check(struct sim_world *world, void *argument)
{
    const struct state *state = argument;
    (void)world;
    SIM_ALWAYS(state->answered);
    SIM_ALWAYS(fetch_has_page(&state->fetches[0]));
    SIM_ALWAYS(fetch_has_page(&state->fetches[1]));
}

/* Both pages must arrive: a task that is cancelled, or refused a pollable, has none. */
SIM_SCENARIO(seed1_two_requests, .name = "articles/s1/two-requests",
        .about = "Two HTTP requests, headers and bodies, joined in one task over the WASI host.",
        .setup = setup, .check = check,
        .survives = SIM_FAULT_ALL & ~(SIM_FAULT_CANCEL | SIM_FAULT_CAPACITY));

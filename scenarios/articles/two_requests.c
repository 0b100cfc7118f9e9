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
 * rt_block_on: the join gives each half a waker of its own, so a chunk of one body does not
 * cost a look at the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenarios/articles/client.h"

static const struct page pages[2] = {
        {"GET /a", "It was a dark and stormy night.", 8, 1 * RT_MS, 20 * RT_MS},
        {"GET /b", "Call me Ishmael. Some years ago -", 8, 1 * RT_MS, 20 * RT_MS},
};

struct story {
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
    struct story *story = rt_container_of(task, struct story, root);
    return rt_join_poll(&story->join, cx);
}

/* main: block_on(...) */
static void
main_loop(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    (void)world;
    SIM_ALWAYS(rt_block_on(sim_rt_runtime(story->rt), &story->root) == RT_OK);
    story->answered = true;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.by_loop = true};
    struct story *story = sim_new(world, struct story);
    story->rt = sim_rt_new(world, &options);
    for (uint32_t i = 0; i < 2; i++) {
        fetch_init(&story->fetches[i], sim_rt_host(story->rt), &pages[i]);
        story->children[i].future = &story->fetches[i].future;
    }
    rt_join_init(&story->join, story->children, 2);
    rt_task_init(&story->root, root_poll, NULL, "block_on");
    (void)sim_loop_new(world, "main", main_loop, story);
    sim_set_state(world, story);
}

/* A user of the two bodies would look at them. */
static void
check(struct sim_world *world, void *state)
{
    const struct story *story = state;
    (void)world;
    SIM_ALWAYS(story->answered);
    SIM_ALWAYS(fetch_has_page(&story->fetches[0]));
    SIM_ALWAYS(fetch_has_page(&story->fetches[1]));
}

/* A page is owed: a task that is cancelled, or refused a pollable, has none. */
SIM_SCENARIO(seed1_two_requests, .name = "articles/s1/two-requests",
        .about = "Two HTTP requests, headers and bodies, joined in one task over the WASI host.",
        .setup = setup, .check = check,
        .survives = SIM_FAULT_ALL & ~(SIM_FAULT_CANCEL | SIM_FAULT_CAPACITY));

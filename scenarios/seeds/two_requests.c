/*
 * two_requests.c -- the example of the WASI article (S1): two requests at once, without spawn.
 *
 *      block_on(|reactor| async {
 *          let a = async { client.send(req).await; read_to_end(res).await };
 *          let b = async { ... };
 *          (a, b).join().await;
 *      })
 *
 * Each half sends a request, waits for the headers on a pollable, then reads the body to its end, a
 * short read at a time. A third future sleeps, by subscribe_duration and wait_for, as the article
 * makes its `sleep`. All run inside one task, driven by rt_block_on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/rewake.h"

#define BODY_MAX 64

static const char *const bodies[2] = {
        "It was a dark and stormy night.", "Call me Ishmael. Some years ago -"};

enum stage { SENDING, HEADERS, BODY };

struct fetch {
    struct rt_future future;
    struct sim_host *host;
    const char *url;
    const char *expected;
    enum stage stage;
    struct sim_request *request;
    struct sim_input *body;
    struct rt_pollable pollable;
    struct rt_wait wait;
    size_t length;
    char text[BODY_MAX];
};

struct nap {
    struct rt_future future;
    struct rt_host *host;
    struct rt_pollable pollable;
    struct rt_wait wait;
    bool subscribed;
};

struct story {
    struct sim_rt *rt;
    struct rt_task root;
    struct rt_join join;
    struct rt_child children[3];
    struct fetch fetches[2];
    struct nap nap;
    bool answered;
};

/* ---- One request: send, headers, body. ------------------------------------------------------- */

static void
send_request(struct fetch *fetch)
{
    fetch->request = sim_request_send(
            fetch->host, fetch->url, "200 OK", fetch->expected, 8, 1 * RT_MS, 20 * RT_MS);
    SIM_ALWAYS(sim_request_subscribe(fetch->request, &fetch->pollable) == RT_OK);
    fetch->stage = HEADERS;
}

static rt_poll
await_headers(struct fetch *fetch, struct rt_cx *cx)
{
    const char *headers = NULL;
    while (sim_request_get(fetch->request, &headers, &fetch->body) == RT_E_AGAIN) {
        RT_AWAIT(rt_wait_for(&fetch->wait, &fetch->pollable, cx));
    }
    rt_wait_cancel(&fetch->wait);
    rt_pollable_drop(&fetch->pollable);
    SIM_ALWAYS(strcmp(headers, "200 OK") == 0);
    SIM_ALWAYS(sim_input_subscribe(fetch->body, &fetch->pollable) == RT_OK);
    fetch->stage = BODY;
    return RT_READY;
}

static void
give_back(struct fetch *fetch)
{
    rt_wait_cancel(&fetch->wait);
    rt_pollable_drop(&fetch->pollable);
    SIM_ALWAYS(sim_input_drop(fetch->body) == RT_OK);
    SIM_ALWAYS(sim_request_drop(fetch->request) == RT_OK);
}

static rt_poll
read_to_end(struct fetch *fetch, struct rt_cx *cx)
{
    for (;;) {
        size_t size = 0;
        rt_err err = sim_input_read(fetch->body, fetch->text + fetch->length,
                sizeof(fetch->text) - fetch->length, &size);
        if (err == RT_E_CLOSED) {
            give_back(fetch);
            return RT_READY;
        }
        if (err == RT_E_AGAIN) {
            RT_AWAIT(rt_wait_for(&fetch->wait, &fetch->pollable, cx));
        } else {
            fetch->length += size;
        }
    }
}

static rt_poll
fetch_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct fetch *fetch = rt_container_of(future, struct fetch, future);
    if (fetch->stage == SENDING) {
        send_request(fetch);
    }
    if (fetch->stage == HEADERS) {
        RT_AWAIT(await_headers(fetch, cx));
    }
    return read_to_end(fetch, cx);
}

/* ---- sleep = subscribe_duration + wait_for. -------------------------------------------------- */

static rt_poll
nap_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct nap *nap = rt_container_of(future, struct nap, future);
    if (!nap->subscribed) {
        SIM_ALWAYS(rt_subscribe_duration(nap->host, 10 * RT_MS, &nap->pollable) == RT_OK);
        nap->subscribed = true;
    }
    RT_AWAIT(rt_wait_for(&nap->wait, &nap->pollable, cx));
    rt_pollable_drop(&nap->pollable);
    return RT_READY;
}

/* ---- (a, b, sleep).join().await, inside block_on. -------------------------------------------- */

static rt_poll
root_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, root);
    return rt_join_poll(&story->join, cx);
}

static void
main_loop(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    (void)world;
    SIM_ALWAYS(rt_block_on(sim_rt_runtime(story->rt), &story->root) == RT_OK);
    story->answered = true;
}

static void
fetch_init(struct fetch *fetch, struct sim_host *host, const char *url, const char *expected)
{
    rt_future_init(&fetch->future, fetch_poll, NULL, url);
    rt_wait_init(&fetch->wait);
    fetch->host = host;
    fetch->url = url;
    fetch->expected = expected;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.by_loop = true};
    struct story *story = sim_new(world, struct story);
    story->rt = sim_rt_new(world, &options);
    fetch_init(&story->fetches[0], sim_rt_host(story->rt), "GET /a", bodies[0]);
    fetch_init(&story->fetches[1], sim_rt_host(story->rt), "GET /b", bodies[1]);
    rt_future_init(&story->nap.future, nap_poll, NULL, "sleep");
    rt_wait_init(&story->nap.wait);
    story->nap.host = sim_host_seam(sim_rt_host(story->rt));
    story->children[0].future = &story->fetches[0].future;
    story->children[1].future = &story->fetches[1].future;
    story->children[2].future = &story->nap.future;
    rt_join_init(&story->join, story->children, 3);
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
    for (uint32_t i = 0; i < 2; i++) {
        SIM_ALWAYS(strcmp(story->fetches[i].text, bodies[i]) == 0);
    }
}

SIM_SCENARIO(seed1_two_requests, .name = "seeds/s1/two-requests",
        .about = "Two HTTP requests and a sleep joined in one task over the WASI host.",
        .setup = setup, .check = check);

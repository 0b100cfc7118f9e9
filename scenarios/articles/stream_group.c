/*
 * stream_group.c -- the WASI article's StreamGroup (S1): several bodies, as they come.
 *
 * "APIs such as Vec::join and StreamGroup even provide access to the unbounded concurrency
 * primitives people typically use local executors for." A browser loads a page in one task: each
 * response is a stream of chunks, all of them are one group, and a chunk is stored in its page when
 * it arrives. The first chunk of the page names a picture, which is inserted while the group is
 * being read; an advertisement is removed at its second chunk.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenarios/articles/client.h"

#define BODIES 4u
#define CHUNK 16

enum { PAGE, STYLE, ADVERTISEMENT, PICTURE };

static const struct page pages[BODIES] = {
        {"GET /page", "See /picture. It was a dark and stormy night.", 8, 1 * RT_MS, 9 * RT_MS},
        {"GET /style", "serif", 8, 1 * RT_MS, 9 * RT_MS},
        {"GET /advertisement", "Buy! Buy! Buy! Buy! Buy! Buy! Buy!", 4, 1 * RT_MS, 9 * RT_MS},
        {"GET /picture", ":-)", 8, 1 * RT_MS, 9 * RT_MS},
};

/* A response as a stream: send, then a chunk an item, then the end. */
struct body {
    struct rt_stream stream;
    struct rt_group_member member;
    struct rt_key key;
    struct send send;
    bool sent;
    char chunk[CHUNK]; /* The item, until the next poll. */
    size_t chunk_size;
    char text[CLIENT_BODY_MAX]; /* What the browser has received of it. */
    size_t length;
    uint32_t chunks;
};

struct browser {
    struct rt_task task;
    struct sim_host *host;
    struct rt_group group;
    struct rt_slab_entry entries[BODIES];
    struct body bodies[BODIES];
    bool started;
    bool loaded;
};

/* ---- A body. --------------------------------------------------------------------------------- */

static rt_poll
body_poll(struct rt_stream *stream, struct rt_cx *cx, void **ret_item)
{
    struct body *body = rt_container_of(stream, struct body, stream);
    struct rt_moved moved;
    if (!body->sent) {
        RT_AWAIT(rt_future_poll(&body->send.future, cx));
        body->sent = true;
    }
    RT_AWAIT(rt_read(&body->send.body, body->chunk, CHUNK, cx, &moved));
    if (moved.err == RT_OK) {
        body->chunk_size = moved.size;
        *ret_item = body;
        return RT_READY;
    }
    SIM_ALWAYS(moved.err == RT_E_CLOSED);
    SIM_ALWAYS(rt_input_drop(&body->send.body) == RT_OK);
    return RT_READY;
}

static void
body_drop(struct rt_stream *stream)
{
    struct body *body = rt_container_of(stream, struct body, stream);
    if (body->sent) {
        SIM_ALWAYS(rt_input_drop(&body->send.body) == RT_OK);
    } else {
        rt_future_drop(&body->send.future);
    }
}

/* ---- The browser. ---------------------------------------------------------------------------- */

static void
request(struct browser *browser, uint32_t which)
{
    struct body *body = &browser->bodies[which];
    send_init(&body->send, browser->host, &pages[which]);
    rt_stream_init(&body->stream, body_poll, body_drop, pages[which].url);
    SIM_ALWAYS(rt_group_insert(&browser->group, &body->member, &body->stream, &body->key) == RT_OK);
}

static void
take_chunk(struct browser *browser, struct body *body)
{
    uint32_t which = (uint32_t)(body - browser->bodies);
    SIM_ALWAYS(body->length + body->chunk_size < CLIENT_BODY_MAX);
    memcpy(body->text + body->length, body->chunk, body->chunk_size);
    body->length += body->chunk_size;
    body->chunks++;
    if (which == PAGE && body->chunks == 1) {
        request(browser, PICTURE);
    }
    if (which == ADVERTISEMENT && body->chunks == 2) {
        SIM_ALWAYS(rt_group_remove(&browser->group, body->key));
        SIM_ALWAYS(!rt_group_remove(&browser->group, body->key));
    }
}

static rt_poll
browser_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct browser *browser = rt_container_of(task, struct browser, task);
    void *item = NULL;
    if (!browser->started) {
        request(browser, PAGE);
        request(browser, STYLE);
        request(browser, ADVERTISEMENT);
        browser->started = true;
    }
    for (;;) {
        RT_AWAIT(rt_group_poll(&browser->group, cx, NULL, &item));
        if (item == NULL) {
            break;
        }
        take_chunk(browser, item);
    }
    browser->loaded = true;
    return RT_READY;
}

/* Also if it is cancelled in the middle: every request is dropped with the group. */
static void
browser_cleanup(struct rt_task *task)
{
    struct browser *browser = rt_container_of(task, struct browser, task);
    rt_group_drop(&browser->group);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct browser *browser = sim_new(world, struct browser);
    browser->host = sim_rt_host(rt);
    rt_group_init(&browser->group, browser->entries, BODIES);
    rt_task_init(&browser->task, browser_poll, browser_cleanup, "browser");
    sim_spawn(rt, &browser->task);
    sim_set_state(world, browser);
}

static void
check(struct sim_world *world, void *state)
{
    const struct browser *browser = state;
    (void)world;
    if (!browser->loaded) {
        return; /* Cancelled. */
    }
    for (uint32_t i = 0; i < BODIES; i++) {
        const struct body *body = &browser->bodies[i];
        SIM_ALWAYS(memcmp(body->text, pages[i].body, body->length) == 0);
        SIM_ALWAYS(i == ADVERTISEMENT || body->length == strlen(pages[i].body));
    }
}

/* It assumes that the host has capacity for a pollable. */
SIM_SCENARIO(seed1_stream_group, .name = "articles/s1/stream-group",
        .about = "Four bodies in one stream group; one joins late, one is removed.", .setup = setup,
        .check = check, .survives = SIM_FAULT_ALL & ~SIM_FAULT_CAPACITY);

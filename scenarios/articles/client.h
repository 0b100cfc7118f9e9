/*
 * client.h -- the client of the WASI article (S1): "an unpublished wrapper around wasi::http".
 *
 *      let res = client.send(req).await;       fetch_init, FETCH_SENDS
 *      let body = read_to_end(res).await;      FETCH_READS
 *
 * A fetch is the article's `async` block: a future that sends a request, awaits the headers, and
 * reads the body to its end. A send is its first half, for a caller that reads the body in pieces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCENARIOS_ARTICLES_CLIENT_H
#define SCENARIOS_ARTICLES_CLIENT_H

#include <string.h>

#include "sim/rewake.h"

#define CLIENT_HEADERS "200 OK"
#define CLIENT_BODY_MAX 64

/* A page on a server, and how the server answers. */
struct page {
    const char *url;
    const char *body;
    size_t chunk; /* The body arrives in chunks of at most this size, … */
    uint64_t min_ns;
    uint64_t max_ns; /* … each after at most this time; so do the headers. */
};

/* ---- client.send(req).await ------------------------------------------------------------------ */

struct send {
    struct rt_future future;
    struct sim_host *host;
    const struct page *page;
    struct sim_request *request; /* NULL: not sent yet. */
    struct rt_pollable pollable;
    struct rt_wait wait;
    struct rt_input body; /* After READY; the caller's to drop. */
};

static inline void
send_request(struct send *send)
{
    const struct page *page = send->page;
    send->request = sim_request_send(send->host, page->url, CLIENT_HEADERS, page->body, page->chunk,
            page->min_ns, page->max_ns);
    SIM_ALWAYS(sim_request_subscribe(send->request, &send->pollable) == RT_OK);
}

static inline void
send_end(struct send *send)
{
    rt_wait_cancel(&send->wait);
    rt_pollable_drop(&send->pollable);
    SIM_ALWAYS(sim_request_drop(send->request) == RT_OK);
}

static inline rt_poll
send_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct send *send = rt_container_of(future, struct send, future);
    const char *headers = NULL;
    struct sim_input *body = NULL;
    if (send->request == NULL) {
        send_request(send);
    }
    while (sim_request_get(send->request, &headers, &body) == RT_E_AGAIN) {
        RT_AWAIT(rt_wait_for(&send->wait, &send->pollable, cx));
    }
    send_end(send);
    SIM_ALWAYS(strcmp(headers, CLIENT_HEADERS) == 0);
    SIM_ALWAYS(rt_input_init(&send->body, &sim_input_ops, body) == RT_OK);
    return RT_READY;
}

static inline void
send_drop(struct rt_future *future)
{
    struct send *send = rt_container_of(future, struct send, future);
    if (send->request != NULL) {
        send_end(send);
    }
}

static inline void
send_init(struct send *send, struct sim_host *host, const struct page *page)
{
    rt_future_init(&send->future, send_poll, send_drop, page->url);
    rt_wait_init(&send->wait);
    send->host = host;
    send->page = page;
    send->request = NULL;
}

/* ---- async { client.send(req).await; read_to_end(res).await } -------------------------------- */

enum fetch_stage { FETCH_SENDS, FETCH_READS };

struct fetch {
    struct rt_future future;
    enum fetch_stage stage;
    struct send send;
    struct rt_read_to_end read;
    char text[CLIENT_BODY_MAX];
};

static inline rt_poll
fetch_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct fetch *fetch = rt_container_of(future, struct fetch, future);
    if (fetch->stage == FETCH_SENDS) {
        RT_AWAIT(rt_future_poll(&fetch->send.future, cx));
        rt_read_to_end_init(&fetch->read, &fetch->send.body, fetch->text, CLIENT_BODY_MAX - 1);
        fetch->stage = FETCH_READS;
    }
    RT_AWAIT(rt_future_poll(&fetch->read.future, cx));
    SIM_ALWAYS(fetch->read.err == RT_OK);
    SIM_ALWAYS(rt_input_drop(&fetch->send.body) == RT_OK);
    return RT_READY;
}

static inline void
fetch_drop(struct rt_future *future)
{
    struct fetch *fetch = rt_container_of(future, struct fetch, future);
    if (fetch->stage == FETCH_SENDS) {
        rt_future_drop(&fetch->send.future);
        return;
    }
    rt_future_drop(&fetch->read.future);
    SIM_ALWAYS(rt_input_drop(&fetch->send.body) == RT_OK);
}

static inline void
fetch_init(struct fetch *fetch, struct sim_host *host, const struct page *page)
{
    *fetch = (struct fetch){.stage = FETCH_SENDS};
    rt_future_init(&fetch->future, fetch_poll, fetch_drop, page->url);
    send_init(&fetch->send, host, page);
}

/* The body arrived whole, and nothing else. */
static inline bool
fetch_has_page(const struct fetch *fetch)
{
    return strcmp(fetch->text, fetch->send.page->body) == 0;
}

#endif

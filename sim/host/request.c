/*
 * request.c -- requests, answered by headers, then a body.
 *
 * The body begins to arrive when the headers have, fetched or not. Once fetched it
 * belongs to the caller, who drops it like any input; until then it is dropped with
 * the request.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/host/priv.h"

#define REQUEST_MAGIC 0x53524551u

struct sim_request {
    uint32_t magic;
    bool fetched; /* The headers were consumed; the body is the caller's. */
    struct sim_source *source;
    struct sim_input *body; /* NULL until the headers have arrived. */
    const char *headers;
    const char *text; /* Of the body. */
    size_t chunk;
    uint64_t min_ns;
    uint64_t max_ns;
};

static void
headers_arrived(void *argument, uint64_t amount)
{
    struct sim_request *request = argument;
    rt_check(request, REQUEST_MAGIC);
    rt_assert(amount == 1);
    rt_assert(request->body == NULL);
    struct sim_host *host = request->source->host;
    request->body = sim_input_new(host,
            sim__name_join(host->world, request->source->name, ", body"), request->text,
            strlen(request->text), request->chunk, request->min_ns, request->max_ns);
    sim__source_level(request->source, true);
}

struct sim_request *
sim_request_send(struct sim_host *host, const char *name, const char *headers, const char *body,
        size_t chunk, uint64_t min_ns, uint64_t max_ns)
{
    rt_check(host, SIM__HOST_MAGIC);
    rt_assert(headers != NULL);
    rt_assert(body != NULL);
    sim__host_call(host, "send");
    struct sim_request *request = sim_new(host->world, struct sim_request);
    request->magic = REQUEST_MAGIC;
    request->source = sim__source_new(host, name, headers_arrived, request);
    request->headers = headers;
    request->text = body;
    request->chunk = chunk;
    request->min_ns = min_ns;
    request->max_ns = max_ns;
    sim__source_arrive_in(request->source, 1, min_ns, max_ns);
    return request;
}

rt_err
sim_request_subscribe(struct sim_request *request, struct rt_pollable *pollable)
{
    rt_check(request, REQUEST_MAGIC);
    return sim_source_subscribe(request->source, pollable);
}

rt_err
sim_request_get(struct sim_request *request, const char **ret_headers, struct sim_input **ret_body)
{
    rt_check(request, REQUEST_MAGIC);
    sim__host_call(request->source->host, "get");
    sim__source_check(request->source);
    rt_assert(ret_headers != NULL);
    rt_assert(ret_body != NULL);
    if (request->body == NULL) {
        return RT_E_AGAIN;
    }
    if (!request->fetched) {
        request->fetched = true;
        sim__source_moved(request->source, SIM_EVENT_READ, NULL, strlen(request->headers) + 1);
    }
    *ret_headers = request->headers;
    *ret_body = request->body;
    return RT_OK;
}

rt_err
sim_request_drop(struct sim_request *request)
{
    rt_check(request, REQUEST_MAGIC);
    sim__host_call(request->source->host, "drop");
    rt_err err = sim__source_drop(request->source);
    if (err != RT_OK || request->body == NULL || request->fetched) {
        return err;
    }
    return sim__input_drop(request->body);
}

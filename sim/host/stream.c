/*
 * stream.c -- bytes that arrive in pieces, and that are written in pieces; requests.
 *
 * An input is ready while it has unread bytes, and always once the end has arrived.
 * An output is ready while it has space; the space of each write is freed later, by
 * a separate event.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/host/priv.h"

#define INPUT_MAGIC 0x53494e50u
#define OUTPUT_MAGIC 0x534f5554u
#define REQUEST_MAGIC 0x53524551u

struct sim_input {
    uint32_t magic;
    bool nothing; /* The last read through the seam returned no bytes, although there were some. */
    struct sim__feed feed;
};

struct sim_output {
    uint32_t magic;
    struct sim_source *source;
    size_t space; /* Now. */
    size_t capacity;
    uint64_t min_ns;
    uint64_t max_ns;
    struct sim__written written;
};

/* ---- Feeds. ---------------------------------------------------------------------------------- */

void
sim__feed_begin(struct sim__feed *feed)
{
    size_t left = feed->size - feed->arrived;
    size_t full = left < feed->chunk ? left : feed->chunk;
    uint64_t amount = full == 0 ? 0 : sim_actor_length(&feed->source->actor, full);
    sim__source_arrive_in(feed->source, amount, feed->min_ns, feed->max_ns);
}

void
sim__feed_arrived(struct sim__feed *feed, uint64_t amount)
{
    rt_assert(!feed->ended);
    feed->arrived += (size_t)amount;
    rt_assert(feed->arrived <= feed->size);
    feed->ended = amount == 0;
    sim__source_level(feed->source, true);
    if (!feed->ended) {
        sim__feed_begin(feed);
    }
}

bool
sim__feed_readable(const struct sim__feed *feed)
{
    return feed->read < feed->arrived || feed->ended;
}

size_t
sim__feed_read(struct sim__feed *feed, struct sim_actor *actor, void *buffer, size_t size)
{
    size_t there = feed->arrived - feed->read;
    size_t moved = (size_t)sim_actor_length(actor, there < size ? there : size);
    memcpy(buffer, feed->data + feed->read, moved);
    feed->read += moved;
    return moved;
}

void
sim__written_add(
        struct sim_world *world, struct sim__written *written, const void *bytes, size_t size)
{
    sim__reserve(world, &written->bytes, written->size + size, &written->capacity, 1);
    memcpy(written->bytes + written->size, bytes, size);
    written->size += size;
}

/* ---- Input. ---------------------------------------------------------------------------------- */

static void
input_arrived(void *argument, uint64_t amount)
{
    struct sim_input *input = argument;
    rt_check(input, INPUT_MAGIC);
    sim__feed_arrived(&input->feed, amount);
}

struct sim_input *
sim_input_new(struct sim_host *host, const char *name, const void *data, size_t size, size_t chunk,
        uint64_t min_ns, uint64_t max_ns)
{
    rt_check(host, SIM__HOST_MAGIC);
    rt_assert(data != NULL || size == 0);
    rt_assert(chunk > 0);
    struct sim_input *input = sim_new(host->world, struct sim_input);
    input->magic = INPUT_MAGIC;
    input->feed = (struct sim__feed){.source = sim__source_new(host, name, input_arrived, input),
            .data = data,
            .size = size,
            .chunk = chunk,
            .min_ns = min_ns,
            .max_ns = max_ns};
    sim__feed_begin(&input->feed);
    return input;
}

static rt_err
input_read(struct sim_input *input, void *buffer, size_t size, size_t *ret_size,
        const struct rt_site *await)
{
    struct sim__feed *feed = &input->feed;
    sim__source_check(feed->source);
    rt_assert(ret_size != NULL);
    if (size == 0) {
        return RT_E_INVALID;
    }
    if (feed->read == feed->arrived) {
        return feed->ended ? RT_E_CLOSED : RT_E_AGAIN;
    }
    *ret_size = sim__feed_read(feed, &feed->source->actor, buffer, size);
    sim__source_moved(feed->source, SIM_EVENT_READ, await, *ret_size);
    sim__source_level(feed->source, sim__feed_readable(feed));
    return RT_OK;
}

rt_err
sim_input_read_at(struct sim_input *input, void *buffer, size_t size, size_t *ret_size,
        const struct rt_site *await)
{
    rt_check(input, INPUT_MAGIC);
    sim__host_call(input->feed.source->host, "read");
    return input_read(input, buffer, size, ret_size, await);
}

rt_err
sim_input_subscribe(struct sim_input *input, struct rt_pollable *pollable)
{
    rt_check(input, INPUT_MAGIC);
    return sim_source_subscribe(input->feed.source, pollable);
}

rt_err
sim_input_drop(struct sim_input *input)
{
    rt_check(input, INPUT_MAGIC);
    return sim_source_drop(input->feed.source);
}

static rt_err
input_drop(struct sim_input *input)
{
    rt_check(input, INPUT_MAGIC);
    return sim__source_drop(input->feed.source);
}

/* A read may return no bytes although there are some: not the end (N3). Not twice in a row. */
static bool
draw_nothing(struct sim_input *input)
{
    struct sim_host *host = input->feed.source->host;
    if (host->profile == SIM_PROFILE_FD || input->nothing ||
            input->feed.read == input->feed.arrived) {
        return false;
    }
    return sim__one_in(
            &input->feed.source->actor, SIM_KIND_SPURIOUS, host->world->options.spurious_one_in);
}

static rt_err
seam_read(void *stream, void *buffer, size_t size, size_t *ret_size, const struct rt_site *await)
{
    struct sim_input *input = stream;
    rt_check(input, INPUT_MAGIC);
    sim__host_call(input->feed.source->host, "read");
    input->nothing = draw_nothing(input);
    if (input->nothing) {
        *ret_size = 0;
        return RT_OK;
    }
    return input_read(input, buffer, size, ret_size, await);
}

static rt_err
seam_input_subscribe(void *stream, struct rt_pollable *pollable)
{
    return sim_input_subscribe(stream, pollable);
}

static rt_err
seam_input_drop(void *stream)
{
    return sim_input_drop(stream);
}

const struct rt_input_ops sim_input_ops = {seam_read, seam_input_subscribe, seam_input_drop};

/* ---- Output. --------------------------------------------------------------------------------- */

static void
output_arrived(void *argument, uint64_t amount)
{
    struct sim_output *output = argument;
    rt_check(output, OUTPUT_MAGIC);
    output->space += (size_t)amount;
    rt_assert(output->space <= output->capacity);
    sim__source_level(output->source, true);
}

struct sim_output *
sim_output_new(
        struct sim_host *host, const char *name, size_t capacity, uint64_t min_ns, uint64_t max_ns)
{
    rt_check(host, SIM__HOST_MAGIC);
    rt_assert(capacity > 0);
    struct sim_output *output = sim_new(host->world, struct sim_output);
    output->magic = OUTPUT_MAGIC;
    output->source = sim__source_new(host, name, output_arrived, output);
    output->space = capacity;
    output->capacity = capacity;
    output->min_ns = min_ns;
    output->max_ns = max_ns;
    sim__source_level(output->source, true);
    return output;
}

rt_err
sim_output_write_at(struct sim_output *output, const void *buffer, size_t size, size_t *ret_size,
        const struct rt_site *await)
{
    rt_check(output, OUTPUT_MAGIC);
    sim__host_call(output->source->host, "write");
    sim__source_check(output->source);
    rt_assert(ret_size != NULL);
    if (size == 0) {
        return RT_E_INVALID;
    }
    if (output->space == 0) {
        return RT_E_AGAIN;
    }
    size_t full = output->space < size ? output->space : size;
    size_t moved = (size_t)sim_actor_length(&output->source->actor, full);
    sim__written_add(output->source->host->world, &output->written, buffer, moved);
    output->space -= moved;
    sim__source_moved(output->source, SIM_EVENT_WRITE, await, moved);
    sim__source_level(output->source, output->space > 0);
    sim__source_arrive_in(output->source, moved, output->min_ns, output->max_ns);
    *ret_size = moved;
    return RT_OK;
}

rt_err
sim_output_subscribe(struct sim_output *output, struct rt_pollable *pollable)
{
    rt_check(output, OUTPUT_MAGIC);
    return sim_source_subscribe(output->source, pollable);
}

rt_err
sim_output_drop(struct sim_output *output)
{
    rt_check(output, OUTPUT_MAGIC);
    return sim_source_drop(output->source);
}

const void *
sim_output_written(const struct sim_output *output, size_t *ret_size)
{
    rt_check(output, OUTPUT_MAGIC);
    rt_assert(ret_size != NULL);
    *ret_size = output->written.size;
    return output->written.bytes;
}

static rt_err
seam_write(void *stream, const void *buffer, size_t size, size_t *ret_size,
        const struct rt_site *await)
{
    return sim_output_write_at(stream, buffer, size, ret_size, await);
}

static rt_err
seam_output_subscribe(void *stream, struct rt_pollable *pollable)
{
    return sim_output_subscribe(stream, pollable);
}

static rt_err
seam_output_drop(void *stream)
{
    return sim_output_drop(stream);
}

const struct rt_output_ops sim_output_ops = {seam_write, seam_output_subscribe, seam_output_drop};

/*
 * ---- Requests, answered by headers, then a body. -----------------------------------------------
 *
 * The body begins to arrive when the headers have, fetched or not. Once fetched it
 * belongs to the caller, who drops it like any input; until then it is dropped with
 * the request.
 */

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
    return input_drop(request->body);
}

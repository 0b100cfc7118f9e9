/*
 * stream.c -- bytes that arrive in pieces, and bytes that are written in pieces.
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

struct sim_input {
    uint32_t magic;
    bool ended;   /* All bytes and the end have arrived. */
    bool nothing; /* The last read through the seam returned no bytes, although there were some. */
    struct sim_source *source;
    const char *data; /* Borrowed. */
    size_t size;
    size_t chunk;
    size_t arrived;
    size_t read;
    uint64_t min_ns;
    uint64_t max_ns;
};

struct sim_output {
    uint32_t magic;
    struct sim_source *source;
    size_t space; /* Now. */
    size_t capacity;
    uint64_t min_ns;
    uint64_t max_ns;
    char *written;
    size_t size;
    size_t written_capacity;
};

/* ---- Input. ---------------------------------------------------------------------------------- */

/* Sends the next chunk; an empty one is the end. */
static void
input_next(struct sim_input *input)
{
    size_t left = input->size - input->arrived;
    size_t full = left < input->chunk ? left : input->chunk;
    uint64_t amount = full == 0 ? 0 : sim_actor_length(&input->source->actor, full);
    sim__source_arrive_in(input->source, amount, input->min_ns, input->max_ns);
}

static void
input_arrived(void *argument, uint64_t amount)
{
    struct sim_input *input = argument;
    rt_check(input, INPUT_MAGIC);
    rt_assert(!input->ended);
    input->arrived += (size_t)amount;
    rt_assert(input->arrived <= input->size);
    input->ended = amount == 0;
    sim__source_level(input->source, true);
    if (!input->ended) {
        input_next(input);
    }
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
    input->source = sim__source_new(host, name, input_arrived, input);
    input->data = data;
    input->size = size;
    input->chunk = chunk;
    input->min_ns = min_ns;
    input->max_ns = max_ns;
    input_next(input);
    return input;
}

static rt_err
input_read(struct sim_input *input, void *buffer, size_t size, size_t *ret_size,
        const struct rt_site *await)
{
    sim__source_check(input->source);
    rt_assert(ret_size != NULL);
    if (size == 0) {
        return RT_E_INVALID;
    }
    size_t there = input->arrived - input->read;
    if (there == 0) {
        return input->ended ? RT_E_CLOSED : RT_E_AGAIN;
    }
    size_t full = there < size ? there : size;
    size_t moved = (size_t)sim_actor_length(&input->source->actor, full);
    memcpy(buffer, input->data + input->read, moved);
    input->read += moved;
    sim__source_moved(input->source, SIM_EVENT_READ, await, moved);
    sim__source_level(input->source, input->read < input->arrived || input->ended);
    *ret_size = moved;
    return RT_OK;
}

rt_err
sim_input_read_at(struct sim_input *input, void *buffer, size_t size, size_t *ret_size,
        const struct rt_site *await)
{
    rt_check(input, INPUT_MAGIC);
    sim__host_call(input->source->host, "read");
    return input_read(input, buffer, size, ret_size, await);
}

rt_err
sim_input_subscribe(struct sim_input *input, struct rt_pollable *pollable)
{
    rt_check(input, INPUT_MAGIC);
    return sim_source_subscribe(input->source, pollable);
}

rt_err
sim_input_drop(struct sim_input *input)
{
    rt_check(input, INPUT_MAGIC);
    return sim_source_drop(input->source);
}

rt_err
sim__input_drop(struct sim_input *input)
{
    rt_check(input, INPUT_MAGIC);
    return sim__source_drop(input->source);
}

/* A read may return no bytes although there are some: not the end (N3). Not twice in a row. */
static bool
draw_nothing(struct sim_input *input)
{
    struct sim_host *host = input->source->host;
    if (host->profile == SIM_PROFILE_FD || input->nothing || input->read == input->arrived) {
        return false;
    }
    return sim__one_in(
            &input->source->actor, SIM_KIND_SPURIOUS, host->world->options.spurious_one_in);
}

static rt_err
seam_read(void *stream, void *buffer, size_t size, size_t *ret_size, const struct rt_site *await)
{
    struct sim_input *input = stream;
    rt_check(input, INPUT_MAGIC);
    sim__host_call(input->source->host, "read");
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

static void
output_keep(struct sim_output *output, const void *bytes, size_t size)
{
    if (size > output->written_capacity - output->size) {
        size_t capacity = 2 * (output->size + size);
        char *written = sim_alloc(output->source->host->world, capacity);
        if (output->size > 0) {
            memcpy(written, output->written, output->size);
        }
        output->written = written;
        output->written_capacity = capacity;
    }
    memcpy(output->written + output->size, bytes, size);
    output->size += size;
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
    output_keep(output, buffer, moved);
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
    *ret_size = output->size;
    return output->written;
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

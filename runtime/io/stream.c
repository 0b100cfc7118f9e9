/*
 * stream.c -- bytes that come in and go out through a host, awaited.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/stream.h"

#include "runtime/base/assert.h"
#include "runtime/task/budget.h"

#include "runtime/base/banned.h"

#define RT_INPUT_MAGIC 0x52494e50u
#define RT_OUTPUT_MAGIC 0x524f5554u

/* How often a ready stream is read or written in one poll, when it has nothing (N3). */
#define TRIES 2u

/* The host has nothing to move now. */
static bool
moved_nothing(rt_err err, size_t size)
{
    return err == RT_E_AGAIN || (err == RT_OK && size == 0);
}

static rt_poll
answer(struct rt_wait *wait, rt_err err, size_t size, struct rt_moved *ret,
        const struct rt_site *await)
{
    rt_wait_cancel_at(wait, await);
    *ret = (struct rt_moved){.err = err, .size = err == RT_OK ? size : 0};
    return RT_READY;
}

/* Nothing was moved, and readiness alone is no progress: neither costs a unit (D12). */
static rt_poll
await_more(struct rt_wait *wait, struct rt_pollable *pollable, struct rt_cx *cx,
        const struct rt_site *await)
{
    rt_budget_restore(cx);
    RT_AWAIT(rt_wait_for_at(wait, pollable, cx, await));
    rt_budget_restore(cx);
    return RT_READY;
}

/* Ready, but without bytes: yield. */
static rt_poll
give_way(struct rt_cx *cx, const struct rt_site *await)
{
    rt_cx_reenqueue_at(cx, await);
    return RT_PENDING;
}

/* ---- Input. ---------------------------------------------------------------------------------- */

rt_err
rt_input_init(struct rt_input *input, const struct rt_input_ops *ops, void *stream)
{
    rt_assert(input != NULL);
    rt_assert(ops != NULL);
    *input = (struct rt_input){.ops = ops, .stream = stream};
    rt_wait_init(&input->wait);
    rt_err err = ops->subscribe(stream, &input->pollable);
    if (err == RT_OK) {
        input->magic = RT_INPUT_MAGIC;
    }
    return err;
}

rt_poll
rt_read_at(struct rt_input *input, void *buffer, size_t size, struct rt_cx *cx,
        struct rt_moved *ret, const struct rt_site *await)
{
    rt_check(input, RT_INPUT_MAGIC);
    rt_cx_check(cx);
    rt_assert(ret != NULL);
    if (size == 0) {
        return answer(&input->wait, RT_E_INVALID, 0, ret, await);
    }
    for (uint32_t i = 0; i < TRIES; i++) {
        RT_AWAIT(rt_budget_take_at(cx, await));
        size_t moved = 0;
        rt_err err = input->ops->read(input->stream, buffer, size, &moved, await);
        rt_assert(moved <= size);
        if (!moved_nothing(err, moved)) {
            return answer(&input->wait, err, moved, ret, await);
        }
        RT_AWAIT(await_more(&input->wait, &input->pollable, cx, await));
    }
    return give_way(cx, await);
}

void
rt_read_cancel_at(struct rt_input *input, const struct rt_site *await)
{
    rt_check(input, RT_INPUT_MAGIC);
    rt_wait_cancel_at(&input->wait, await);
}

rt_err
rt_input_drop_at(struct rt_input *input, const struct rt_site *await)
{
    rt_read_cancel_at(input, await);
    rt_pollable_drop(&input->pollable);
    input->magic = 0;
    return input->ops->drop(input->stream);
}

/* ---- To the end. ----------------------------------------------------------------------------- */

static struct rt_read_to_end *
read_of(struct rt_future *future)
{
    struct rt_read_to_end *read = rt_container_of(future, struct rt_read_to_end, future);
    rt_assert(read->input != NULL);
    return read;
}

/* One read. Of a full buffer it finds out whether anything is left that does not fit. */
static rt_poll
read_more(struct rt_read_to_end *read, struct rt_cx *cx, struct rt_moved *ret)
{
    bool full = read->length == read->size;
    char *into = full ? &read->spill : read->buffer + read->length;
    RT_AWAIT(rt_read_at(
            read->input, into, full ? 1 : read->size - read->length, cx, ret, read->await));
    if (full && ret->err == RT_OK) {
        *ret = (struct rt_moved){.err = RT_E_FULL};
    }
    return RT_READY;
}

static rt_poll
read_to_end_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct rt_read_to_end *read = read_of(future);
    struct rt_moved moved = {.err = RT_OK};
    while (moved.err == RT_OK) {
        RT_AWAIT(read_more(read, cx, &moved));
        read->length += moved.size;
    }
    read->err = moved.err == RT_E_CLOSED ? RT_OK : moved.err;
    return RT_READY;
}

static void
read_to_end_drop(struct rt_future *future)
{
    struct rt_read_to_end *read = read_of(future);
    rt_read_cancel_at(read->input, read->await);
}

void
rt_read_to_end_init_at(struct rt_read_to_end *read, struct rt_input *input, void *buffer,
        size_t size, const struct rt_site *await)
{
    rt_assert(read != NULL);
    rt_check(input, RT_INPUT_MAGIC);
    rt_assert(buffer != NULL || size == 0);
    *read = (struct rt_read_to_end){.input = input, .buffer = buffer, .size = size, .await = await};
    rt_future_init(&read->future, read_to_end_poll, read_to_end_drop, "read_to_end");
}

/* ---- Output. --------------------------------------------------------------------------------- */

rt_err
rt_output_init(struct rt_output *output, const struct rt_output_ops *ops, void *stream)
{
    rt_assert(output != NULL);
    rt_assert(ops != NULL);
    *output = (struct rt_output){.ops = ops, .stream = stream};
    rt_wait_init(&output->wait);
    rt_err err = ops->subscribe(stream, &output->pollable);
    if (err == RT_OK) {
        output->magic = RT_OUTPUT_MAGIC;
    }
    return err;
}

rt_poll
rt_write_at(struct rt_output *output, const void *buffer, size_t size, struct rt_cx *cx,
        struct rt_moved *ret, const struct rt_site *await)
{
    rt_check(output, RT_OUTPUT_MAGIC);
    rt_cx_check(cx);
    rt_assert(ret != NULL);
    if (size == 0) {
        return answer(&output->wait, RT_E_INVALID, 0, ret, await);
    }
    for (uint32_t i = 0; i < TRIES; i++) {
        RT_AWAIT(rt_budget_take_at(cx, await));
        size_t moved = 0;
        rt_err err = output->ops->write(output->stream, buffer, size, &moved, await);
        rt_assert(moved <= size);
        if (!moved_nothing(err, moved)) {
            return answer(&output->wait, err, moved, ret, await);
        }
        RT_AWAIT(await_more(&output->wait, &output->pollable, cx, await));
    }
    return give_way(cx, await);
}

void
rt_write_cancel_at(struct rt_output *output, const struct rt_site *await)
{
    rt_check(output, RT_OUTPUT_MAGIC);
    rt_wait_cancel_at(&output->wait, await);
}

rt_err
rt_output_drop_at(struct rt_output *output, const struct rt_site *await)
{
    rt_write_cancel_at(output, await);
    rt_pollable_drop(&output->pollable);
    output->magic = 0;
    return output->ops->drop(output->stream);
}

/* ---- A whole buffer. ------------------------------------------------------------------------- */

static struct rt_write_all *
write_of(struct rt_future *future)
{
    struct rt_write_all *write = rt_container_of(future, struct rt_write_all, future);
    rt_assert(write->output != NULL);
    return write;
}

static rt_poll
write_all_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct rt_write_all *write = write_of(future);
    while (write->err == RT_OK && write->written < write->size) {
        struct rt_moved moved;
        RT_AWAIT(rt_write_at(write->output, write->buffer + write->written,
                write->size - write->written, cx, &moved, write->await));
        write->err = moved.err;
        write->written += moved.size;
    }
    return RT_READY;
}

static void
write_all_drop(struct rt_future *future)
{
    struct rt_write_all *write = write_of(future);
    rt_write_cancel_at(write->output, write->await);
}

void
rt_write_all_init_at(struct rt_write_all *write, struct rt_output *output, const void *buffer,
        size_t size, const struct rt_site *await)
{
    rt_assert(write != NULL);
    rt_check(output, RT_OUTPUT_MAGIC);
    rt_assert(buffer != NULL || size == 0);
    *write =
            (struct rt_write_all){.output = output, .buffer = buffer, .size = size, .await = await};
    rt_future_init(&write->future, write_all_poll, write_all_drop, "write_all");
}

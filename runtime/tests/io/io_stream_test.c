/*
 * io_stream_test.c -- awaiting the bytes of a host's stream: short ones, none, the end, errors.
 *
 * A brook is a host's stream in both directions: `there` bytes can be moved now, `at_most`
 * in one call. Its pollable is a source of the dumb host.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/io/stream.h"
#include "runtime/tests/io/dumb_host.h"

#define SOURCE 7u

static struct dumb_runtime dumb;

struct brook {
    const char *text; /* What comes in … */
    char taken[32];   /* … or what has gone out. */
    size_t moved;
    size_t there;
    size_t at_most; /* 0: any. */
    rt_err end;     /* When nothing is there: RT_E_AGAIN, or how it ends. */
    uint32_t empty; /* So many calls answer no bytes although some are there. */
    uint32_t calls;
    uint32_t drops;
};

static struct brook brook;

static rt_err
flow(struct brook *one, size_t size, size_t *ret_size)
{
    one->calls++;
    if (one->empty > 0) {
        one->empty--;
        *ret_size = 0;
        return RT_OK;
    }
    size_t most = one->at_most != 0 && one->at_most < size ? one->at_most : size;
    *ret_size = one->there < most ? one->there : most;
    one->there -= *ret_size;
    one->moved += *ret_size;
    return *ret_size > 0 ? RT_OK : one->end;
}

static rt_err
brook_read(void *stream, void *buffer, size_t size, size_t *ret_size, const struct rt_site *await)
{
    struct brook *one = stream;
    (void)await;
    const char *from = one->text + one->moved;
    rt_err err = flow(one, size, ret_size);
    memcpy(buffer, from, *ret_size);
    return err;
}

static rt_err
brook_write(void *stream, const void *buffer, size_t size, size_t *ret_size,
        const struct rt_site *await)
{
    struct brook *one = stream;
    (void)await;
    char *to = one->taken + one->moved;
    rt_err err = flow(one, size, ret_size);
    memcpy(to, buffer, *ret_size);
    return err;
}

static rt_err
brook_subscribe(void *stream, struct rt_pollable *pollable)
{
    (void)stream;
    if (dumb.host.capacity == 0) {
        return RT_E_FULL;
    }
    dumb_subscribe(&dumb.host, SOURCE, pollable);
    return RT_OK;
}

/* P9: the pollable went before; the runtime's own stays. */
static rt_err
brook_drop(void *stream)
{
    struct brook *one = stream;
    one->drops++;
    for (uint32_t i = 0; i < DUMB_POLLABLES; i++) {
        if (dumb.host.entries[i].kind == DUMB_SOURCE) {
            return RT_E_HAS_CHILDREN;
        }
    }
    return RT_OK;
}

static const struct rt_input_ops input_ops = {brook_read, brook_subscribe, brook_drop};
static const struct rt_output_ops output_ops = {brook_write, brook_subscribe, brook_drop};

/* A task that polls one future, or reads or writes once. */
static struct {
    struct rt_task task;
    struct rt_input input;
    struct rt_output output;
    struct rt_future *future; /* NULL: one read or write. */
    bool writes;
    char buffer[32];
    size_t size;
    struct rt_moved moved;
    bool done;
    union {
        struct rt_read_to_end read;
        struct rt_write_all write;
    } as;
} user;

static rt_poll
user_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    if (user.future != NULL) {
        RT_AWAIT(rt_future_poll(user.future, cx));
    } else if (user.writes) {
        RT_AWAIT(rt_write(&user.output, user.buffer, user.size, cx, &user.moved));
    } else {
        RT_AWAIT(rt_read(&user.input, user.buffer, user.size, cx, &user.moved));
    }
    user.done = true;
    return RT_READY;
}

static void
start(void)
{
    rt_task_init(&user.task, user_poll, NULL, "user");
    EXPECT_EQ(rt_post(&dumb.runtime.executor, &user.task), RT_OK);
    dumb_run(&dumb);
}

/* A brook with `there` bytes of `text` now, which ends with `end`, and an input over it. */
static void
input_init(const char *text, size_t there, rt_err end)
{
    dumb_init(&dumb);
    memset(&user, 0, sizeof(user));
    user.size = sizeof(user.buffer);
    user.moved = (struct rt_moved){RT_E_STALE, 77};
    brook = (struct brook){.text = text, .there = there, .end = end};
    EXPECT_EQ(rt_input_init(&user.input, &input_ops, &brook), RT_OK);
}

static void
output_init(const char *text, size_t there, rt_err end)
{
    input_init(text, there, end);
    EXPECT_EQ(rt_input_drop(&user.input), RT_OK);
    brook.drops = 0;
    user.writes = true;
    EXPECT_EQ(rt_output_init(&user.output, &output_ops, &brook), RT_OK);
    user.size = strlen(text);
    memcpy(user.buffer, text, user.size);
}

/* More can be moved; a waiting task is woken and polled. */
static void
more(size_t bytes)
{
    brook.there += bytes;
    dumb.host.ready[SOURCE] = true;
    uint32_t woken = 0;
    EXPECT_EQ(rt_runtime_turn(&dumb.runtime, RT_TURN_POLL, &woken), RT_OK);
    dumb.host.ready[SOURCE] = false;
    dumb_run(&dumb);
}

/* Everything is given back, and nothing waits any more. */
static void
finish(void)
{
    EXPECT_EQ(rt_reactor_waiting(&dumb.runtime.reactor), 0);
    EXPECT_EQ(user.writes ? rt_output_drop(&user.output) : rt_input_drop(&user.input), RT_OK);
    EXPECT_EQ(brook.drops, 1);
    dumb_fini(&dumb);
}

/* The tutorial. Holds R1, P9: what is there is read at once, else when the pollable is ready. */
TEST(io_stream_read_waits_until_something_is_there)
{
    input_init("hello", 0, RT_E_AGAIN);
    start();
    EXPECT(!user.done);
    EXPECT_EQ(user.moved.size, 77);
    EXPECT_EQ(rt_reactor_waiting(&dumb.runtime.reactor), 1);
    more(3);
    EXPECT(user.done);
    EXPECT_EQ(user.moved.err, RT_OK);
    EXPECT_EQ(user.moved.size, 3);
    EXPECT(memcmp(user.buffer, "hel", 3) == 0);
    finish();
}

/* Holds N3: a read of no bytes is not the end; it is tried again. */
TEST(io_stream_read_of_no_bytes_is_no_end)
{
    input_init("hello", 5, RT_E_CLOSED);
    brook.empty = 1;
    dumb.host.ready[SOURCE] = true;
    start();
    EXPECT(user.done);
    EXPECT_EQ(user.moved.err, RT_OK);
    EXPECT_EQ(user.moved.size, 5);
    EXPECT_EQ(brook.calls, 2);
    finish();
}

/* Holds N3, B2: a stream that stays ready and has nothing does not keep the others from running. */
TEST(io_stream_read_of_no_bytes_again_and_again_gives_way)
{
    input_init("hello", 5, RT_E_CLOSED);
    brook.empty = 5;
    dumb.host.ready[SOURCE] = true;
    rt_task_init(&user.task, user_poll, NULL, "user");
    EXPECT_EQ(rt_post(&dumb.runtime.executor, &user.task), RT_OK);
    EXPECT(rt_run_one(&dumb.runtime.executor));
    EXPECT_EQ(brook.calls, 2);
    EXPECT_EQ(user.task.state, RT_TASK_WOKEN);
    dumb_run(&dumb);
    EXPECT_EQ(user.task.polls, 3);
    EXPECT_EQ(user.moved.size, 5);
    finish();
}

/* Holds N3: no bytes and not ready is a wait like any other. */
TEST(io_stream_read_of_no_bytes_that_is_not_ready_waits)
{
    input_init("hello", 5, RT_E_CLOSED);
    brook.empty = 1;
    start();
    EXPECT(!user.done);
    EXPECT_EQ(brook.calls, 1);
    more(0);
    EXPECT_EQ(user.moved.size, 5);
    finish();
}

TEST(io_stream_read_at_the_end_is_closed)
{
    input_init("", 0, RT_E_CLOSED);
    start();
    EXPECT_EQ(user.moved.err, RT_E_CLOSED);
    EXPECT_EQ(user.moved.size, 0);
    finish();
}

TEST(io_stream_read_into_an_empty_buffer_is_refused)
{
    input_init("hello", 5, RT_E_AGAIN);
    user.size = 0;
    start();
    EXPECT_EQ(user.moved.err, RT_E_INVALID);
    EXPECT_EQ(brook.calls, 0);
    finish();
}

/* Holds R3: a read that is dropped has taken nothing, and waits for nothing. */
TEST(io_stream_read_dropped_takes_nothing)
{
    input_init("hello", 0, RT_E_AGAIN);
    start();
    rt_task_cancel(&user.task);
    rt_read_cancel(&user.input);
    EXPECT_EQ(rt_reactor_waiting(&dumb.runtime.reactor), 0);
    more(5);
    EXPECT_EQ(brook.moved, 0);
    start();
    EXPECT_EQ(user.moved.size, 5);
    finish();
}

TEST(io_stream_without_capacity_for_its_pollable_is_not_made)
{
    struct rt_input input;
    struct rt_output output;
    input_init("", 0, RT_E_AGAIN);
    dumb.host.capacity = 0;
    EXPECT_EQ(rt_input_init(&input, &input_ops, &brook), RT_E_FULL);
    EXPECT_EQ(rt_output_init(&output, &output_ops, &brook), RT_E_FULL);
    finish();
}

/* ---- To the end. ----------------------------------------------------------------------------- */

static void
read_to_end(size_t size)
{
    rt_read_to_end_init(&user.as.read, &user.input, user.buffer, size);
    user.future = &user.as.read.future;
    start();
}

TEST(io_stream_read_to_end_takes_short_reads_and_pauses)
{
    input_init("hello, stream", 5, RT_E_AGAIN);
    brook.at_most = 2;
    read_to_end(sizeof(user.buffer));
    EXPECT(!user.done);
    EXPECT_EQ(user.as.read.length, 5);
    more(4);
    EXPECT_EQ(user.as.read.length, 9);
    brook.end = RT_E_CLOSED;
    more(4);
    EXPECT(user.done);
    EXPECT_EQ(user.as.read.err, RT_OK);
    EXPECT_EQ(user.as.read.length, 13);
    EXPECT_STR(user.buffer, "hello, stream");
    finish();
}

TEST(io_stream_read_to_end_of_a_buffer_of_the_right_size_is_no_error)
{
    input_init("hello", 5, RT_E_CLOSED);
    read_to_end(5);
    EXPECT_EQ(user.as.read.err, RT_OK);
    EXPECT_EQ(user.as.read.length, 5);
    finish();
}

/* What does not fit is named, and is not lost. */
TEST(io_stream_read_to_end_of_a_small_buffer_is_full_and_loses_nothing)
{
    input_init("hello", 5, RT_E_CLOSED);
    read_to_end(3);
    EXPECT_EQ(user.as.read.err, RT_E_FULL);
    EXPECT_EQ(user.as.read.length, 3);
    EXPECT_EQ(user.as.read.spill, 'l');
    EXPECT_EQ(brook.there, 1);
    finish();
}

TEST(io_stream_read_to_end_without_a_buffer_is_for_empty_streams)
{
    input_init("", 0, RT_E_CLOSED);
    rt_read_to_end_init(&user.as.read, &user.input, NULL, 0);
    user.future = &user.as.read.future;
    start();
    EXPECT_EQ(user.as.read.err, RT_OK);
    finish();
}

TEST(io_stream_read_to_end_that_fails_keeps_what_it_has)
{
    input_init("hello", 3, RT_E_LIMIT);
    read_to_end(sizeof(user.buffer));
    EXPECT_EQ(user.as.read.err, RT_E_LIMIT);
    EXPECT_EQ(user.as.read.length, 3);
    finish();
}

/* Holds R3, T20: dropped, it waits for nothing, and the rest is still in the stream. */
TEST(io_stream_read_to_end_dropped_leaves_the_rest)
{
    input_init("hello", 3, RT_E_AGAIN);
    read_to_end(sizeof(user.buffer));
    rt_task_cancel(&user.task);
    rt_future_drop(user.future);
    EXPECT_EQ(rt_reactor_waiting(&dumb.runtime.reactor), 0);
    brook.there = 2;
    EXPECT_EQ(user.as.read.length, 3);
    user.future = NULL;
    start();
    EXPECT_EQ(user.moved.size, 2);
    EXPECT(memcmp(user.buffer, "lo", 2) == 0);
    finish();
}

/* ---- Output. --------------------------------------------------------------------------------- */

TEST(io_stream_write_moves_what_fits)
{
    output_init("hello", 0, RT_E_AGAIN);
    start();
    EXPECT(!user.done);
    more(3);
    EXPECT_EQ(user.moved.err, RT_OK);
    EXPECT_EQ(user.moved.size, 3);
    EXPECT_STR(brook.taken, "hel");
    finish();
}

TEST(io_stream_write_dropped_moves_nothing)
{
    output_init("hello", 0, RT_E_AGAIN);
    start();
    rt_task_cancel(&user.task);
    rt_write_cancel(&user.output);
    more(5);
    EXPECT_EQ(brook.moved, 0);
    user.size = 0;
    start();
    EXPECT_EQ(user.moved.err, RT_E_INVALID);
    finish();
}

static void
write_all(void)
{
    rt_write_all_init(&user.as.write, &user.output, user.buffer, user.size);
    user.future = &user.as.write.future;
    start();
}

TEST(io_stream_write_all_takes_as_many_writes_as_it_needs)
{
    output_init("hello", 2, RT_E_AGAIN);
    brook.at_most = 1;
    write_all();
    EXPECT(!user.done);
    EXPECT_EQ(user.as.write.written, 2);
    more(3);
    EXPECT(user.done);
    EXPECT_EQ(user.as.write.err, RT_OK);
    EXPECT_STR(brook.taken, "hello");
    finish();
}

/* Holds N6: the other side is closed; what was written before is known. */
TEST(io_stream_write_all_to_a_closed_peer_reports_the_bytes_written)
{
    output_init("hello", 2, RT_E_CLOSED);
    write_all();
    EXPECT_EQ(user.as.write.err, RT_E_CLOSED);
    EXPECT_EQ(user.as.write.written, 2);
    finish();
}

TEST(io_stream_write_all_of_nothing_is_ready_at_once)
{
    output_init("", 0, RT_E_AGAIN);
    write_all();
    EXPECT(user.done);
    EXPECT_EQ(brook.calls, 0);
    finish();
}

/* Holds R3. */
TEST(io_stream_write_all_dropped_waits_for_nothing)
{
    output_init("hello", 2, RT_E_AGAIN);
    write_all();
    rt_task_cancel(&user.task);
    rt_future_drop(user.future);
    EXPECT_EQ(user.as.write.written, 2);
    finish();
}

/*
 * local_metal_test.c -- writes of several parts, Unix sockets and pipes on the kernel.
 *
 * A mover is a task that writes, or reads and compares, the bytes 0, 7, 14 … of one long text; it
 * ends with the first error, or when it has moved them all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/local.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/tests/host/worker.h"

#define LONG_TEXT (16u << 20) /* More than the system keeps for a connection. */
/* Those who record each call move less (sim/tests/host/record). */
#ifdef METAL_TEXT
#define TEXT METAL_TEXT
#else
#define TEXT LONG_TEXT
#endif

struct mover {
    struct rt_task task;
    struct rt_tcp_stream *stream;
    struct rt_io_wait wait;
    bool writes;
    uint32_t at;
    uint32_t short_writes;
    rt_err err;
};

static uint8_t
byte_at(uint32_t place)
{
    return (uint8_t)(place * 7 + (place >> 8));
}

/* On the heap while it is moved: after each test the search for leaks reads what is static. */
static uint8_t *novel;

/* Three parts, the second of them empty, that are too long together for most writes. */
static rt_poll
mover_write(struct mover *mover, struct rt_cx *cx, struct rt_tcp_moved *moved)
{
    uint32_t left = TEXT - mover->at;
    uint32_t first = left < 5 ? left : 5;
    const struct rt_net_part parts[] = {
            {novel + mover->at, first}, {NULL, 0}, {novel + mover->at + first, left - first}};
    RT_AWAIT(rt_tcp_writev(mover->stream, &mover->wait, cx, parts, 3, moved));
    mover->short_writes += moved->err == RT_OK && moved->size < left;
    return RT_READY;
}

static rt_poll
mover_read(struct mover *mover, struct rt_cx *cx, struct rt_tcp_moved *moved)
{
    uint8_t buffer[3000];
    RT_AWAIT(rt_tcp_read(mover->stream, &mover->wait, cx, buffer, sizeof(buffer), moved));
    for (uint32_t i = 0; i < moved->size; i++) {
        if (buffer[i] != byte_at(mover->at + i)) {
            ck_abort_msg("byte %u is another one", mover->at + i);
        }
    }
    return RT_READY;
}

static rt_poll
mover_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct mover *mover = rt_container_of(task, struct mover, task);
    while (mover->err == RT_OK && mover->at < TEXT) {
        struct rt_tcp_moved moved;
        RT_AWAIT(mover->writes ? mover_write(mover, cx, &moved) : mover_read(mover, cx, &moved));
        mover->err = moved.err;
        mover->at += (uint32_t)moved.size;
    }
    return RT_READY;
}

static void
mover_start(struct mover *mover, struct metal *metal, struct rt_tcp_stream *stream, bool writes)
{
    *mover = (struct mover){.stream = stream, .writes = writes};
    rt_io_wait_init(&mover->wait);
    rt_task_init(&mover->task, mover_poll, NULL, writes ? "writes" : "reads");
    EXPECT_EQ(rt_post(metal_executor(metal), &mover->task), RT_OK);
}

/* The whole text goes from `writer` to `reader`. */
static void
move_text(struct metal *metal, struct rt_tcp_stream *writer, struct rt_tcp_stream *reader)
{
    struct mover movers[2];
    novel = malloc(TEXT);
    EXPECT(novel != NULL);
    for (uint32_t i = 0; i < TEXT; i++) {
        novel[i] = byte_at(i);
    }
    mover_start(&movers[0], metal, writer, true);
    mover_start(&movers[1], metal, reader, false);
    workers_run(metal);
    EXPECT_EQ(movers[0].at, TEXT);
    EXPECT_EQ(movers[1].at, TEXT);
    EXPECT(movers[0].short_writes > 0 || TEXT < LONG_TEXT);
    free(novel);
}

/* Goal: parts are written in order as one text, an empty one among them, and a write that is cut
 * off continues where it ended. Holds N7. */
TEST(metal_parts_are_written_as_one)
{
    struct metal metal;
    struct rt_tcp_stream client;
    struct rt_tcp_stream server;
    metal_init(&metal);
    metal_connect(&metal, &client, &server);
    move_text(&metal, &client, &server);
    rt_tcp_close(&client);
    rt_tcp_close(&server);
    metal_fini(&metal);
}

/* ---- Unix sockets. --------------------------------------------------------------------------- */

/* A path that nothing has, in a folder of this test. */
struct hideout {
    char folder[64];
    char path[96];
};

static void
hideout_init(struct hideout *hideout)
{
    (void)snprintf(hideout->folder, sizeof(hideout->folder), "/tmp/rt-local-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(hideout->folder));
    (void)snprintf(hideout->path, sizeof(hideout->path), "%s/socket", hideout->folder);
}

static struct rt_io *
runtime_io(struct metal *metal)
{
    return &metal->machine.runtime.io;
}

static void
local_listen(struct metal *metal, struct rt_tcp_listener *listener, const char *path)
{
    struct worker worker;
    rt_tcp_listener_init(listener);
    EXPECT_EQ(rt_local_listen_start(listener, runtime_io(metal), path, 4), RT_OK);
    worker_start(&worker, metal, "listen", listener, NULL, "l");
    workers_run(metal);
    EXPECT_EQ(worker.errs[0], RT_OK);
}

/* Goal: a Unix socket is a stream like any other, found by its path, and the path is free again
 * when its listener is closed: the folder can be removed. Holds N8. */
TEST(metal_local_stream_is_found_by_its_path)
{
    struct metal metal;
    struct hideout hideout;
    struct rt_tcp_listener listener;
    struct rt_tcp_listener second;
    struct rt_tcp_stream client;
    struct rt_tcp_stream server;
    struct worker calls;
    struct worker accepts;
    hideout_init(&hideout);
    metal_init(&metal);
    rt_tcp_stream_init(&client);
    rt_tcp_stream_init(&server);
    rt_tcp_listener_init(&second);
    EXPECT_EQ(rt_local_connect_start(&client, runtime_io(&metal), hideout.path), RT_E_REFUSED);
    local_listen(&metal, &listener, hideout.path);
    EXPECT_EQ(rt_local_listen_start(&second, runtime_io(&metal), hideout.path, 4),
            RT_E_ADDRESS_IN_USE);
    EXPECT_EQ(rt_local_connect_start(&client, runtime_io(&metal), hideout.path), RT_OK);
    worker_start(&calls, &metal, "calls", NULL, &client, "c");
    worker_start(&accepts, &metal, "accepts", &listener, &server, "a");
    workers_run(&metal);
    EXPECT_EQ(calls.errs[0], RT_OK);
    EXPECT_EQ(accepts.errs[0], RT_OK);
    EXPECT_EQ(server.peer.port, 0);
    move_text(&metal, &client, &server);
    worker_start(&calls, &metal, "calls", NULL, &client, "wsr");
    worker_start(&accepts, &metal, "accepts", NULL, &server, "rrw");
    workers_run(&metal);
    EXPECT_EQ(accepts.errs[1], RT_E_CLOSED);
    EXPECT_EQ(calls.sizes[2], 4);
    rt_tcp_close(&client);
    rt_tcp_close(&server);
    rt_tcp_listener_close(&listener);
    local_listen(&metal, &listener, hideout.path);
    rt_tcp_listener_close(&listener);
    ck_assert_int_eq(rmdir(hideout.folder), 0);
    metal_fini(&metal);
}

/* Goal: no path, and one that is too long, are refused; a backlog that is full is reported at once,
 * as no event would follow. Holds N8. */
TEST(metal_local_path_and_backlog_have_limits)
{
    struct metal metal;
    struct hideout hideout;
    struct rt_tcp_listener listener;
    struct rt_tcp_stream streams[8];
    char longest[RT_LOCAL_PATH + 2];
    uint32_t open = 0;
    rt_err err = RT_OK;
    hideout_init(&hideout);
    metal_init(&metal);
    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    rt_tcp_listener_init(&listener);
    EXPECT_EQ(rt_local_listen_start(&listener, runtime_io(&metal), "", 4), RT_E_INVALID);
    EXPECT_EQ(rt_local_listen_start(&listener, runtime_io(&metal), longest, 4), RT_E_INVALID);
    EXPECT_EQ(rt_local_listen_start(&listener, runtime_io(&metal), "/nowhere/at/all", 4),
            RT_E_SYSTEM);
    EXPECT_EQ(rt_local_listen_start(&listener, runtime_io(&metal), hideout.path, 1), RT_OK);
    while (err == RT_OK && open < 8) {
        rt_tcp_stream_init(&streams[open]);
        err = rt_local_connect_start(&streams[open], runtime_io(&metal), hideout.path);
        open += err == RT_OK;
    }
    EXPECT_EQ(err, RT_E_FULL);
    while (open > 0) {
        rt_tcp_close(&streams[--open]);
    }
    rt_tcp_listener_close(&listener);
    ck_assert_int_eq(rmdir(hideout.folder), 0);
    metal_fini(&metal);
}

/* ---- Pipes. ---------------------------------------------------------------------------------- */

static void
pipe_open(struct metal *metal, struct rt_tcp_stream *reader, struct rt_tcp_stream *writer)
{
    rt_tcp_stream_init(reader);
    rt_tcp_stream_init(writer);
    EXPECT_EQ(rt_pipe_open(runtime_io(metal), reader, writer), RT_OK);
    EXPECT_EQ(rt_pipe_open(runtime_io(metal), reader, writer), RT_E_BUSY);
}

/* Goal: a pipe holds back its writer while it is full, has one direction, and ends. Holds N10. */
TEST(metal_pipe_has_one_direction)
{
    struct metal metal;
    struct rt_tcp_stream reader;
    struct rt_tcp_stream writer;
    struct worker reads;
    struct worker writes;
    metal_init(&metal);
    pipe_open(&metal, &reader, &writer);
    move_text(&metal, &writer, &reader);
    worker_start(&reads, &metal, "reads", NULL, &reader, "wsRR");
    worker_start(&writes, &metal, "writes", NULL, &writer, "rspwpx");
    workers_run(&metal);
    EXPECT_EQ(reads.errs[0], RT_E_INVALID);
    EXPECT_EQ(reads.errs[1], RT_E_INVALID);
    EXPECT_EQ(reads.sizes[2], 4);
    EXPECT_EQ(reads.errs[3], RT_E_CLOSED);
    EXPECT_EQ(writes.errs[0], RT_E_INVALID);
    EXPECT_EQ(writes.errs[1], RT_E_INVALID);
    rt_tcp_close(&reader);
    metal_fini(&metal);
}

/* Goal: pipes that are filled while their readers leave, many at a time and again and again: each
 * writer hears of it, and nothing is left open. Holds N6, N10. */
TEST(metal_pipes_are_filled_and_left_at_random)
{
    enum { PIPES = 40 };
    static const char *const leaves[] = {"x", "Rx", "px", "RRpRx"};
    static struct rt_tcp_stream readers[PIPES];
    static struct rt_tcp_stream writers[PIPES];
    static struct worker reads[PIPES];
    static struct worker writes[PIPES];
    struct metal metal;
    metal_init(&metal);
    for (uint32_t round = 0; round < 20; round++) {
        for (uint32_t i = 0; i < PIPES; i++) {
            pipe_open(&metal, &readers[i], &writers[i]);
            const char *script = leaves[(i * 7 + round * 3) % 4];
            worker_start(&writes[i], &metal, "writes", NULL, &writers[i], "Wwx");
            worker_start(&reads[i], &metal, "reads", NULL, &readers[i], script);
        }
        workers_run(&metal);
        for (uint32_t i = 0; i < PIPES; i++) {
            EXPECT_EQ(writes[i].errs[0], RT_E_CLOSED);
            EXPECT_EQ(writes[i].errs[1], RT_E_CLOSED);
        }
    }
    metal_fini(&metal);
}

/* Goal: a writer that waits for a full pipe hears of the reader's end; no SIGPIPE, whose default
 * would end this process. Holds N6, N10. */
TEST(metal_pipe_without_a_reader_is_no_signal)
{
    struct metal metal;
    struct rt_tcp_stream reader;
    struct rt_tcp_stream writer;
    struct worker reads;
    struct worker writes;
    metal_init(&metal);
    ck_assert(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    pipe_open(&metal, &reader, &writer);
    worker_start(&reads, &metal, "reads", NULL, &reader, "Rppx");
    worker_start(&writes, &metal, "writes", NULL, &writer, "Ww");
    workers_run(&metal);
    EXPECT_EQ(writes.errs[0], RT_E_CLOSED);
    EXPECT_EQ(writes.errs[1], RT_E_CLOSED);
    rt_tcp_close(&writer);
    metal_fini(&metal);
}

/*
 * libuv-2382.c -- a flag is cleared after the callback that has just set it.
 *
 * libuv/libuv#2382 (be8b351), uv__stream_eof in src/unix/stream.c.
 *
 * The bug. At the end of a stream its watcher is stopped, the user's read callback is called with
 * the end, and then the flag "reading" is cleared. A callback may start reading again: that starts
 * the watcher and sets the flag, which is then cleared. So the watcher is active and the descriptor
 * readable (its end is still there), but the stream's handler sees no flag and does nothing: the
 * loop runs at full speed forever, and the user is never called again.
 *
 * The fix. The flag is cleared before the callback: stream_eof below.
 *
 * Here. A collector reads a report from a pipe. A pipe may end because its writer was restarted, so
 * the collector reads on after the first ends, up to a given number, and then closes.
 *
 * Cause: not-a-wake in stream_eof or loop_run
 * Must end in: livelock. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BATCH_MAX 4
#define STREAMS_MAX 16

/* ---- Loop and streams, as in libuv. ---------------------------------------------------------- */

#define STREAM_READING 1u
#define STREAM_EOF 2u

struct stream;

/* `size` bytes were read; 0: the end. */
typedef void (*read_callback)(struct stream *stream, const char *bytes, size_t size);

struct loop {
    struct sim_fds *fds;
    struct stream *streams[STREAMS_MAX]; /* By number. */
    uint32_t active;                     /* Watchers. */
};

struct stream {
    struct loop *loop;
    int fd;
    uint32_t flags;
    bool watched;
    bool broken;
    read_callback on_read;
};

static void
watcher_start(struct stream *stream)
{
    if (!stream->watched) {
        rt_err err = sim_fd_add(stream->loop->fds, stream->fd, SIM_FD_IN, (uint64_t)stream->fd);
        SIM_ALWAYS(err == RT_OK);
        stream->loop->streams[stream->fd] = stream;
        stream->watched = true;
        stream->loop->active++;
    }
}

static void
watcher_stop(struct stream *stream)
{
    if (stream->watched) {
        SIM_ALWAYS(sim_fd_remove(stream->loop->fds, stream->fd) == RT_OK);
        stream->watched = false;
        stream->loop->active--;
    }
}

static void
stream_read_start(struct stream *stream)
{
    stream->flags |= STREAM_READING;
    watcher_start(stream);
}

static void
stream_close(struct stream *stream)
{
    watcher_stop(stream);
    stream->flags = 0;
    SIM_ALWAYS(sim_fd_close(stream->loop->fds, stream->fd) == RT_OK);
}

static void
stream_eof(struct stream *stream)
{
    stream->flags |= STREAM_EOF;
    if (!stream->broken) {
        stream->flags &= ~STREAM_READING;
    }
    watcher_stop(stream);
    stream->on_read(stream, NULL, 0);
    if (stream->broken) {
        stream->flags &= ~STREAM_READING;
    }
}

static void
stream_io(struct stream *stream)
{
    char bytes[8];
    if ((stream->flags & STREAM_READING) == 0) {
        return;
    }
    int64_t moved = sim_fd_read(stream->loop->fds, stream->fd, bytes, sizeof(bytes));
    if (moved > 0) {
        stream->on_read(stream, bytes, (size_t)moved);
    } else if (moved == 0) {
        stream_eof(stream);
    }
}

static void
loop_run(struct loop *loop)
{
    while (loop->active > 0) {
        struct sim_fd_event batch[BATCH_MAX];
        uint32_t count = sim_fd_wait(loop->fds, batch, BATCH_MAX, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            stream_io(loop->streams[batch[i].data]);
        }
    }
}

/* ---- The collector. -------------------------------------------------------------------------- */

struct state {
    struct loop loop;
    struct stream stream;
    uint32_t chances; /* Ends after which it reads on. */
    size_t size;
    int writer;
};

static void
on_report(struct stream *stream, const char *bytes, size_t size)
{
    struct state *state = rt_container_of(stream, struct state, stream);
    (void)bytes;
    state->size += size;
    if (size > 0) {
        return;
    }
    if (state->chances == 0) {
        stream_close(stream);
        return;
    }
    state->chances--;
    stream_read_start(stream);
}

static void
collector_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    (void)world;
    stream_read_start(&state->stream);
    loop_run(&state->loop);
}

static void
reporter_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    for (uint32_t i = 0; i < 3; i++) {
        SIM_ALWAYS(sim_fd_write(state->loop.fds, state->writer, "all well", 8) > 0);
        sim_sleep(world, sim_range(world, 1 * RT_MS, 5 * RT_MS));
    }
    SIM_ALWAYS(sim_fd_close(state->loop.fds, state->writer) == RT_OK);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    int ends[2] = {-1, -1};
    state->loop.fds = sim_fds_new(host, 3);
    SIM_ALWAYS(sim_fd_pair(state->loop.fds, "pipe", 0, 2 * RT_MS, ends) == RT_OK);
    state->stream = (struct stream){
            .loop = &state->loop, .fd = ends[0], .broken = broken, .on_read = on_report};
    state->writer = ends[1];
    state->chances = sim_pick(world, 3);
    (void)sim_loop_new(world, "collector", collector_main, state);
    (void)sim_loop_new(world, "reporter", reporter_main, state);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_libuv_2382_broken, .name = "zoo/libuv-2382/broken", .bug = "D14",
        .reference = "libuv/libuv#2382",
        .about = "The flag that a callback sets is cleared when the callback has returned.",
        .setup = setup_broken, .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_LIVELOCK);
SIM_SCENARIO(zoo_libuv_2382_fixed, .name = "zoo/libuv-2382/fixed",
        .about = "The flag is cleared before the callback that may set it.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);

/*
 * evented.c -- a foreign runtime: a loop of callbacks, without any wakers.
 *
 * The loop is like those around epoll: watchers with a callback each, a timer, and one descriptor
 * by which other threads call it ("async"). It sleeps in the fake host's sim_fd_wait
 * (sim/host/fd.h). There is no waker to store or fire, so it reports only the callbacks that it
 * calls (sim/bind/foreign.h), and the oracle's question to a watcher is a spurious event: the
 * callback is called, and finds that there was work.
 *
 * The bug. Several calls of async_send before the loop calls the callback count as one, and only
 * the first of them writes to the descriptor: the flag `sent` records that. The loop clears the
 * flag after the callback. An item that is sent after the callback's last check, while the flag is
 * still set, is neither seen by the callback nor written to the descriptor.
 *
 * The fix. The flag is cleared before the callback is called.
 *
 * Here. A worker thread hands over two results, and calls async_send for each; a peer sends bytes
 * over a connection, and a timer ends the program. The second result has to arrive in the short
 * time between the end of the callback and the clearing of the flag.
 *
 * Cause: never-fired in worker_main or async_send
 * Must end in: lost-wakeup of `results`. Fails on the baseline run: no, there the loop has slept
 * between the results.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

/* ---- A loop of callbacks. -------------------------------------------------------------------- */

#define WATCHERS_MAX 4

struct watcher {
    void (*on_event)(struct watcher *watcher);
    int fd; /* -1: none, it is the timer's. */
    bool is_async;
    bool closed;
};

struct loop {
    struct sim_world *world;
    struct sim_fds *fds;
    struct watcher *watchers[WATCHERS_MAX];
    uint32_t count;
    uint64_t deadline_ns; /* Of the timer; SIM_NEVER: none. */
    bool sent;            /* The async descriptor was written, its callback not called yet. */
    bool clears_first;    /* The fix. */
};

/* Called from any thread. */
static void
async_send(struct loop *loop, const struct watcher *async)
{
    if (!loop->sent) {
        loop->sent = true;
        SIM_ALWAYS(sim_fd_notify(loop->fds, async->fd) == RT_OK);
    }
}

static void
watcher_close(struct loop *loop, struct watcher *watcher)
{
    watcher->closed = true;
    if (watcher->fd != -1) {
        SIM_ALWAYS(sim_fd_close(loop->fds, watcher->fd) == RT_OK);
    }
}

static void
loop_call(struct watcher *watcher)
{
    sim_foreign_poll(watcher);
    watcher->on_event(watcher);
    sim_foreign_polled(watcher, watcher->closed);
}

static void
loop_call_async(struct loop *loop, struct watcher *async)
{
    uint64_t times = 0;
    (void)sim_fd_read(loop->fds, async->fd, &times, sizeof(times));
    if (loop->clears_first) {
        loop->sent = false;
    }
    loop_call(async);
    if (!loop->clears_first) {
        loop->sent = false;
    }
}

static void
loop_call_timer(struct loop *loop)
{
    for (uint32_t i = 0; i < loop->count; i++) {
        struct watcher *watcher = loop->watchers[i];
        if (watcher->fd == -1 && !watcher->closed) {
            loop_call(watcher);
        }
    }
}

static bool
loop_is_done(const struct loop *loop)
{
    uint32_t closed = 0;
    for (uint32_t i = 0; i < loop->count; i++) {
        closed += loop->watchers[i]->closed;
    }
    return closed == loop->count;
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    while (!loop_is_done(loop)) {
        struct sim_fd_event batch[WATCHERS_MAX];
        uint64_t now_ns = sim_now(world);
        uint64_t left_ns = loop->deadline_ns > now_ns ? loop->deadline_ns - now_ns : 0;
        uint64_t timeout_ns = loop->deadline_ns != SIM_NEVER ? left_ns : SIM_NEVER;
        uint32_t count = sim_fd_wait(loop->fds, batch, WATCHERS_MAX, timeout_ns);
        for (uint32_t i = 0; i < count; i++) {
            struct watcher *watcher = loop->watchers[batch[i].data];
            if (watcher->closed) {
                continue;
            }
            if (watcher->is_async) {
                loop_call_async(loop, watcher);
            } else {
                loop_call(watcher);
            }
        }
        if (sim_now(world) >= loop->deadline_ns) {
            loop->deadline_ns = SIM_NEVER;
            loop_call_timer(loop);
        }
    }
}

/* The oracle's question: a spurious event. A timer has none before its deadline. */
static void
loop_again(void *argument, void *watcher)
{
    const struct loop *loop = argument;
    struct watcher *asked = watcher;
    if (asked->fd != -1 || sim_now(loop->world) >= loop->deadline_ns) {
        loop_call(asked);
    }
}

/* ---- A program for it. ----------------------------------------------------------------------- */

#define RESULTS 2
#define BYTES 4

struct program {
    struct loop loop;
    struct watcher results; /* Async: the worker has something. */
    struct watcher peer;
    struct watcher timer;
    uint32_t handed_over; /* By the worker. */
    uint32_t handled;     /* By the loop. */
    uint32_t received;
};

static void
on_results(struct watcher *watcher)
{
    struct program *program = rt_container_of(watcher, struct program, results);
    program->handled = program->handed_over;
    if (program->handled == RESULTS) {
        watcher_close(&program->loop, watcher);
    }
}

static void
on_peer(struct watcher *watcher)
{
    struct program *program = rt_container_of(watcher, struct program, peer);
    char bytes[BYTES];
    int64_t size = sim_fd_read(program->loop.fds, watcher->fd, bytes, sizeof(bytes));
    program->received += size > 0 ? (uint32_t)size : 0;
    if (program->received == BYTES) {
        watcher_close(&program->loop, watcher);
    }
}

static void
on_timer(struct watcher *watcher)
{
    struct program *program = rt_container_of(watcher, struct program, timer);
    watcher_close(&program->loop, watcher);
}

/* A separate thread. */
static void
worker_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    for (uint32_t i = 0; i < RESULTS; i++) {
        sim_sleep(world, sim_range(world, RT_MS, 2 * RT_MS));
        program->handed_over++;
        async_send(&program->loop, &program->results);
    }
}

/* ---- Into the simulator. --------------------------------------------------------------------- */

static void
add(struct loop *loop, struct watcher *watcher, void (*on_event)(struct watcher *watcher))
{
    watcher->on_event = on_event;
    if (watcher->fd != -1) {
        SIM_ALWAYS(sim_fd_add(loop->fds, watcher->fd, SIM_FD_IN, loop->count) == RT_OK);
    }
    loop->watchers[loop->count++] = watcher;
}

static void
begin(struct sim_world *world, bool clears_first)
{
    struct program *program = sim_new(world, struct program);
    struct loop *loop = &program->loop;
    int ends[2] = {-1, -1};
    loop->world = world;
    loop->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    loop->clears_first = clears_first;
    loop->deadline_ns = 2 * RT_MS;
    SIM_ALWAYS(sim_fd_event_open(loop->fds, "async", &program->results.fd) == RT_OK);
    SIM_ALWAYS(sim_fd_pair(loop->fds, "peer", RT_MS, 3 * RT_MS, ends) == RT_OK);
    for (uint32_t i = 0; i < BYTES; i++) {
        SIM_ALWAYS(sim_fd_write(loop->fds, ends[1], &"ping"[i], 1) == 1);
    }
    program->results.is_async = true;
    program->peer.fd = ends[0];
    program->timer.fd = -1;

    add(loop, &program->results, on_results);
    add(loop, &program->peer, on_peer);
    add(loop, &program->timer, on_timer);

    struct sim_loop *thread = sim_loop_new(world, "loop", loop_main, loop);
    struct sim_foreign *foreign = sim_foreign_new(thread, loop_again, loop);
    sim_foreign_watch(foreign, &program->results, "results", "a result");
    sim_foreign_watch(foreign, &program->peer, "peer", "bytes");
    sim_foreign_watch(foreign, &program->timer, "timer", "its time");
    (void)sim_loop_new(world, "worker", worker_main, program);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(outside_evented_broken, .name = "foreign/evented/broken",
        .about = "A loop of callbacks clears the flag of a call after it has made the call.",
        .setup = setup_broken, .profile = SIM_PROFILE_FD,
        .survives = SIM_FAULT_EINTR | SIM_FAULT_CLOCK, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(outside_evented_fixed, .name = "foreign/evented/fixed",
        .about = "A loop of callbacks clears the flag of a call before it makes the call.",
        .setup = setup_fixed, .profile = SIM_PROFILE_FD,
        .survives = SIM_FAULT_EINTR | SIM_FAULT_CLOCK);

/*
 * smol-151.c -- two tasks clear one readiness flag.
 *
 * smol-rs/smol#151 (review comment).
 *
 * The bug. A source has one flag "readable" that all its tasks share. A task tries the operation;
 * if it would block, the task clears the flag and waits for it. Two tasks try, and both would
 * block. The first one clears the flag. An event arrives: the reactor sets the flag, and wakes the
 * waiting task. Then the second task, with its earlier result, clears the flag. When the first one
 * checks, the flag is clear; both sleep, and the event is never handled.
 *
 * The fix. The tick of the source's events is read before the operation; the flag is cleared only
 * if no event arrived since: source_clear below.
 *
 * Here. Two workers take datagrams from one socket. The operation is made by a sandbox, whose
 * answer takes some time: that is the gap. Each datagram is a job, and there are as many as both
 * workers together will do.
 *
 * Cause: order, source_event before source_clear or fired-early in source_event
 * Must end in: lost-wakeup of a worker. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BATCH_MAX 4
#define WORKERS 2
#define JOBS 4 /* The total number. */

/* ---- Reactor and source. --------------------------------------------------------------------- */

struct source {
    bool broken;
    struct sim_fds *fds;
    int fd;
    bool readable;
    uint32_t tick; /* Events so far. */
    struct rt_wait_queue_entry entries[WORKERS];
    struct rt_wait_queue waiting;
};

static void
source_event(struct source *source)
{
    source->readable = true;
    source->tick++;
    (void)rt_wait_queue_wake(&source->waiting, UINT32_MAX);
}

static rt_poll
source_poll_readable(struct source *source, struct rt_cx *cx)
{
    if (source->readable) {
        (void)rt_wait_queue_leave(&source->waiting, cx);
        return RT_READY;
    }
    SIM_ALWAYS(rt_wait_queue_store(&source->waiting, cx, "a datagram") == RT_OK);
    return RT_PENDING;
}

/* An operation that began at `tick` would have blocked. */
static void
source_clear(struct source *source, uint32_t tick)
{
    if (source->broken || source->tick == tick) {
        source->readable = false;
    }
}

static void
reactor_main(struct sim_world *world, void *argument)
{
    struct source *source = argument;
    (void)world;
    for (;;) {
        struct sim_fd_event batch[BATCH_MAX];
        uint32_t count = sim_fd_wait(source->fds, batch, BATCH_MAX, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            source_event(source);
        }
    }
}

/* ---- Workers. -------------------------------------------------------------------------------- */

struct worker {
    struct rt_task task;
    struct state *state;
    bool calling; /* The sandbox is working. */
    uint32_t tick;
    bool blocked; /* The sandbox's result. */
    struct rt_sleep sandbox;
};

struct state {
    struct sim_world *world;
    struct source source;
    struct worker workers[WORKERS];
    uint32_t done;
    int peer;
};

/* Reads one datagram through the sandbox. */
static rt_poll
try_read(struct worker *worker, struct rt_cx *cx)
{
    struct state *state = worker->state;
    struct source *source = &state->source;
    if (!worker->calling) {
        char job = 0;
        worker->calling = true;
        worker->tick = source->tick;
        worker->blocked = sim_fd_read(source->fds, source->fd, &job, 1) != 1;
        state->done += worker->blocked ? 0 : 1;
        rt_sleep_init(&worker->sandbox, sim_range(state->world, 0, 2 * RT_MS));
    }
    RT_AWAIT(rt_sleep_poll(&worker->sandbox, cx));
    worker->calling = false;
    return RT_READY;
}

/* The last job is done: no worker waits for another one. */
static rt_poll
finish(struct state *state)
{
    source_event(&state->source);
    return RT_READY;
}

static rt_poll
worker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct worker *worker = rt_container_of(task, struct worker, task);
    struct state *state = worker->state;
    for (;;) {
        if (!worker->calling) {
            if (state->done == JOBS) {
                return finish(state);
            }
            RT_AWAIT(source_poll_readable(&state->source, cx));
        }
        RT_AWAIT(try_read(worker, cx));
        if (worker->blocked) {
            source_clear(&state->source, worker->tick);
        }
    }
}

static void
sender_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    for (uint32_t i = 0; i < JOBS; i++) {
        SIM_ALWAYS(sim_fd_write(state->source.fds, state->peer, "*", 1) == 1);
        sim_sleep(world, sim_range(world, 5 * RT_MS, 6 * RT_MS) - sim_pick(world, 3) * 2 * RT_MS);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct state *state = sim_new(world, struct state);
    struct source *source = &state->source;
    int ends[2] = {-1, -1};
    state->world = world;
    source->broken = broken;
    source->fds = sim_fds_new(sim_rt_host(rt), 3);
    SIM_ALWAYS(sim_fd_pair(source->fds, "socket", 0, RT_MS, ends) == RT_OK);
    source->fd = ends[0];
    state->peer = ends[1];
    rt_wait_queue_init(&source->waiting, source->entries, WORKERS);
    SIM_ALWAYS(sim_fd_add(source->fds, source->fd, SIM_FD_IN | SIM_FD_EDGE, 0) == RT_OK);
    for (uint32_t i = 0; i < WORKERS; i++) {
        struct worker *worker = &state->workers[i];
        worker->state = state;
        rt_task_init(&worker->task, worker_poll, NULL, "worker");
        sim_spawn(rt, &worker->task);
    }
    (void)sim_loop_new_background(world, "reactor", reactor_main, source);
    (void)sim_loop_new_background(world, "sender", sender_main, state);
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

SIM_SCENARIO(zoo_smol_151_broken, .name = "zoo/smol-151/broken", .bug = "D05",
        .reference = "smol-rs/smol#151",
        .about = "A task clears readiness that came after its own operation.",
        .setup = setup_broken, .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(zoo_smol_151_fixed, .name = "zoo/smol-151/fixed",
        .about = "Readiness is cleared only if nothing came since the operation began.",
        .setup = setup_fixed, .profile = SIM_PROFILE_FD);

/*
 * monoio-147.c -- a loop parks without checking for its main future's own wake.
 *
 * bytedance/monoio#147, fixed by da26455. monoio is a thread-per-core runtime over io_uring.
 *
 * The bug. block_on keeps the wake of its main future in a separate mark, beside the queue of
 * tasks. A round runs the tasks, polls the main future if it is marked, and parks if the queue is
 * empty. A main future that wakes itself while it is polled leaves the mark set and the queue
 * empty: the loop parks with runnable work.
 *
 * The fix. "If it is marked, poll it" became "while it is marked, poll it" (B1). Our executor has
 * one queue for all, so monoio-147.patch excludes the root from the check for woken tasks, when its
 * poll has left no other task woken: runtime/runtime.c, poll_woken and run_loop.
 *
 * Here. The main future reads an upload, at most three times a poll; then it yields by waking
 * itself, as a cooperation budget does. If one chunk arrives after the other, each poll reads once,
 * finds no more and waits. If there is more (a chunk was early, reads were short), the budget ends
 * the poll, and the main future's own wake is the only one left. A task that waits for a signal to
 * end keeps the host's list from being empty, so the loop parks there, forever.
 *
 * Cause: coalesced in read_some or run_loop or not-a-wake in run_loop
 * Must end in: lost-wakeup of main. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define UPLOAD "sixteen letters."
#define SIZE (sizeof(UPLOAD) - 1)
#define CHUNK 8
#define READS_A_POLL 3

struct state {
    struct sim_rt *rt;
    struct rt_task main;
    struct sim_input *upload;
    struct rt_pollable readable;
    struct rt_wait wait;
    char text[SIZE + 1];
    size_t length;
    struct rt_task signal;
    struct rt_pollable signalled;
    struct rt_wait signal_wait;
};

/* READY at the end of the upload. */
static rt_poll
read_some(struct state *state, struct rt_cx *cx)
{
    for (uint32_t i = 0; i < READS_A_POLL; i++) {
        size_t size = 0;
        rt_err err = sim_input_read(state->upload, state->text + state->length,
                sizeof(state->text) - state->length, &size);
        if (err == RT_E_CLOSED) {
            return RT_READY;
        }
        if (err == RT_E_AGAIN) {
            RT_AWAIT(rt_wait_for(&state->wait, &state->readable, cx));
        }
        state->length += size;
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static rt_poll
main_poll(struct rt_task *task, struct rt_cx *cx)
{
    return read_some(rt_container_of(task, struct state, main), cx);
}

static rt_poll
signal_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, signal);
    return rt_wait_for(&state->signal_wait, &state->signalled, cx);
}

static void
main_cleanup(struct rt_task *task)
{
    struct state *state = rt_container_of(task, struct state, main);
    rt_wait_cancel(&state->wait);
    rt_pollable_drop(&state->readable);
}

static void
signal_cleanup(struct rt_task *task)
{
    struct state *state = rt_container_of(task, struct state, signal);
    rt_wait_cancel(&state->signal_wait);
    rt_pollable_drop(&state->signalled);
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    (void)world;
    SIM_ALWAYS(rt_block_on(sim_rt_runtime(state->rt), &state->main) == RT_OK);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.by_loop = true};
    struct state *state = sim_new(world, struct state);
    state->rt = sim_rt_new(world, &options);
    struct sim_host *host = sim_rt_host(state->rt);
    state->upload = sim_input_new(host, "upload", UPLOAD, SIZE, CHUNK, 1 * RT_MS, 9 * RT_MS);
    SIM_ALWAYS(sim_input_subscribe(state->upload, &state->readable) == RT_OK);
    struct sim_source *signal = sim_source_new(host, "signal to end");
    SIM_ALWAYS(sim_source_subscribe(signal, &state->signalled) == RT_OK);
    rt_wait_init(&state->wait);
    rt_wait_init(&state->signal_wait);
    rt_task_init(&state->main, main_poll, main_cleanup, "main");
    rt_task_init(&state->signal, signal_poll, signal_cleanup, "signal");
    sim_spawn_background(state->rt, &state->signal);
    (void)sim_loop_new(world, "block_on", loop_main, state);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_monoio_147_broken, .name = "zoo/monoio-147/broken", .bug = "A08",
        .reference = "bytedance/monoio#147",
        .about = "block_on parks although its main future has woken itself.", .setup = setup,
        .expect = SIM_VERDICT_LOST_WAKEUP);
#else
SIM_SCENARIO(zoo_monoio_147_fixed, .name = "zoo/monoio-147/fixed",
        .about = "block_on polls its main future for as long as that wakes itself, then parks.",
        .setup = setup);
#endif

/*
 * wstd-73.c -- a loop that polls its host only when no task is woken.
 *
 * bytecodealliance/wstd#73, fixed by #78. wstd is an async runtime for WASI 0.2 components.
 *
 * The bug. With a run queue (wstd-69.c is the version before it), block_on emptied it and then
 * blocked in the reactor. A task that works in pieces and yields between them is back in the queue
 * each time, so the queue is never empty: no pollable is polled, no timer fires. A timeout beside
 * the work cannot end it.
 *
 * The fix. While a task is woken, the loop polls the host every few polls without blocking (B2,
 * D11). wstd-73.patch removes the bound on polls between two turns of the host from
 * runtime/runtime.c.
 *
 * Here. A job of 4000 pieces, joined with a deadline of 2 ms that stops it. A join polls only the
 * woken child, so the job's yields do not make the deadline read the clock. The time for a piece
 * depends on the input, so it is drawn: with short pieces the job is done in time; with others the
 * deadline is overdue by a thousand polls before the job ends by itself.
 *
 * Cause: not-a-wake in poll_woken or job_poll or never-fired in poll_woken
 * Must end in: starvation (a timer is due and not checked). Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define PIECES 4000
#define LIMIT_NS (2 * RT_MS)

struct job {
    struct rt_future future;
    struct sim_world *world;
    uint64_t piece_ns;
    uint32_t pieces;
    bool stop; /* Set by the deadline. */
};

struct deadline {
    struct rt_future future;
    struct rt_sleep sleep;
    struct job *job;
};

struct state {
    struct sim_rt *rt;
    struct rt_task root;
    struct rt_join join;
    struct rt_child children[2];
    struct job job;
    struct deadline deadline;
};

/* One piece a poll; other tasks run in between. */
static rt_poll
job_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct job *job = rt_container_of(future, struct job, future);
    if (job->stop || job->pieces == PIECES) {
        return RT_READY;
    }
    sim_work(job->world, job->piece_ns);
    job->pieces++;
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static rt_poll
deadline_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct deadline *deadline = rt_container_of(future, struct deadline, future);
    RT_AWAIT(rt_sleep_poll(&deadline->sleep, cx));
    deadline->job->stop = true;
    return RT_READY;
}

static rt_poll
root_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, root);
    return rt_join_poll(&state->join, cx);
}

static void
main_loop(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    SIM_ALWAYS(rt_block_on(sim_rt_runtime(state->rt), &state->root) == RT_OK);
    sim_log(world, "%u of %u pieces done", state->job.pieces, PIECES);
}

static void
job_init(struct job *job, struct sim_world *world)
{
    job->world = world;
    job->piece_ns = sim_range(world, 100, 2000);
    rt_future_init(&job->future, job_poll, NULL, "job");
}

static void
deadline_init(struct deadline *deadline, struct job *job)
{
    deadline->job = job;
    rt_sleep_init(&deadline->sleep, LIMIT_NS);
    rt_future_init(&deadline->future, deadline_poll, NULL, "deadline");
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.by_loop = true};
    struct state *state = sim_new(world, struct state);
    state->rt = sim_rt_new(world, &options);
    job_init(&state->job, world);
    deadline_init(&state->deadline, &state->job);
    state->children[0].future = &state->job.future;
    state->children[1].future = &state->deadline.future;
    rt_join_init(&state->join, state->children, 2);
    rt_task_init(&state->root, root_poll, NULL, "root");
    (void)sim_loop_new(world, "main", main_loop, state);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_wstd_73_broken, .name = "zoo/wstd-73/broken", .bug = "D23",
        .reference = "bytecodealliance/wstd#73",
        .about = "The host is polled only when no task is woken: a deadline never fires.",
        .setup = setup, .expect = SIM_VERDICT_STARVATION);
#else
SIM_SCENARIO(zoo_wstd_73_fixed, .name = "zoo/wstd-73/fixed",
        .about = "The host is polled regularly even while tasks are woken.", .setup = setup);
#endif

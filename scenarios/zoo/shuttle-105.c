/*
 * shuttle-105.c -- a join handle remembers the task that polled it, and not the waker.
 *
 * awslabs/shuttle#105.
 *
 * The bug. In a test harness a join handle stores the task that waits for it, and makes that task
 * runnable at the end. The handle is polled by a combinator in that task, with the combinator's own
 * waker, which records the child that is ready. That waker is not called; the task is polled, the
 * combinator sees no child woken, and the harness reports a deadlock.
 *
 * The fix. A handle that is not ready stores the waker that it was polled with. shuttle-105.patch
 * makes rt_task_join, in runtime/task/task.c, store the waker of the task instead.
 *
 * Here. A main task joins the end of a worker with a pause. A join that is polled and finds no
 * child woken polls all of them, so the worker's end is usually seen. If the pause ends too before
 * the main task is polled, it is not: the pause was woken by its own waker, and is the only child
 * that is polled.
 *
 * Cause: never-stored in rt_task_join_at or handle_poll or coalesced in call_ended
 * Must end in: lost-wakeup of the main task. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

enum { HANDLE, PAUSE, CHILDREN };

#define PAUSE_NS RT_MS

struct state {
    struct rt_task main;
    struct rt_join join;
    struct rt_child children[CHILDREN];
    struct rt_sleep_future pause;
    struct rt_future handle;
    struct rt_task worker;
    struct rt_sleep work;
};

/* The end of the worker, as a future. */
static rt_poll
handle_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct state *state = rt_container_of(future, struct state, handle);
    return rt_task_join(&state->worker, cx);
}

static rt_poll
worker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, worker);
    return rt_sleep_poll(&state->work, cx);
}

static rt_poll
main_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, main);
    return rt_join_poll(&state->join, cx);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct state *state = sim_new(world, struct state);
    rt_sleep_init(&state->work, sim_pick(world, 2) == 0 ? 2 * PAUSE_NS : PAUSE_NS);
    rt_future_init(&state->handle, handle_poll, NULL, "handle");
    rt_task_init(&state->worker, worker_poll, NULL, "worker");
    rt_sleep_future_init(&state->pause, PAUSE_NS);
    state->children[HANDLE].future = &state->handle;
    state->children[PAUSE].future = &state->pause.future;
    rt_join_init(&state->join, state->children, CHILDREN);
    rt_task_init(&state->main, main_poll, NULL, "main");
    sim_spawn(rt, &state->main);
    sim_spawn(rt, &state->worker);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_shuttle_105_broken, .name = "zoo/shuttle-105/broken", .bug = "I08",
        .reference = "awslabs/shuttle#105",
        .about = "A handle wakes the task that polled it, past the combinator's waker.",
        .setup = setup, .expect = SIM_VERDICT_LOST_WAKEUP);
#else
SIM_SCENARIO(zoo_shuttle_105_fixed, .name = "zoo/shuttle-105/fixed",
        .about = "A handle wakes the waker that it was polled with.", .setup = setup);
#endif

/*
 * glommio-401.c -- a waker that a foreign executor drops leaks the memory of its task.
 *
 * DataDog/glommio#401 (pull request #404).
 *
 * The bug. A task is destroyed when it is complete and its last reference is dropped. A waker may
 * be dropped on another executor, which must not destroy this one's tasks; so it only gives its
 * reference back. If that was the last reference of a completed task, no later step destroys it.
 * (The same issue reports a count that began one too high, and leaked every task; finding that
 * needs no search.)
 *
 * The fix. Such a drop schedules the task on its home executor as a foreign wake does, and that
 * destroys it: waker_drop_foreign below.
 *
 * Here. A task asks a resolver on another executor, which holds a waker of it. The task's time
 * limit expires, or the answer arrives before; the resolver drops the waker with its answer. The
 * task owns a socket's pollable, and a task that is never destroyed never returns it.
 *
 * Cause: not-a-wake in waker_drop_foreign or home_main
 * Must end in: leak. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct task {
    uint32_t references;
    bool complete;
    struct rt_pollable socket; /* Returned when the task is destroyed. */
};

struct state {
    bool broken;
    struct task task;
    struct sim_source *network;
    struct sim_loop *home;
    struct task *foreign_wakes; /* Sent to the home executor; there is space for the one task. */
    bool resolver_closed;
    uint64_t limit_ns;
    uint64_t answer_ns;
};

static void
destroy(struct task *task)
{
    rt_pollable_drop(&task->socket);
}

/* ---- The home executor. ---------------------------------------------------------------------- */

/* After the run that has completed it: drops the scheduler's reference. */
static void
complete(struct task *task)
{
    task->complete = true;
    task->references--;
    if (task->references == 0) {
        destroy(task);
    }
}

static void
process_foreign_wakes(struct state *state)
{
    struct task *task = state->foreign_wakes;
    state->foreign_wakes = NULL;
    if (task != NULL && task->complete && task->references == 0) {
        destroy(task);
    }
}

static void
home_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    SIM_ALWAYS(sim_source_subscribe(state->network, &state->task.socket) == RT_OK);
    sim_sleep(world, state->limit_ns);
    complete(&state->task);
    while (!state->resolver_closed) {
        sim_loop_block(world, 0, "the other executor", RT_HERE);
    }
    process_foreign_wakes(state);
}

/* ---- The other executor. --------------------------------------------------------------------- */

static void
waker_drop_foreign(struct state *state, struct task *task)
{
    task->references--;
    if (!state->broken && task->references == 0 && task->complete) {
        state->foreign_wakes = task;
    }
}

static void
resolver_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    sim_sleep(world, state->answer_ns);
    waker_drop_foreign(state, &state->task);
    state->resolver_closed = true;
    sim_loop_wake(state->home);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct state *state = sim_new(world, struct state);
    state->broken = broken;
    state->task.references = 2; /* The scheduler's, and the resolver's waker. */
    state->limit_ns = 10 * RT_MS;
    state->answer_ns = sim_range(world, 1 * RT_MS, 20 * RT_MS);
    state->network = sim_source_new(host, "network");
    state->home = sim_loop_new(world, "home", home_main, state);
    (void)sim_loop_new(world, "resolver", resolver_main, state);
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

SIM_SCENARIO(zoo_glommio_401_broken, .name = "zoo/glommio-401/broken", .bug = "G02",
        .reference = "DataDog/glommio#401",
        .about = "A complete task whose last waker is dropped elsewhere is never destroyed.",
        .setup = setup_broken, .expect = SIM_VERDICT_LEAK);
SIM_SCENARIO(zoo_glommio_401_fixed, .name = "zoo/glommio-401/fixed",
        .about = "A complete task whose last waker is dropped elsewhere is sent home.",
        .setup = setup_fixed);

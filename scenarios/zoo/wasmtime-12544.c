/*
 * wasmtime-12544.c -- a subtask outlives its parent, and only its parent may cancel it.
 *
 * bytecodealliance/wasmtime#12544, fixed by #12570; #13024 (#13041) fixed the rest of it.
 *
 * The bug. A task of the component model may start a subtask and end before it. The subtask then
 * got a new parent, the caller of its old one. The host asserted that a subtask is cancelled by its
 * parent. But the number of a subtask is valid in its whole instance: a guest may keep it in a
 * global, and cancel it in a later call. That call is not the parent, and the host panics.
 *
 * The fix. A subtask gets no new parent, and any task of the instance may cancel it: task_exit and
 * subtask_cancel below.
 *
 * Here. An embedder calls `start`, which begins a download as a subtask, and later `stop`, which
 * cancels it if it is still running. The download works in pieces, and yields between them. If it
 * is done before the second call, there is nothing to cancel.
 *
 * Cause: not-a-wake in subtask_cancel or task_exit
 * Must end in: crash. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "sim/rewake.h"

#define PIECES_MAX 20u
#define PIECE_NS (50 * RT_US)
#define HOST 0u

/* ---- The host's side of an instance. --------------------------------------------------------- */

struct instance {
    bool broken;
    struct sim_world *world;
    uint32_t running; /* The task; HOST: none. */
    uint32_t tasks;   /* So far. */
    uint32_t parent;  /* Of the subtask, which is the guest's only one. */
    bool cancelled;
    bool over;
    uint32_t pieces;
    struct rt_task subtask;
};

static void
task_enter(struct instance *instance)
{
    instance->running = ++instance->tasks;
}

static void
task_exit(struct instance *instance)
{
    if (instance->broken && instance->parent == instance->running) {
        instance->parent = HOST; /* The caller of the task that ends. */
    }
    instance->running = HOST;
}

static void
subtask_cancel(struct instance *instance)
{
    if (instance->broken && instance->parent != instance->running) {
        abort(); /* assert_eq!(expected_caller, current) */
    }
    instance->cancelled = true;
}

static rt_poll
subtask_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct instance *instance = rt_container_of(task, struct instance, subtask);
    if (instance->cancelled || instance->pieces == 0) {
        instance->over = true;
        return RT_READY;
    }
    instance->pieces--;
    sim_work(instance->world, PIECE_NS);
    rt_cx_reenqueue(cx); /* CALLBACK_CODE_YIELD */
    return RT_PENDING;
}

/* ---- The guest, and its callers. ------------------------------------------------------------- */

struct embedder {
    struct sim_rt *rt;
    struct instance instance;
    struct rt_task task;
    struct rt_sleep pause;
    bool started;
    bool stopped;
};

static void
call_start(struct embedder *embedder)
{
    struct instance *instance = &embedder->instance;
    task_enter(instance);
    instance->parent = instance->running;
    sim_spawn(embedder->rt, &instance->subtask);
    task_exit(instance);
}

static void
call_stop(struct embedder *embedder)
{
    struct instance *instance = &embedder->instance;
    task_enter(instance);
    if (!instance->over) {
        subtask_cancel(instance);
    }
    task_exit(instance);
}

static rt_poll
embedder_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct embedder *embedder = rt_container_of(task, struct embedder, task);
    if (!embedder->started) {
        embedder->started = true;
        call_start(embedder);
    }
    if (!embedder->stopped) {
        RT_AWAIT(rt_sleep_poll(&embedder->pause, cx));
        embedder->stopped = true;
        call_stop(embedder);
    }
    return rt_task_join(&embedder->instance.subtask, cx);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct embedder *embedder = sim_new(world, struct embedder);
    struct instance *instance = &embedder->instance;
    embedder->rt = sim_rt_new(world, NULL);
    instance->broken = broken;
    instance->world = world;
    instance->pieces = (uint32_t)sim_range(world, 0, PIECES_MAX);
    rt_sleep_init(&embedder->pause, 2 * RT_MS - sim_range(world, 0, 2 * RT_MS));
    rt_task_init(&instance->subtask, subtask_poll, NULL, "download");
    rt_task_init(&embedder->task, embedder_poll, NULL, "embedder");
    sim_spawn(embedder->rt, &embedder->task);
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

SIM_SCENARIO(zoo_wasmtime_12544_broken, .name = "zoo/wasmtime-12544/broken", .bug = "J05",
        .reference = "bytecodealliance/wasmtime#12544",
        .about = "A subtask that outlives its parent cannot be cancelled without a panic.",
        .setup = setup_broken, .expect = SIM_VERDICT_CRASH);
SIM_SCENARIO(zoo_wasmtime_12544_fixed, .name = "zoo/wasmtime-12544/fixed",
        .about = "A subtask that outlives its parent can be cancelled by its instance.",
        .setup = setup_fixed);

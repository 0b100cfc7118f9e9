/*
 * futures-rs-2593.c -- a pool is reported stalled although a task has just woken itself.
 *
 * rust-lang/futures-rs#2593 (commit 657264d), LocalPool::run_until_stalled.
 *
 * The bug. The pool polls woken tasks and considers itself stalled when a poll returns PENDING. A
 * task that only yields returns PENDING too, and has woken itself before.
 *
 * The fix. The pool is stalled when no task is woken. futures-rs-2593.patch makes
 * rt_run_until_stalled, in runtime/task/executor.c, return after a poll in which the task has
 * woken itself.
 *
 * Here. The loop of a program runs its tasks until they are stalled and then sleeps until an event
 * arrives from outside. An importer yields after each piece of a large file; a small one is
 * imported in one piece. No event arrives after the last file, so a large one is never imported.
 *
 * Cause: coalesced in importer_poll or not-a-wake in rt_run_until_stalled or program_main
 * Must end in: lost-wakeup of an importer. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define FILES 3u
#define PIECES_MAX 4u

struct importer {
    struct rt_task task;
    struct rt_slot file;
    bool here; /* Its file has arrived. */
    uint32_t pieces;
};

struct state {
    struct sim_rt *rt;
    struct importer importers[FILES];
    struct sim_loop *program;
    bool arrived;
};

static rt_poll
importer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct importer *importer = rt_container_of(task, struct importer, task);
    if (!importer->here) {
        rt_slot_replace(&importer->file, cx, "its file");
        return RT_PENDING;
    }
    importer->pieces--;
    if (importer->pieces > 0) {
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    return RT_READY;
}

/* The number of importers that are not done. */
static uint32_t
run_until_stalled(struct state *state)
{
    struct rt_run_result result;
    struct rt_executor *executor = sim_rt_executor(state->rt);
    SIM_ALWAYS(rt_run_until_stalled(executor, RT_COUNT_MAX, &result) == RT_OK);
    return result.remaining;
}

static void
program_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    while (run_until_stalled(state) > 0) {
        while (!state->arrived) {
            sim_loop_block(world, 0, "a file", RT_HERE);
        }
        state->arrived = false;
    }
}

static void
disk_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    for (uint32_t i = 0; i < FILES; i++) {
        sim_sleep(world, RT_MS);
        state->importers[i].here = true;
        rt_slot_wake(&state->importers[i].file);
        state->arrived = true;
        sim_loop_wake(state->program);
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const names[FILES] = {"importer a", "importer b", "importer c"};
    struct sim_rt_options options = {.by_loop = true};
    struct state *state = sim_new(world, struct state);
    state->rt = sim_rt_new(world, &options);
    for (uint32_t i = 0; i < FILES; i++) {
        struct importer *importer = &state->importers[i];
        importer->pieces = 1 + sim_pick(world, PIECES_MAX);
        rt_slot_init(&importer->file);
        rt_task_init(&importer->task, importer_poll, NULL, names[i]);
        sim_spawn(state->rt, &importer->task);
    }
    state->program = sim_loop_new(world, "program", program_main, state);
    (void)sim_loop_new(world, "disk", disk_main, state);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_futures_rs_2593_broken, .name = "zoo/futures-rs-2593/broken", .bug = "I07",
        .reference = "rust-lang/futures-rs#2593",
        .about = "A pool is reported stalled although a task has woken itself.", .setup = setup,
        .expect = SIM_VERDICT_LOST_WAKEUP);
#else
SIM_SCENARIO(zoo_futures_rs_2593_fixed, .name = "zoo/futures-rs-2593/fixed",
        .about = "A pool is stalled when no task is woken.", .setup = setup);
#endif

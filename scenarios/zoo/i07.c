/*
 * i07.c -- "stalled" is said of a pool in which a task has just woken itself.
 *
 * rust-lang/futures-rs#2593 (commit 657264d), LocalPool::run_until_stalled.
 *
 * The bug. The pool polled what was woken and took itself for stalled when a poll answered "not
 * yet". A task that only gives way says that too, and has woken itself before.
 *
 * The fix. The pool is stalled when nobody is woken: run_until_stalled below.
 *
 * Here. A loop of a program runs the pool until it is stalled and then sleeps until something comes
 * in from outside. An importer gives way after each piece of a large file, a small one is done in
 * one piece. Nothing comes in after the last file, and the large one is never imported.
 *
 * Must end in: deadlock of the program's loop. Fails on the dullest run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define FILES 3u
#define PIECES_MAX 4u

struct task {
    bool woken;
    bool waits; /* Its file is not here yet. */
    bool done;
    uint32_t pieces;
};

struct pool {
    struct task tasks[FILES];
    struct sim_loop *program;
    bool broken;
};

/* True: ready. A task that gives way has woken itself. */
static bool
importer_poll(struct task *task)
{
    if (task->waits) {
        return false;
    }
    if (task->pieces > 1) {
        task->pieces--;
        task->woken = true;
        return false;
    }
    return true;
}

static struct task *
next_woken(struct pool *pool)
{
    for (uint32_t i = 0; i < FILES; i++) {
        if (pool->tasks[i].woken && !pool->tasks[i].done) {
            return &pool->tasks[i];
        }
    }
    return NULL;
}

static void
run_until_stalled(struct pool *pool)
{
    struct task *task;
    while ((task = next_woken(pool)) != NULL) {
        task->woken = false;
        task->done = importer_poll(task);
        if (pool->broken && !task->done) {
            return;
        }
    }
}

static bool
all_done(const struct pool *pool)
{
    bool done = true;
    for (uint32_t i = 0; i < FILES; i++) {
        done = done && pool->tasks[i].done;
    }
    return done;
}

static void
program_main(struct sim_world *world, void *argument)
{
    struct pool *pool = argument;
    run_until_stalled(pool);
    while (!all_done(pool)) {
        sim_loop_block(world, 0, "a file", RT_HERE);
        run_until_stalled(pool);
    }
}

static void
disk_main(struct sim_world *world, void *argument)
{
    struct pool *pool = argument;
    for (uint32_t i = 0; i < FILES; i++) {
        sim_sleep(world, RT_MS);
        pool->tasks[i].waits = false;
        pool->tasks[i].woken = true;
        sim_loop_wake(pool->program);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct pool *pool = sim_new(world, struct pool);
    pool->broken = broken;
    for (uint32_t i = 0; i < FILES; i++) {
        pool->tasks[i].waits = true;
        pool->tasks[i].pieces = 1 + sim_pick(world, PIECES_MAX);
    }
    pool->program = sim_loop_new(world, "program", program_main, pool);
    (void)sim_loop_new(world, "disk", disk_main, pool);
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

SIM_SCENARIO(zoo_i07_broken, .name = "zoo/i07/broken", .bug = "I07",
        .reference = "rust-lang/futures-rs#2593",
        .about = "A pool is called stalled although a task has woken itself.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(zoo_i07_fixed, .name = "zoo/i07/fixed",
        .about = "A pool is stalled when no task is woken.", .setup = setup_fixed);

/*
 * tokio-3870.c -- a rule for tasks spawned during shutdown is applied to a running task.
 *
 * tokio-rs/tokio#3870 (issue #3869).
 *
 * The bug. A task spawned while the runtime shuts down must be dropped, as it will not run. The
 * check was made when a task is scheduled, which also happens to a woken task: a running task that
 * wakes itself to continue later was shut down during its own poll.
 *
 * The fix. A new task is accepted or refused when it is bound to the runtime, once; scheduling
 * drops no task: pool_bind and pool_schedule below.
 *
 * Here. A worker runs a copier, which copies one block after the other out of a buffer and yields
 * after each. A main thread stops the worker at some time. Between two polls all is well. During a
 * poll, the buffer is freed while the copier uses it. Freed memory is overwritten here, as by a
 * poisoning allocator.
 *
 * Cause: not-a-wake in copier_poll or pool_schedule
 * Must end in: crash. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/rewake.h"

#define BLOCKS 6
#define FREED 0x5a

struct pool;

typedef void (*block_fn)(struct pool *pool);

/* The copier's data: owned by its future, and freed with it. */
struct buffer {
    block_fn copy[BLOCKS];
};

struct copier {
    struct buffer *buffer;
    uint32_t copied;
    bool queued;
    bool dropped;
};

struct pool {
    struct sim_world *world;
    struct copier copier;
    uint32_t sum;
    bool stopping;
    bool broken;
};

static void
drop_future(struct copier *copier)
{
    if (!copier->dropped) {
        copier->dropped = true;
        memset(copier->buffer, FREED, sizeof(*copier->buffer));
    }
}

/* Schedules a spawned or a woken task. */
static void
pool_schedule(struct pool *pool, struct copier *copier)
{
    if (pool->broken && pool->stopping) {
        drop_future(copier);
        return;
    }
    copier->queued = true;
}

static void
pool_bind(struct pool *pool, struct copier *copier)
{
    if (!pool->broken && pool->stopping) {
        drop_future(copier);
        return;
    }
    pool_schedule(pool, copier);
}

/* One poll: a block, and "wake me again, others may run". */
static void
copier_poll(struct pool *pool, struct copier *copier)
{
    sim_work(pool->world, 100 * RT_US);
    if (copier->copied + 1 < BLOCKS) {
        pool_schedule(pool, copier);
    }
    copier->buffer->copy[copier->copied++](pool);
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct pool *pool = argument;
    struct copier *copier = &pool->copier;
    pool_bind(pool, copier);
    while (copier->queued && !pool->stopping) {
        copier->queued = false;
        /* Other threads run while this one takes the task. */
        sim_loop_pause(world);
        copier_poll(pool, copier);
        sim_loop_pause(world);
    }
    drop_future(copier);
}

static void
copy_block(struct pool *pool)
{
    pool->sum++;
}

static void
main_main(struct sim_world *world, void *argument)
{
    struct pool *pool = argument;
    bool hasty = sim_pick(world, 2) != 0;
    sim_sleep(world, hasty ? sim_range(world, 0, RT_MS) : 10 * RT_MS);
    pool->stopping = true;
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct pool *pool = sim_new(world, struct pool);
    pool->world = world;
    pool->broken = broken;
    pool->copier.buffer = sim_new(world, struct buffer);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        pool->copier.buffer->copy[i] = copy_block;
    }
    (void)sim_loop_new(world, "worker", worker_main, pool);
    (void)sim_loop_new(world, "main", main_main, pool);
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

SIM_SCENARIO(zoo_tokio_3870_broken, .name = "zoo/tokio-3870/broken", .bug = "H03",
        .reference = "tokio-rs/tokio#3870",
        .about = "A running task that wakes itself during shutdown is dropped at once.",
        .setup = setup_broken, .expect = SIM_VERDICT_CRASH);
SIM_SCENARIO(zoo_tokio_3870_fixed, .name = "zoo/tokio-3870/fixed",
        .about = "During shutdown only new tasks are refused, when they are bound.",
        .setup = setup_fixed);

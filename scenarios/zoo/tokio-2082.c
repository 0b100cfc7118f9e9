/*
 * tokio-2082.c -- tasks are dropped while the scheduler's lock is held.
 *
 * tokio-rs/tokio#2082 (issue #2046).
 *
 * The bug. At shutdown the scheduler takes its lock and drops the remaining tasks. Dropping one may
 * wake another: a dropped sender wakes its receiver. A wake schedules a task, which takes the lock.
 *
 * The fix. The tasks are taken out under the lock, and dropped after it is released: pool_shutdown
 * below.
 *
 * Here. A fetcher waits for data and then wakes a printer, which waits for it; a fetcher that is
 * dropped earlier hangs up, which wakes the printer too. A main thread shuts the pool down. If the
 * data have arrived by then, no task is woken; otherwise main waits for a lock that it holds
 * itself.
 *
 * Cause: not-a-wake in pool_shutdown or never-fired in pool_shutdown or lock_release
 * Must end in: deadlock of the main thread. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenarios/zoo/lock.h"
#include "sim/rewake.h"

#define TASKS 2

struct pool;

struct job {
    struct pool *pool;
    void (*run)(struct job *job);
    void (*drop)(struct job *job);
    bool queued;
    bool over; /* Finished, or dropped. */
};

struct pool {
    struct sim_world *world;
    struct lock lock;
    struct job *jobs[TASKS];
    struct sim_loop *worker;
    bool stopping;
    bool broken;
    /* What the jobs are about. */
    struct job fetcher;
    struct job printer;
    bool data;
    bool hung_up;
};

static void
pool_schedule(struct pool *pool, struct job *job)
{
    lock_take(&pool->lock);
    job->queued = !pool->stopping;
    lock_release(&pool->lock);
    sim_loop_wake(pool->worker);
}

/* Takes a task that was woken; NULL: there is none. */
static struct job *
pool_next(struct pool *pool)
{
    struct job *next = NULL;
    lock_take(&pool->lock);
    for (uint32_t i = 0; i < TASKS && next == NULL; i++) {
        next = pool->jobs[i]->queued ? pool->jobs[i] : NULL;
    }
    if (next != NULL) {
        next->queued = false;
    }
    lock_release(&pool->lock);
    return next;
}

static void
drop_jobs(struct pool *pool)
{
    for (uint32_t i = 0; i < TASKS; i++) {
        struct job *job = pool->jobs[i];
        if (!job->over) {
            job->over = true;
            job->drop(job);
        }
    }
}

static void
pool_shutdown(struct pool *pool)
{
    lock_take(&pool->lock);
    pool->stopping = true;
    if (!pool->broken) {
        lock_release(&pool->lock);
    }
    drop_jobs(pool);
    if (pool->broken) {
        lock_release(&pool->lock);
    }
    sim_loop_wake(pool->worker);
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct pool *pool = argument;
    while (!pool->stopping) {
        struct job *job = pool_next(pool);
        if (job != NULL && !job->over) {
            job->run(job);
        } else if (!pool->stopping) {
            sim_loop_block(world, 0, "a task to run", RT_HERE);
        }
    }
}

/* ---- A fetcher and a printer. ---------------------------------------------------------------- */

static void
fetcher_run(struct job *job)
{
    struct pool *pool = job->pool;
    if (pool->data) {
        job->over = true;
        pool_schedule(pool, &pool->printer);
    }
}

static void
fetcher_drop(struct job *job)
{
    job->pool->hung_up = true;
    pool_schedule(job->pool, &job->pool->printer);
}

static void
printer_run(struct job *job)
{
    job->over = job->pool->data || job->pool->hung_up;
}

static void
printer_drop(struct job *job)
{
    (void)job;
}

static void
network_main(struct sim_world *world, void *argument)
{
    struct pool *pool = argument;
    sim_sleep(world, sim_range(world, 1 * RT_MS, 5 * RT_MS));
    pool->data = true;
    pool_schedule(pool, &pool->fetcher);
}

static void
main_main(struct sim_world *world, void *argument)
{
    struct pool *pool = argument;
    bool hasty = sim_pick(world, 2) != 0;
    sim_sleep(world, hasty ? 4 * RT_MS : 10 * RT_MS);
    pool_shutdown(pool);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct pool *pool = sim_new(world, struct pool);
    pool->world = world;
    pool->lock = (struct lock){.world = world, .name = "the scheduler's lock"};
    pool->broken = broken;
    pool->fetcher = (struct job){.pool = pool, .run = fetcher_run, .drop = fetcher_drop};
    pool->printer = (struct job){.pool = pool, .run = printer_run, .drop = printer_drop};
    pool->jobs[0] = &pool->fetcher;
    pool->jobs[1] = &pool->printer;
    pool->worker = sim_loop_new(world, "worker", worker_main, pool);
    (void)sim_loop_new(world, "network", network_main, pool);
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

SIM_SCENARIO(zoo_tokio_2082_broken, .name = "zoo/tokio-2082/broken", .bug = "H01",
        .reference = "tokio-rs/tokio#2082",
        .about = "At shutdown tasks are dropped under the scheduler's lock.", .setup = setup_broken,
        .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(zoo_tokio_2082_fixed, .name = "zoo/tokio-2082/fixed",
        .about = "At shutdown tasks are taken out under the lock, and dropped after it.",
        .setup = setup_fixed);

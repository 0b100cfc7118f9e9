/*
 * e_search.c -- Two workers of a work-sharing pool. A submitter wakes a worker only if none is
 * searching for work already, as a searcher will find the job by itself.
 *
 * Cause: A worker that stops searching parks without checking the injector queue again, although
 * submitters skip the wake while it counts as a searcher.
 * Where: worker_main
 * Kind: no second check before parking
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define WORKERS 2
#define JOBS 4

static bool fixed;

struct pool {
    struct sim_fds *os[WORKERS];
    int bell[WORKERS];
    bool parked[WORKERS];
    int searching;
    int injected;
    int done;
    bool closed;
};

struct worker {
    struct pool *pool;
    int number;
};

static void
pool_ring(struct pool *pool, int number)
{
    pool->parked[number] = false;
    SIM_ALWAYS(sim_fd_notify(pool->os[number], pool->bell[number]) == RT_OK);
}

static void
pool_wake_one(struct pool *pool)
{
    if (pool->searching > 0) {
        return;
    }
    for (int i = 0; i < WORKERS; i++) {
        if (pool->parked[i]) {
            pool_ring(pool, i);
            return;
        }
    }
}

static bool
pool_take(struct pool *pool)
{
    if (pool->injected == 0) {
        return false;
    }
    pool->injected--;
    pool->done++;
    SIM_PROGRESS();
    if (pool->done == JOBS) {
        pool->closed = true;
        for (int i = 0; i < WORKERS; i++) {
            pool_ring(pool, i);
        }
    }
    return true;
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct worker *worker = argument;
    struct pool *pool = worker->pool;
    struct sim_fd_event event;
    uint64_t count;
    while (!pool->closed) {
        pool->searching++;
        bool found = pool_take(pool);
        sim_loop_pause(world); /* Looks into the other worker's queue. */
        pool->searching--;
        if (found) {
            continue;
        }
        pool->parked[worker->number] = true; /* Where. */
        if (pool->closed || (fixed && pool->injected > 0)) {
            pool->parked[worker->number] = false;
            continue;
        }
        sim_fd_wait(pool->os[worker->number], &event, 1, SIM_NEVER);
        sim_fd_read(pool->os[worker->number], pool->bell[worker->number], &count, sizeof(count));
        pool->parked[worker->number] = false;
    }
}

static void
submitter_main(struct sim_world *world, void *argument)
{
    struct pool *pool = argument;
    for (int i = 0; i < JOBS; i++) {
        sim_sleep(world, sim_range(world, 0, 1000));
        pool->injected++;
        pool_wake_one(pool);
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const names[] = {"worker-0", "worker-1"};
    struct pool *pool = sim_new(world, struct pool);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    for (int i = 0; i < WORKERS; i++) {
        struct worker *worker = sim_new(world, struct worker);
        pool->os[i] = sim_fds_new(host, 3);
        SIM_ALWAYS(sim_fd_event_open(pool->os[i], "bell", &pool->bell[i]) == RT_OK);
        SIM_ALWAYS(sim_fd_add(pool->os[i], pool->bell[i], SIM_FD_IN, 0) == RT_OK);
        worker->pool = pool;
        worker->number = i;
        sim_loop_new(world, names[i], worker_main, worker);
    }
    sim_loop_new(world, "submitter", submitter_main, pool);
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/e-search/broken",
        .about = "A pool whose searching workers need no wake.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP, .expect_also = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(form_fixed, .name = "unseen/e-search/fixed",
        .about = "A pool whose searching workers need no wake.", .setup = setup_fixed);

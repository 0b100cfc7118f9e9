/*
 * s_shared.c -- Two worker loops share a job queue and one eventfd in one epoll set.
 *
 * Cause: Reading the eventfd takes all notifications at once, but the worker then takes only one
 * job, so the other jobs that were announced have no notification left.
 * Where: worker_main
 * Kind: several notifications taken, one job done
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define JOBS 6

static bool fixed;

struct pool {
    struct sim_fds *os;
    int eventfd;
    int quit; /* Never read: wakes all. */
    uint32_t jobs;
    uint32_t done;
};

static bool
take_job(struct sim_world *world, struct pool *pool)
{
    if (pool->jobs == 0) {
        return false;
    }
    pool->jobs--;
    sim_sleep(world, 400);
    pool->done++;
    SIM_PROGRESS();
    if (pool->done == JOBS) {
        SIM_ALWAYS(sim_fd_notify(pool->os, pool->quit) == RT_OK);
    }
    return true;
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct pool *pool = argument;
    struct sim_fd_event event;
    uint64_t count;
    while (pool->done < JOBS) {
        if (sim_fd_wait(pool->os, &event, 1, SIM_NEVER) == 0 || event.data == 1) {
            continue;
        }
        sim_fd_read(pool->os, pool->eventfd, &count, sizeof(count)); /* Where. */
        while (take_job(world, pool) && fixed) {
        }
    }
}

static void
submitter_main(struct sim_world *world, void *argument)
{
    struct pool *pool = argument;
    for (int i = 0; i < JOBS; i++) {
        sim_sleep(world, sim_range(world, 2000, 5000) - sim_range(world, 0, 1999));
        pool->jobs++;
        SIM_ALWAYS(sim_fd_notify(pool->os, pool->eventfd) == RT_OK);
    }
}

static void
setup(struct sim_world *world)
{
    struct pool *pool = sim_new(world, struct pool);
    pool->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(pool->os, "jobs", &pool->eventfd) == RT_OK);
    SIM_ALWAYS(sim_fd_event_open(pool->os, "quit", &pool->quit) == RT_OK);
    SIM_ALWAYS(sim_fd_add(pool->os, pool->eventfd, SIM_FD_IN, 0) == RT_OK);
    SIM_ALWAYS(sim_fd_add(pool->os, pool->quit, SIM_FD_IN, 1) == RT_OK);
    sim_loop_new(world, "worker-1", worker_main, pool);
    sim_loop_new(world, "worker-2", worker_main, pool);
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

SIM_SCENARIO(form_broken, .name = "unseen/s-shared/broken", .about = "Two workers on one eventfd.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/s-shared/fixed", .about = "Two workers on one eventfd.",
        .setup = setup_fixed);

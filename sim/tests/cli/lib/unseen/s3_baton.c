// Cause: s3_baton.c:54 a worker that sees the pool closing returns without ringing again; the one edge of the bell was taken by it, so the workers that still sleep are never told.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define WORKERS 3
#define JOBS 6

struct pool {
    struct sim_fds *fds;
    int bell;
    uint32_t jobs;
    uint32_t done;
    bool closing;
    bool fixed;
};

static void
pool_ring(struct pool *pool)
{
    SIM_ALWAYS(sim_fd_notify(pool->fds, pool->bell) == RT_OK);
}

static bool
pool_take(struct pool *pool)
{
    if (pool->jobs == 0) {
        return false;
    }
    pool->jobs--;
    SIM_PROGRESS();
    if (pool->jobs > 0 || (pool->fixed && pool->closing)) {
        pool_ring(pool);
    }
    return true;
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct pool *pool = argument;
    struct sim_fd_event event;
    uint64_t counter;
    for (;;) {
        if (pool_take(pool)) {
            sim_sleep(world, sim_range(world, RT_MS, 4 * RT_MS));
            pool->done++;
            continue;
        }
        if (pool->closing) {
            if (pool->fixed) {
                pool_ring(pool);
            }
            return;
        }
        if (sim_fd_wait(pool->fds, &event, 1, SIM_NEVER) > 0 &&
                sim_fd_read(pool->fds, pool->bell, &counter, sizeof counter) < 0) {
            continue;
        }
    }
}

static void
manager_main(struct sim_world *world, void *argument)
{
    struct pool *pool = argument;
    uint32_t jobs = JOBS;
    while (jobs > 0) {
        uint32_t some = 3 - sim_pick(world, 3);
        some = some < jobs ? some : jobs;
        jobs -= some;
        pool->jobs += some;
        pool_ring(pool);
        sim_sleep(world, sim_range(world, RT_MS / 2, 5 * RT_MS));
    }
    pool->closing = true;
    pool_ring(pool);
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[WORKERS] = {"worker A", "worker B", "worker C"};
    struct pool *pool = sim_new(world, struct pool);
    pool->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    pool->fixed = fixed;
    SIM_ALWAYS(sim_fd_event_open(pool->fds, "bell", &pool->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(pool->fds, pool->bell, SIM_FD_IN | SIM_FD_EDGE, 0) == RT_OK);
    for (uint32_t i = 0; i < WORKERS; i++) {
        (void)sim_loop_new(world, names[i], worker_main, pool);
    }
    (void)sim_loop_new(world, "manager", manager_main, pool);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_baton/broken", .about = "Workers with one bell.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_baton/fixed", .about = "Workers with one bell.",
        .setup = setup_fixed);

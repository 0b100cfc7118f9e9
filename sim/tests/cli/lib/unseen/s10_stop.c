// SPDX-License-Identifier: Apache-2.0
/* Cause: pool_stop(), line 65: the workers are notified before `stopping` is set, and one that is
 * quick enough reads it as false and waits again. repair: set it before the first notification. */
#include <sim/rewake.h>

#define WORKERS 2
#define JOBS 3

struct pool;

struct worker {
    struct pool *pool;
    struct sim_fds *fds;
    int wake_fd;
};

struct pool {
    struct worker workers[WORKERS];
    uint32_t jobs;
    uint32_t finished;
    bool stopping;
    bool early;
};

static void
worker_main(struct sim_world *world, void *argument)
{
    struct worker *worker = argument;
    struct pool *pool = worker->pool;
    for (;;) {
        while (pool->jobs > 0) {
            pool->jobs--;
            sim_sleep(world, sim_range(world, 1 * RT_US, 50 * RT_US));
            pool->finished++;
        }
        if (pool->stopping) {
            break;
        }
        struct sim_fd_event event;
        uint64_t count;
        (void)sim_fd_wait(worker->fds, &event, 1, SIM_NEVER);
        (void)sim_fd_read(worker->fds, worker->wake_fd, &count, sizeof(count));
    }
}

static void
worker_notify(struct worker *worker)
{
    SIM_ALWAYS(sim_fd_notify(worker->fds, worker->wake_fd) == RT_OK);
}

static void
pool_submit(struct pool *pool, uint32_t number)
{
    pool->jobs++;
    worker_notify(&pool->workers[number % WORKERS]);
}

static void
pool_stop(struct pool *pool)
{
    pool->stopping = pool->early;
    for (uint32_t i = 0; i < WORKERS; i++) {
        worker_notify(&pool->workers[i]);
    }
    pool->stopping = true;
}

static void
main_main(struct sim_world *world, void *argument)
{
    struct pool *pool = argument;
    for (uint32_t i = 0; i < JOBS; i++) {
        pool_submit(pool, i);
        sim_sleep(world, sim_range(world, 1 * RT_US, 50 * RT_US));
    }
    pool_stop(pool);
}

static void
check(struct sim_world *world, void *argument)
{
    const struct pool *pool = argument;
    (void)world;
    SIM_ALWAYS(pool->finished == JOBS);
}

static void
begin(struct sim_world *world, bool early)
{
    static const char *const names[WORKERS] = {"worker 0", "worker 1"};
    struct pool *pool = sim_new(world, struct pool);
    struct sim_host *host = sim_host_new(world, "kernel", SIM_PROFILE_FD);
    pool->early = early;
    for (uint32_t i = 0; i < WORKERS; i++) {
        struct worker *worker = &pool->workers[i];
        worker->pool = pool;
        worker->fds = sim_fds_new(host, 3);
        SIM_ALWAYS(sim_fd_event_open(worker->fds, "wake", &worker->wake_fd) == RT_OK);
        SIM_ALWAYS(sim_fd_add(worker->fds, worker->wake_fd, SIM_FD_IN, 0) == RT_OK);
        (void)sim_loop_new(world, names[i], worker_main, worker);
    }
    (void)sim_loop_new(world, "main", main_main, pool);
    sim_set_state(world, pool);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(stop_broken, .name = "stop/broken", .about = "Two threads serve jobs, then stop.",
        .setup = setup_broken, .check = check);
SIM_SCENARIO(stop_fixed, .name = "stop/fixed", .about = "The same, repaired.", .setup = setup_fixed,
        .check = check);

// Cause: worker_main(): a worker that has found the queue empty gives up `searching` and parks without looking at
// the queue once more. submit() trusts a searching worker and wakes none, so a job that is submitted between the
// worker's take() and its `pool->searching--` lies in the queue while all workers are parked.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define WORKERS 2u
#define JOBS 5u

struct worker {
    struct pool *pool;
    struct sim_fds *fds;
    int bell;
    bool parked;
};

struct pool {
    struct sim_world *world;
    struct rt_host *clock;
    struct worker workers[WORKERS];
    uint64_t jobs[JOBS];
    uint32_t first;
    uint32_t end;
    uint32_t done;
    uint32_t searching;
    uint64_t idle_since;
    bool closed;
    bool looks_again;
};

static void
unpark(struct worker *worker)
{
    worker->parked = false;
    SIM_ALWAYS(sim_fd_notify(worker->fds, worker->bell) == RT_OK);
}

static void
wake_one(struct pool *pool)
{
    if (pool->searching > 0) {
        return; /* It will find the job. */
    }
    for (uint32_t i = 0; i < WORKERS; i++) {
        if (pool->workers[i].parked) {
            unpark(&pool->workers[i]);
            return;
        }
    }
}

static void
submit(struct pool *pool, uint64_t takes_ns)
{
    pool->jobs[pool->end++] = takes_ns;
    wake_one(pool);
}

static bool
take(struct pool *pool, uint64_t *ret_takes_ns)
{
    if (pool->first == pool->end) {
        return false;
    }
    *ret_takes_ns = pool->jobs[pool->first++];
    SIM_PROGRESS();
    return true;
}

static void
park(struct worker *worker)
{
    struct sim_fd_event event;
    uint64_t times = 0;
    (void)sim_fd_wait(worker->fds, &event, 1, SIM_NEVER);
    (void)sim_fd_read(worker->fds, worker->bell, &times, sizeof(times));
    worker->parked = false;
}

static void
run_job(struct pool *pool, uint64_t takes_ns)
{
    sim_sleep(pool->world, takes_ns);
    if (++pool->done == JOBS) {
        pool->closed = true;
        for (uint32_t i = 0; i < WORKERS; i++) {
            unpark(&pool->workers[i]);
        }
    }
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct worker *worker = argument;
    struct pool *pool = worker->pool;
    uint64_t takes_ns = 0;
    (void)world;
    while (!pool->closed) {
        pool->searching++;
        if (take(pool, &takes_ns)) {
            pool->searching--;
            if (pool->first != pool->end) {
                wake_one(pool);
            }
            run_job(pool, takes_ns);
            continue;
        }
        pool->idle_since = rt_host_now(pool->clock);
        pool->searching--;
        worker->parked = true;
        if (pool->looks_again && pool->first != pool->end) {
            worker->parked = false;
            continue;
        }
        if (!pool->closed) {
            park(worker);
        }
    }
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct pool *pool = argument;
    for (uint32_t i = 0; i < JOBS; i++) {
        sim_sleep(world, sim_range(world, 0, 20 * RT_US));
        submit(pool, sim_range(world, RT_US, 20 * RT_US));
    }
}

static void
begin(struct sim_world *world, bool looks_again)
{
    static const char *const names[WORKERS] = {"worker 1", "worker 2"};
    struct pool *pool = sim_new(world, struct pool);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    pool->world = world;
    pool->clock = sim_host_seam(host);
    pool->looks_again = looks_again;
    for (uint32_t i = 0; i < WORKERS; i++) {
        struct worker *worker = &pool->workers[i];
        worker->pool = pool;
        worker->fds = sim_fds_new(host, 3);
        SIM_ALWAYS(sim_fd_event_open(worker->fds, "bell", &worker->bell) == RT_OK);
        SIM_ALWAYS(sim_fd_add(worker->fds, worker->bell, SIM_FD_IN, 0) == RT_OK);
        (void)sim_loop_new(world, names[i], worker_main, worker);
    }
    (void)sim_loop_new(world, "client", client_main, pool);
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

SIM_SCENARIO(search_broken, .name = "set7/s7_search/broken",
        .about = "Two workers search one queue and park.", .setup = setup_broken,
        .profile = SIM_PROFILE_FD);
SIM_SCENARIO(search_fixed, .name = "set7/s7_search/fixed",
        .about = "Two workers search one queue and park.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);

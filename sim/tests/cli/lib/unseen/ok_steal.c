// Correct.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* Two workers with one queue. At most one worker searches at a time: who pushes a job wakes a
 * sleeper only where none searches, and the last one that stops searching looks again. */
#include <sim/rewake.h>

#define WORKERS 2
#define JOBS 5

struct worker {
    struct pool *pool;
    int bell;
    bool listed;
};

struct pool {
    struct sim_fds *fds;
    struct worker workers[WORKERS];
    uint32_t queued;
    uint32_t searching;
    uint32_t done;
    bool closing;
};

static void
ring(struct worker *worker)
{
    const uint64_t one = 1;
    worker->listed = false;
    SIM_ALWAYS(sim_sys_write(worker->pool->fds, worker->bell, &one, 8, 0, RT_HERE) == 8);
}

static void
wake_one(struct pool *pool)
{
    for (uint32_t i = 0; i < WORKERS; i++) {
        if (pool->workers[i].listed) {
            pool->searching++;
            ring(&pool->workers[i]);
            return;
        }
    }
}

static void
push(struct sim_world *world, struct pool *pool)
{
    pool->queued++;
    sim_loop_pause(world);
    if (pool->searching == 0) {
        wake_one(pool);
    }
}

static void
work(struct sim_world *world, struct pool *pool)
{
    sim_work(world, sim_range(world, 5 * RT_US, 20 * RT_US));
    sim_loop_pause(world);
    SIM_PROGRESS();
    if (++pool->done == JOBS) {
        pool->closing = true;
        for (uint32_t i = 0; i < WORKERS; i++) {
            if (pool->workers[i].listed) {
                pool->searching++;
                ring(&pool->workers[i]);
            }
        }
    }
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct worker *worker = argument;
    struct pool *pool = worker->pool;
    bool searches = false;
    for (;;) {
        if (pool->queued > 0) {
            pool->queued--;
            if (searches) {
                searches = false;
                pool->searching--;
                sim_loop_pause(world);
                if (pool->queued > 0 && pool->searching == 0) {
                    wake_one(pool);
                }
            }
            work(world, pool);
            continue;
        }
        sim_loop_pause(world);
        if (searches) {
            searches = false;
            pool->searching--;
        }
        worker->listed = true;
        sim_loop_pause(world);
        if (worker->listed && (pool->queued > 0 || pool->closing)) {
            worker->listed = false;
            if (pool->closing) {
                return;
            }
            pool->searching++;
            searches = true;
            continue;
        }
        uint64_t token;
        while (sim_sys_read(pool->fds, worker->bell, &token, 8, 0, RT_HERE) != 8) {
        }
        searches = true;
        if (pool->closing) {
            return;
        }
    }
}

static void
feeder_main(struct sim_world *world, void *argument)
{
    struct pool *pool = argument;
    for (uint32_t i = 0; i < JOBS; i++) {
        sim_sleep(world, sim_range(world, 1 * RT_US, 30 * RT_US));
        push(world, pool);
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const names[WORKERS] = {"worker 0", "worker 1"};
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    struct pool *pool = sim_new(world, struct pool);
    pool->fds = sim_fds_new(host, 3);
    for (uint32_t i = 0; i < WORKERS; i++) {
        pool->workers[i].pool = pool;
        pool->workers[i].bell = sim_sys_eventfd(pool->fds, names[i], 0, false);
        (void)sim_loop_new(world, names[i], worker_main, &pool->workers[i]);
    }
    (void)sim_loop_new(world, "feeder", feeder_main, pool);
}

SIM_SCENARIO(steal, .name = "steal/ok", .about = "Two workers, of which one at most searches.",
        .setup = setup);

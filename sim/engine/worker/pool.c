/*
 * pool.c -- making and ending the workers of a command.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/worker/pool.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/engine/worker/worker_priv.h"

void
sim_pool_init(struct sim_pool *pool, uint32_t jobs, uint32_t hang_ms)
{
    rt_assert(jobs >= 1);
    rt_assert(jobs <= SIM_JOBS_MAX);
    *pool = (struct sim_pool){
            .hang_ms = hang_ms,
            .workers = sim_heap_new(jobs, sizeof(*pool->workers)),
            .count = jobs,
    };
    sim_epochs_init(&pool->epochs);
    for (uint32_t i = 0; i < jobs; i++) {
        struct sim_worker *worker = &pool->workers[i];
        sim_worker_init(worker, &sim_worker_usual, &sim_shared_for_sweeps, hang_ms);
        worker->epochs = &pool->epochs;
        worker->reports_diverged = true;
    }
}

void
sim_pool_fini(struct sim_pool *pool)
{
    rt_assert(pool->count == 0 || pool->workers != NULL);
    for (uint32_t i = 0; i < pool->count; i++) {
        sim_worker_fini(&pool->workers[i]);
    }
    free(pool->workers);
    sim_worker_fini(&pool->replica);
    sim_epochs_fini(&pool->epochs);
    *pool = (struct sim_pool){.count = 0};
}

void
sim_pool_end_processes(struct sim_pool *pool)
{
    for (uint32_t i = 0; i < pool->count; i++) {
        rt_assert(!pool->workers[i].busy);
        (void)sim__worker_end(&pool->workers[i]);
    }
}

bool
sim_pool_replica_digest(
        struct sim_pool *pool, const struct sim_run_spec *spec, uint64_t *ret_digest)
{
    rt_assert(spec->scenario != NULL);
    rt_assert(spec->how != SIM_HOW_SEARCH);
    rt_assert(!pool->replica.busy);
    struct sim_worker *replica = &pool->replica;
    bool fresh = replica->shared == NULL;
    if (fresh) {
        sim_worker_init(replica, &sim_worker_replica, &sim_shared_for_sweeps, pool->hang_ms);
    }
    replica->shared->job = (struct sim_job){.spec = *spec, .count = 1, .keep_all = true};
    replica->shared->job.spec.with_past = fresh;
    if (sim_worker_give(replica)) {
        while (replica->busy) {
            (void)sim_workers_wait(replica, 1, -1);
        }
    }
    if (replica->failed) {
        (void)snprintf(pool->error, sizeof(pool->error), "the replica: %s", replica->error);
        return false;
    }
    *ret_digest = replica->shared->kept[0].outcome.digest;
    return true;
}

uint32_t
sim_processors(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) != 0) {
        return 1;
    }
    uint32_t count = (uint32_t)CPU_COUNT(&set);
    return count < 1 ? 1 : count < SIM_JOBS_MAX ? count : SIM_JOBS_MAX;
}

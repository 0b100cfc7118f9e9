/*
 * worker.c -- the thread of a blocking pool, as an actor of the world.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/bind/worker.h"

#include "runtime/base/assert.h"
#include "sim/core/world.h"

struct sim_worker {
    struct rt_worker worker;
    struct rt_blocking_pool pool;
    struct sim_actor actor;
    struct rt_work *work;
    uint64_t min_ns;
    uint64_t max_ns;
};

static void
worker_step(struct sim_actor *actor)
{
    struct sim_worker *worker = rt_container_of(actor, struct sim_worker, actor);
    struct rt_work *work = worker->work;
    rt_assert(work != NULL);
    worker->work = NULL;
    work->run(work);
    rt_blocking_done(&worker->pool);
}

static const struct sim_actor_ops worker_ops = {.kind = SIM_ACTOR_OTHER, .step = worker_step};

static void
start(struct rt_worker *base, struct rt_work *work)
{
    struct sim_worker *worker = rt_container_of(base, struct sim_worker, worker);
    struct sim_world *world = worker->actor.world;
    rt_assert(worker->work == NULL);
    worker->work = work;
    uint64_t ns = sim_actor_range(&worker->actor, SIM_KIND_LATENCY, worker->min_ns, worker->max_ns);
    sim_actor_due(&worker->actor, sim_now(world) + ns);
}

struct rt_blocking_pool *
sim_blocking_pool_new(struct sim_world *world, const char *name, uint64_t min_ns, uint64_t max_ns)
{
    rt_assert(min_ns <= max_ns);
    struct sim_worker *worker = sim_new(world, struct sim_worker);
    worker->worker.start = start;
    worker->min_ns = min_ns;
    worker->max_ns = max_ns;
    sim_actor_init(&worker->actor, world, &worker_ops, NULL, name, false);
    rt_blocking_init(&worker->pool, &worker->worker);
    return &worker->pool;
}

/*
 * work_stealing.c -- two hand-written executors that steal from each other.
 *
 * Each executor runs on a thread with a bell, and takes from its own queue first, then from the
 * other's. It goes to sleep only after it has found both queues empty, and sets its flag before the
 * last check. A thread that puts a job into a queue rings every bell whose executor sleeps or is
 * about to, and an early ring ends the next sleep. A job is in a queue once: its mark is cleared
 * before its poll, so a wake during the poll queues it again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define JOBS 4u
#define EXECUTORS 2u

struct pool;

struct job {
    struct pool *pool;
    uint32_t home;
    bool queued;
    bool computed;
    bool waits;
};

struct executor {
    struct pool *pool;
    uint32_t index;
    struct rt_host *host;
    struct rt_pollable bell;
    bool asleep;
    struct job *queue[JOBS];
    uint32_t count;
};

struct pool {
    struct executor executors[EXECUTORS];
    struct job jobs[JOBS];
    uint32_t finished;
};

static void
pool_ring(struct pool *pool)
{
    for (uint32_t i = 0; i < EXECUTORS; i++) {
        if (pool->executors[i].asleep) {
            rt_host_notify(pool->executors[i].host);
        }
    }
}

static void
job_wake(struct job *job)
{
    struct executor *home = &job->pool->executors[job->home];
    if (!job->queued) {
        job->queued = true;
        home->queue[home->count++] = job;
        pool_ring(job->pool);
    }
}

static void
job_run(struct job *job)
{
    struct pool *pool = job->pool;
    sim_foreign_poll(job);
    bool finished = job->computed;
    if (!finished) {
        job->waits = true;
        sim_foreign_store(job, &job->waits, "its result");
    } else if (++pool->finished == JOBS) {
        pool_ring(pool);
    }
    sim_foreign_polled(job, finished);
}

static struct job *
executor_take(struct executor *executor)
{
    for (uint32_t i = 0; i < EXECUTORS; i++) {
        struct executor *from = &executor->pool->executors[(executor->index + i) % EXECUTORS];
        if (from->count > 0) {
            struct job *job = from->queue[--from->count];
            job->queued = false;
            return job;
        }
    }
    return NULL;
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    struct rt_pollable *list[1] = {&executor->bell};
    (void)world;
    while (executor->pool->finished < JOBS) {
        struct job *job = executor_take(executor);
        if (job != NULL) {
            executor->asleep = false;
            job_run(job);
        } else if (!executor->asleep) {
            executor->asleep = true; /* And checks again. */
        } else {
            uint32_t ready[1];
            uint32_t count;
            SIM_ALWAYS(rt_host_poll(executor->host, list, 1, ready, &count) == RT_OK);
            executor->asleep = false;
        }
    }
    rt_pollable_drop(&executor->bell);
}

static void
executor_again(void *runtime, void *task)
{
    (void)runtime;
    job_run(task);
}

/* A thread that computes the results. */
static void
computer_main(struct sim_world *world, void *argument)
{
    struct pool *pool = argument;
    for (uint32_t i = 0; i < JOBS; i++) {
        struct job *job = &pool->jobs[i];
        sim_sleep(world, sim_range(world, 0, RT_MS));
        job->computed = true;
        if (job->waits) {
            job->waits = false;
            sim_foreign_fire(&job->waits);
            job_wake(job);
        }
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const names[] = {
            "executor 1", "executor 2", "job A", "job B", "job C", "job D"};
    struct pool *pool = sim_new(world, struct pool);
    struct sim_foreign *foreign[EXECUTORS];
    for (uint32_t i = 0; i < EXECUTORS; i++) {
        struct executor *executor = &pool->executors[i];
        executor->pool = pool;
        executor->index = i;
        executor->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
        SIM_ALWAYS(rt_host_subscribe(executor->host, RT_SUBSCRIBE_NOTIFY, 0, &executor->bell) ==
                   RT_OK);
        struct sim_loop *loop = sim_loop_new(world, names[i], executor_main, executor);
        foreign[i] = sim_foreign_new(loop, executor_again, executor);
    }
    for (uint32_t i = 0; i < JOBS; i++) {
        pool->jobs[i].pool = pool;
        pool->jobs[i].home = i % EXECUTORS;
        sim_foreign_spawn(foreign[i % EXECUTORS], &pool->jobs[i], names[EXECUTORS + i]);
        job_wake(&pool->jobs[i]);
    }
    (void)sim_loop_new(world, "computer", computer_main, pool);
}

SIM_SCENARIO(correct_work_stealing, .name = "correct/work-stealing",
        .about = "Two executors that steal each other's jobs.", .setup = setup);

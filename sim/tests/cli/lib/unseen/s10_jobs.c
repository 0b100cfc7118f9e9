// SPDX-License-Identifier: Apache-2.0
/* Cause: worker_run(), line 80: the state that a wake has set to NOTIFIED before the poll was over
 * is overwritten with IDLE. repair: set IDLE only if it is still RUNNING, else queue it again. */
#include <sim/rewake.h>

#define JOBS 2
#define PARTS 3

enum job_state { IDLE, QUEUED, RUNNING, NOTIFIED, DONE };

struct executor;

struct job {
    struct executor *executor;
    enum job_state state;
    bool has_waker;
    uint32_t arrived;
    uint32_t used;
};

struct executor {
    struct sim_loop *worker;
    struct job *queue[JOBS];
    uint32_t queued;
    bool parked;
    bool careful;
    struct job jobs[JOBS];
};

static void
enqueue(struct job *job)
{
    struct executor *executor = job->executor;
    job->state = QUEUED;
    executor->queue[executor->queued++] = job;
    if (executor->parked) {
        executor->parked = false;
        sim_loop_wake(executor->worker);
    }
}

static void
job_wake(struct job *job)
{
    sim_foreign_fire(&job->has_waker);
    job->has_waker = false;
    if (job->state == IDLE) {
        enqueue(job);
    } else if (job->state == RUNNING) {
        job->state = NOTIFIED;
    }
}

/* Uses what has arrived; true when it has used all parts. */
static bool
job_poll(struct job *job)
{
    sim_foreign_poll(job);
    while (job->used < job->arrived) {
        job->used++;
        SIM_PROGRESS();
    }
    bool finished = job->used == PARTS;
    if (!finished) {
        job->has_waker = true;
        sim_foreign_store(job, &job->has_waker, "the next part");
    }
    sim_foreign_polled(job, finished);
    return finished;
}

static void
worker_run(struct executor *executor, struct job *job)
{
    job->state = RUNNING;
    if (job_poll(job)) {
        job->state = DONE;
    } else if (executor->careful && job->state == NOTIFIED) {
        enqueue(job);
    } else {
        job->state = IDLE;
    }
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    while (executor->jobs[0].state != DONE || executor->jobs[1].state != DONE) {
        if (executor->queued == 0) {
            executor->parked = true;
            sim_loop_block(world, 0, "a job to run", RT_HERE);
            continue;
        }
        worker_run(executor, executor->queue[--executor->queued]);
    }
}

static void
network_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    for (uint32_t i = 0; i < JOBS * PARTS; i++) {
        struct job *job = &executor->jobs[i % JOBS];
        sim_sleep(world, sim_range(world, 10 * RT_US, 20 * RT_US));
        job->arrived++;
        if (job->has_waker) {
            job_wake(job);
        }
    }
}

static void
again(void *runtime, void *task)
{
    (void)runtime;
    (void)job_poll(task);
}

static void
begin(struct sim_world *world, bool careful)
{
    static const char *const names[JOBS] = {"resize", "upload"};
    struct executor *executor = sim_new(world, struct executor);
    executor->careful = careful;
    executor->worker = sim_loop_new(world, "worker", worker_main, executor);
    struct sim_foreign *foreign = sim_foreign_new(executor->worker, again, executor);
    for (uint32_t i = 0; i < JOBS; i++) {
        executor->jobs[i].executor = executor;
        sim_foreign_spawn(foreign, &executor->jobs[i], names[i]);
        enqueue(&executor->jobs[i]);
    }
    (void)sim_loop_new(world, "network", network_main, executor);
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

SIM_SCENARIO(jobs_broken, .name = "jobs/broken", .about = "A worker runs two jobs.",
        .setup = setup_broken);
SIM_SCENARIO(
        jobs_fixed, .name = "jobs/fixed", .about = "The same, repaired.", .setup = setup_fixed);

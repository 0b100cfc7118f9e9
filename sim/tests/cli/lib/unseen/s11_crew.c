/*
 * s11_crew.c -- two workers with one queue of jobs. While one of them searches, a new job wakes no
 * other. A job may block its worker until another job is done.
 *
 * Cause: crew_found() (line 86) ends a worker's search and wakes no other one for the jobs that are still in the queue
 */
#include <sim/rewake.h>

#define WORKERS 2
#define ROUNDS 3
#define JOBS 4

struct crew;
struct job;
struct worker;

struct job {
    void (*run)(struct sim_world *world, struct worker *worker, struct job *job);
    struct job *needs;
    struct worker *blocked; /* Who waits for its end. */
    bool done;
};

struct worker {
    const char *name;
    struct crew *crew;
    struct rt_host *host;
    struct rt_pollable bell;
    bool idle, searching;
};

struct crew {
    struct worker workers[WORKERS];
    struct worker chief; /* Puts jobs into the queue. */
    struct job *queue[JOBS];
    uint32_t head, tail;
    uint32_t searching;
    bool closed;
    bool passes_on;
};

static void
worker_wait(struct worker *worker)
{
    struct rt_pollable *list[] = {&worker->bell};
    uint32_t index, count;
    SIM_ALWAYS(rt_host_poll(worker->host, list, 1, &index, &count) == RT_OK);
}

static void
crew_wake_one(struct crew *crew)
{
    for (uint32_t i = 0; i < WORKERS; i++) {
        struct worker *worker = &crew->workers[i];
        if (worker->idle) {
            worker->idle = false;
            worker->searching = true;
            crew->searching++;
            rt_host_notify(worker->host);
            return;
        }
    }
}

static void
crew_add(struct crew *crew, struct job *job)
{
    crew->queue[crew->tail++ % JOBS] = job;
    if (crew->searching == 0) {
        crew_wake_one(crew);
    }
}

static struct job *
crew_take(struct crew *crew)
{
    return crew->head != crew->tail ? crew->queue[crew->head++ % JOBS] : NULL;
}

/* `worker` has a job, or has seen that there is none. */
static void
crew_found(struct crew *crew, struct worker *worker)
{
    if (worker->searching) {
        worker->searching = false;
        crew->searching--;
        if (crew->passes_on && crew->head != crew->tail && crew->searching == 0) {
            crew_wake_one(crew);
        }
    }
}

static void
job_done(struct job *job)
{
    job->done = true;
    if (job->blocked != NULL) {
        rt_host_notify(job->blocked->host);
    }
}

static void
job_await(struct worker *worker, struct job *job)
{
    while (!job->done) {
        job->blocked = worker;
        worker_wait(worker);
    }
}

static void
run_paper(struct sim_world *world, struct worker *worker, struct job *job)
{
    (void)worker;
    sim_sleep(world, RT_MS);
    job_done(job);
}

static void
run_print(struct sim_world *world, struct worker *worker, struct job *job)
{
    (void)world;
    job_await(worker, job->needs);
    job_done(job);
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct worker *worker = argument;
    struct crew *crew = worker->crew;
    while (!crew->closed) {
        sim_loop_pause(world);
        struct job *job = crew_take(crew);
        crew_found(crew, worker);
        if (job != NULL) {
            job->run(world, worker, job);
            continue;
        }
        worker->idle = true;
        while (worker->idle && !crew->closed) {
            worker_wait(worker);
        }
    }
    rt_pollable_drop(&worker->bell);
}

static void
chief_main(struct sim_world *world, void *argument)
{
    struct crew *crew = argument;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct job paper = {.run = run_paper}, print = {.run = run_print, .needs = &paper};
        crew_add(crew, &print);
        sim_sleep(world, 10 * RT_US);
        crew_add(crew, &paper);
        job_await(&crew->chief, &print);
    }
    crew->closed = true;
    for (uint32_t i = 0; i < WORKERS; i++) {
        rt_host_notify(crew->workers[i].host);
    }
    rt_pollable_drop(&crew->chief.bell);
}

static void
worker_init(struct sim_world *world, struct crew *crew, struct worker *worker, const char *name)
{
    worker->name = name;
    worker->crew = crew;
    worker->host = sim_host_seam(sim_host_new(world, name, SIM_PROFILE_DEFAULT));
    SIM_ALWAYS(rt_host_subscribe(worker->host, RT_SUBSCRIBE_NOTIFY, 0, &worker->bell) == RT_OK);
}

static void
setup_with(struct sim_world *world, bool passes_on)
{
    static const char *const names[WORKERS] = {"max", "moritz"};
    struct crew *crew = sim_new(world, struct crew);
    crew->passes_on = passes_on;
    for (uint32_t i = 0; i < WORKERS; i++) {
        worker_init(world, crew, &crew->workers[i], names[i]);
        (void)sim_loop_new(world, names[i], worker_main, &crew->workers[i]);
    }
    worker_init(world, crew, &crew->chief, "chief");
    (void)sim_loop_new(world, "chief", chief_main, crew);
}

static void
setup_broken(struct sim_world *world)
{
    setup_with(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_with(world, true);
}

SIM_SCENARIO(crew_broken, .name = "s11_crew/broken", .about = "Two workers with one queue.",
        .setup = setup_broken);
SIM_SCENARIO(crew_fixed, .name = "s11_crew/fixed", .about = "Two workers with one queue.",
        .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0

/* (Jobs that take time.) A dispatcher and two worker threads with an eventfd each; what it dispatches it first writes to a journal.
 * Cause: dispatch() line 111: the idle worker is looked for before the job is in the queue, so workers that go to
 * sleep in between are not woken; repair: look for it after the job was queued. */
#include <sim/rewake.h>

#define WORKERS 2
#define JOBS 5
#define QUEUE 8

struct program;

struct worker {
    struct program *program;
    struct sim_fds *fds; /* Its own: each worker has its own wait set. */
    int bell;
    bool idle;
    unsigned done;
};

struct program {
    struct worker workers[WORKERS];
    struct sim_fds *fds;
    int journal[2];
    unsigned queue[QUEUE];
    unsigned head;
    unsigned tail;
    bool closed;
    bool fixed;
};

static void
worker_ring(struct worker *worker)
{
    SIM_ALWAYS(sim_fd_notify(worker->fds, worker->bell) == RT_OK);
}

static struct worker *
idle_worker(struct program *program)
{
    for (unsigned i = 0; i < WORKERS; i++) {
        if (program->workers[i].idle) {
            program->workers[i].idle = false;
            return &program->workers[i];
        }
    }
    return NULL;
}

static bool
worker_take(struct worker *worker, unsigned *ret_job)
{
    struct program *program = worker->program;
    if (program->tail == program->head) {
        return false;
    }
    *ret_job = program->queue[program->tail++ % QUEUE];
    SIM_PROGRESS();
    return true;
}

static void
worker_sleep(struct worker *worker)
{
    struct program *program = worker->program;
    struct sim_fd_event event;
    uint64_t count;

    worker->idle = true;
    if (program->tail != program->head || program->closed) {
        worker->idle = false;
        return;
    }
    if (sim_fd_wait(worker->fds, &event, 1, SIM_NEVER) == 1) {
        int64_t size = sim_fd_read(worker->fds, worker->bell, &count, sizeof(count));
        SIM_ALWAYS(size == sizeof(count) || size == RT_E_AGAIN);
    }
    worker->idle = false;
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct worker *worker = argument;
    for (;;) {
        unsigned job;
        if (worker_take(worker, &job)) {
            sim_sleep(world, sim_range(world, 200 * RT_US, 900 * RT_US));
            worker->done++;
            continue;
        }
        if (worker->program->closed) {
            break;
        }
        worker_sleep(worker);
    }
}

static void
journal(struct program *program, unsigned job)
{
    char line[4] = {'j', 'o', 'b', (char)('0' + job)};
    int64_t size = sim_fd_write(program->fds, program->journal[1], line, sizeof(line));
    SIM_ALWAYS(size > 0);
}

static void
dispatch(struct program *program, unsigned job)
{
    struct worker *worker = NULL;
    if (!program->fixed) {
        worker = idle_worker(program);
    }
    journal(program, job);
    SIM_ALWAYS(program->head - program->tail < QUEUE);
    program->queue[program->head++ % QUEUE] = job;
    if (program->fixed) {
        worker = idle_worker(program);
    }
    if (worker != NULL) {
        worker_ring(worker);
    }
}

static void
dispatcher_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    for (unsigned job = 0; job < JOBS; job++) {
        sim_sleep(world, sim_range(world, 300 * RT_US, 800 * RT_US));
        dispatch(program, job);
    }
    /* The caller wants all jobs done before it closes. */
    while (program->workers[0].done + program->workers[1].done < JOBS) {
        struct sim_fd_event event;
        (void)sim_fd_wait(program->fds, &event, 1, 5 * RT_MS);
        if (program->tail == program->head) {
            break;
        }
    }
    program->closed = true;
    for (unsigned i = 0; i < WORKERS; i++) {
        worker_ring(&program->workers[i]);
    }
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[WORKERS] = {"worker 1", "worker 2"};
    struct program *program = sim_new(world, struct program);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    program->fixed = fixed;
    program->fds = sim_fds_new(host, 3);
    SIM_ALWAYS(sim_fd_pair(program->fds, "journal", RT_US, RT_US, program->journal) == RT_OK);
    for (unsigned i = 0; i < WORKERS; i++) {
        struct worker *worker = &program->workers[i];
        worker->program = program;
        worker->fds = sim_fds_new(host, 3);
        SIM_ALWAYS(sim_fd_event_open(worker->fds, names[i], &worker->bell) == RT_OK);
        SIM_ALWAYS(sim_fd_add(worker->fds, worker->bell, SIM_FD_IN, 0) == RT_OK);
        (void)sim_loop_new(world, names[i], worker_main, worker);
    }
    (void)sim_loop_new(world, "dispatcher", dispatcher_main, program);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s13_dispatch1/broken", .about = "A dispatcher, broken.",
        .setup = set_up_broken, .expect = SIM_VERDICT_LATE_WAKEUP,
        .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "s13_dispatch1/fixed", .about = "A dispatcher.", .setup = set_up_fixed);
/* SPDX-License-Identifier: Apache-2.0 */

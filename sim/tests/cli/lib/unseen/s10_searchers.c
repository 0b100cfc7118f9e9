// SPDX-License-Identifier: Apache-2.0
/* Cause: worker_park() line 94: a worker that stops searching does not look at the queue again
 * after the count has gone down; submit() (line 42) saw a searcher and woke no one.
 * Repair: look again once it is registered as idle and no longer counted (`recheck`). */
#include <sim/rewake.h>

#define WORKERS 2
#define JOBS 4

struct worker {
    struct scheduler *scheduler;
    struct sim_fds *fds;
    int bell;
};

struct scheduler {
    uint32_t queued;
    uint32_t finished;
    uint32_t searching;
    struct worker *idle[WORKERS];
    uint32_t idle_count;
    bool stopping;
    bool recheck;
    struct worker workers[WORKERS];
    struct sim_fds *main_fds;
    int all_done;
};

static void
wake_one(struct scheduler *scheduler)
{
    if (scheduler->idle_count > 0) {
        struct worker *worker = scheduler->idle[--scheduler->idle_count];
        SIM_ALWAYS(sim_fd_notify(worker->fds, worker->bell) == RT_OK);
    }
}

static void
submit(struct sim_world *world, struct scheduler *scheduler)
{
    scheduler->queued++;
    sim_loop_pause(world);
    if (scheduler->searching == 0) {
        wake_one(scheduler);
    }
}

static bool
take_job(struct scheduler *scheduler)
{
    if (scheduler->queued == 0) {
        return false;
    }
    scheduler->queued--;
    SIM_PROGRESS();
    return true;
}

static bool
worker_search(struct sim_world *world, struct scheduler *scheduler)
{
    scheduler->searching++;
    for (uint32_t i = 0; i < 2; i++) {
        sim_loop_pause(world);
        if (scheduler->queued > 0) {
            scheduler->searching--;
            return true;
        }
    }
    return false;
}

/* False: it was not put down as idle, or is not any more. */
static bool
worker_forget(struct worker *worker)
{
    struct scheduler *scheduler = worker->scheduler;
    for (uint32_t i = 0; i < scheduler->idle_count; i++) {
        if (scheduler->idle[i] == worker) {
            scheduler->idle[i] = scheduler->idle[--scheduler->idle_count];
            return true;
        }
    }
    return false;
}

static void
worker_park(struct sim_world *world, struct worker *worker)
{
    struct scheduler *scheduler = worker->scheduler;
    struct sim_fd_event event;
    uint64_t rings;
    sim_loop_pause(world);
    scheduler->idle[scheduler->idle_count++] = worker;
    scheduler->searching--;
    sim_loop_pause(world);
    if (scheduler->recheck && scheduler->queued > 0 && worker_forget(worker)) {
        return;
    }
    (void)sim_fd_wait(worker->fds, &event, 1, SIM_NEVER);
    (void)sim_fd_read(worker->fds, worker->bell, &rings, sizeof(rings));
    (void)worker_forget(worker);
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct worker *worker = argument;
    struct scheduler *scheduler = worker->scheduler;
    while (!scheduler->stopping) {
        if (take_job(scheduler)) {
            sim_sleep(world, sim_range(world, 0, 200 * RT_US));
            scheduler->finished++;
            if (scheduler->finished == JOBS) {
                SIM_ALWAYS(sim_fd_notify(scheduler->main_fds, scheduler->all_done) == RT_OK);
            }
        } else if (!worker_search(world, scheduler)) {
            worker_park(world, worker);
        }
    }
}

static void
main_main(struct sim_world *world, void *argument)
{
    struct scheduler *scheduler = argument;
    struct sim_fd_event event;
    for (uint32_t i = 0; i < JOBS; i++) {
        sim_sleep(world, sim_range(world, 0, 400 * RT_US));
        submit(world, scheduler);
    }
    while (scheduler->finished < JOBS) {
        (void)sim_fd_wait(scheduler->main_fds, &event, 1, SIM_NEVER);
    }
    scheduler->stopping = true;
    for (uint32_t i = 0; i < WORKERS; i++) {
        struct worker *worker = &scheduler->workers[i];
        SIM_ALWAYS(sim_fd_notify(worker->fds, worker->bell) == RT_OK);
    }
}

static struct sim_fds *
with_bell(struct sim_host *host, const char *name, int *ret_bell)
{
    struct sim_fds *fds = sim_fds_new(host, 3);
    SIM_ALWAYS(sim_fd_event_open(fds, name, ret_bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(fds, *ret_bell, SIM_FD_IN, 0) == RT_OK);
    return fds;
}

static void
begin(struct sim_world *world, bool recheck)
{
    static const char *const names[WORKERS] = {"worker 0", "worker 1"};
    static const char *const bells[WORKERS] = {"bell 0", "bell 1"};
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct scheduler *scheduler = sim_new(world, struct scheduler);
    scheduler->recheck = recheck;
    scheduler->main_fds = with_bell(host, "all done", &scheduler->all_done);
    for (uint32_t i = 0; i < WORKERS; i++) {
        struct worker *worker = &scheduler->workers[i];
        worker->scheduler = scheduler;
        worker->fds = with_bell(host, bells[i], &worker->bell);
        (void)sim_loop_new(world, names[i], worker_main, worker);
    }
    (void)sim_loop_new(world, "main", main_main, scheduler);
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

SIM_SCENARIO(searchers_broken, .name = "s10/searchers/broken",
        .about = "Workers search for jobs for a while, then sleep.", .setup = setup_broken);
SIM_SCENARIO(searchers_fixed, .name = "s10/searchers/fixed",
        .about = "Workers search for jobs for a while, then sleep.", .setup = setup_fixed);

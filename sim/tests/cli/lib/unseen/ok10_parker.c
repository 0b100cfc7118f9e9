// SPDX-License-Identifier: Apache-2.0
/*
 * Two workers and a queue, without a lock: each says that it will sleep, then looks again. A ring that is
 * not needed any more makes one turn of the loop for nothing. The bell is heard before the queue is
 * looked at.
 */
#include <sim/rewake.h>

#define WORKERS 2
#define JOBS 5

struct worker {
    struct office *office;
    struct sim_fds *fds;
    int bell;
    bool sleepy;
};

struct office {
    struct worker workers[WORKERS];
    uint32_t queued;
    uint32_t begun;
    uint32_t finished;
    bool closed;
};

static void
ring(struct worker *worker)
{
    if (worker->sleepy) {
        worker->sleepy = false;
        SIM_ALWAYS(sim_fd_notify(worker->fds, worker->bell) == RT_OK);
    }
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct worker *worker = argument;
    struct office *office = worker->office;
    for (;;) {
        uint64_t rings;
        struct sim_fd_event event;
        sim_loop_pause(world);
        if (office->queued > 0) {
            office->queued--;
            office->begun++;
            SIM_PROGRESS();
            sim_sleep(world, sim_range(world, 0, 300 * RT_US));
            office->finished++;
            continue;
        }
        if (office->closed) {
            break;
        }
        worker->sleepy = true;
        sim_loop_pause(world);
        if (office->queued == 0 && !office->closed) {
            (void)sim_fd_wait(worker->fds, &event, 1, SIM_NEVER);
        }
        worker->sleepy = false;
        (void)sim_fd_read(worker->fds, worker->bell, &rings, sizeof(rings));
    }
}

static void
front_main(struct sim_world *world, void *argument)
{
    struct office *office = argument;
    for (uint32_t i = 0; i < JOBS; i++) {
        sim_sleep(world, sim_range(world, 0, 200 * RT_US));
        office->queued++;
        sim_loop_pause(world);
        ring(&office->workers[i % WORKERS]);
        sim_loop_pause(world);
        ring(&office->workers[(i + 1) % WORKERS]);
    }
    office->closed = true;
    for (uint32_t i = 0; i < WORKERS; i++) {
        sim_loop_pause(world);
        ring(&office->workers[i]);
    }
}

static void
check(struct sim_world *world, void *state)
{
    const struct office *office = state;
    (void)world;
    SIM_ALWAYS(office->finished == JOBS && office->begun == JOBS);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[WORKERS] = {"clerk", "page"};
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct office *office = sim_new(world, struct office);
    for (uint32_t i = 0; i < WORKERS; i++) {
        struct worker *worker = &office->workers[i];
        worker->office = office;
        worker->fds = sim_fds_new(host, 3);
        SIM_ALWAYS(sim_fd_event_open(worker->fds, "bell", &worker->bell) == RT_OK);
        SIM_ALWAYS(sim_fd_add(worker->fds, worker->bell, SIM_FD_IN, 0) == RT_OK);
        (void)sim_loop_new(world, names[i], worker_main, worker);
    }
    (void)sim_loop_new(world, "front", front_main, office);
    sim_set_state(world, office);
}

SIM_SCENARIO(parker, .name = "ok10/parker", .about = "Workers that look again before they sleep.",
        .setup = setup, .check = check);

/*
 * e_heartbeat.c -- An executor with a safety net: it wakes every 10 ms to look at all tasks. A
 * worker thread completes a request of one of them.
 *
 * Cause: complete() decides whether to ring the bell by an `asleep` flag that it read before it
 * stored the result, so it misses an executor that fell asleep in between; only the heartbeat
 * repairs that.
 * Where: complete
 * Kind: late wake
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define REQUESTS 3

static bool fixed;

struct program {
    struct sim_fds *os;
    int bell;
    bool asleep;
    bool woken;
    uint32_t completed;
    uint32_t seen;
    bool finished;
};

static void
complete(struct sim_world *world, struct program *p)
{
    bool asleep = p->asleep; /* Where. */
    sim_loop_pause(world);   /* Looks the request up. */
    p->completed++;
    sim_foreign_fire(&p->completed);
    p->woken = true;
    if (fixed ? p->asleep : asleep) { /* Where. */
        SIM_ALWAYS(sim_fd_notify(p->os, p->bell) == RT_OK);
    }
}

static void
run(struct program *p)
{
    p->woken = false;
    sim_foreign_poll(&p->finished);
    while (p->seen < p->completed) {
        p->seen++;
        SIM_PROGRESS();
    }
    p->finished = p->seen == REQUESTS;
    if (!p->finished) {
        sim_foreign_store(&p->finished, &p->completed, "a reply");
    }
    sim_foreign_polled(&p->finished, p->finished);
}

static void
again(void *program, void *task)
{
    (void)task;
    run(program);
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct program *p = argument;
    struct sim_fd_event event;
    uint64_t count;
    (void)world;
    p->woken = true;
    while (!p->finished) {
        if (p->woken) {
            run(p);
            continue;
        }
        p->asleep = true;
        uint32_t n = sim_fd_wait(p->os, &event, 1, 10 * RT_MS);
        p->asleep = false;
        if (n == 1) {
            sim_fd_read(p->os, p->bell, &count, sizeof(count));
        } else {
            p->woken = true; /* The safety net. */
        }
    }
}

static void
worker_main(struct sim_world *world, void *argument)
{
    for (int i = 0; i < REQUESTS; i++) {
        sim_sleep(world, sim_range(world, 0, 500));
        complete(world, argument);
    }
}

static void
setup(struct sim_world *world)
{
    struct program *p = sim_new(world, struct program);
    p->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(p->os, "bell", &p->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(p->os, p->bell, SIM_FD_IN, 0) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, p);
    sim_foreign_spawn(sim_foreign_new(loop, again, p), &p->finished, "requester");
    sim_loop_new(world, "worker", worker_main, p);
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/e-heartbeat/broken",
        .about = "An executor with a heartbeat.", .setup = setup_broken,
        .expect = SIM_VERDICT_LATE_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/e-heartbeat/fixed",
        .about = "An executor with a heartbeat.", .setup = setup_fixed);

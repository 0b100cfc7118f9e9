/*
 * s_roundrobin.c -- An acceptor hands connections to three worker loops in turn and wakes the
 * worker that got one.
 *
 * Cause: assign() advances the round-robin cursor before it rings the bell, so the bell of the
 * following worker is signalled instead of the one that got the connection.
 * Where: assign
 * Kind: wake sent to the wrong waiter
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define WORKERS 3

static bool fixed;

struct worker {
    struct sim_fds *os;
    int bell;
    int given;
    int served;
    int expected;
};

struct acceptor {
    struct sim_fds *os;
    int listener;
    struct worker *workers;
    uint32_t cursor;
    uint32_t connections;
};

static void
assign(struct acceptor *acceptor)
{
    struct worker *to = &acceptor->workers[acceptor->cursor % WORKERS];
    to->given++;
    acceptor->cursor++;
    if (!fixed) {
        to = &acceptor->workers[acceptor->cursor % WORKERS]; /* Where. */
    }
    SIM_ALWAYS(sim_fd_notify(to->os, to->bell) == RT_OK);
}

static void
acceptor_main(struct sim_world *world, void *argument)
{
    struct acceptor *acceptor = argument;
    struct sim_fd_event event;
    (void)world;
    for (uint32_t done = 0; done < acceptor->connections;) {
        int fd;
        sim_fd_wait(acceptor->os, &event, 1, SIM_NEVER);
        while (sim_fd_accept(acceptor->os, acceptor->listener, &fd, NULL) == RT_OK) {
            SIM_ALWAYS(sim_fd_close(acceptor->os, fd) == RT_OK); /* Passed to the worker. */
            assign(acceptor);
            done++;
        }
    }
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct worker *worker = argument;
    struct sim_fd_event event;
    uint64_t count;
    (void)world;
    while (worker->served < worker->expected) {
        sim_fd_wait(worker->os, &event, 1, SIM_NEVER);
        sim_fd_read(worker->os, worker->bell, &count, sizeof(count));
        while (worker->served < worker->given) {
            worker->served++;
            SIM_PROGRESS();
        }
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const names[] = {"worker-0", "worker-1", "worker-2"};
    struct acceptor *acceptor = sim_new(world, struct acceptor);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    acceptor->workers = sim_zalloc(world, WORKERS * sizeof(struct worker));
    acceptor->connections = WORKERS * 2;
    acceptor->os = sim_fds_new(host, 3);
    SIM_ALWAYS(sim_fd_listen(acceptor->os, "port", acceptor->connections, 0, RT_MS,
                       &acceptor->listener) == RT_OK);
    SIM_ALWAYS(sim_fd_add(acceptor->os, acceptor->listener, SIM_FD_IN, 0) == RT_OK);
    sim_loop_new(world, "acceptor", acceptor_main, acceptor);
    for (int i = 0; i < WORKERS; i++) {
        struct worker *worker = &acceptor->workers[i];
        worker->expected = 2;
        worker->os = sim_fds_new(host, 3);
        SIM_ALWAYS(sim_fd_event_open(worker->os, "bell", &worker->bell) == RT_OK);
        SIM_ALWAYS(sim_fd_add(worker->os, worker->bell, SIM_FD_IN, 0) == RT_OK);
        sim_loop_new(world, names[i], worker_main, worker);
    }
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

SIM_SCENARIO(form_broken, .name = "unseen/s-roundrobin/broken",
        .about = "An acceptor and three workers.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/s-roundrobin/fixed",
        .about = "An acceptor and three workers.", .setup = setup_fixed);

/*
 * miri-4692.c -- a simulated epoll wakes one of two threads, although there are two events.
 *
 * rust-lang/miri#4692. miri interprets programs, and simulates epoll for them. (The issue states
 * the outcome; the check that caused it is reconstructed.)
 *
 * The bug. Two threads of a program block on one epoll instance, and each waits for one event. An
 * event that finds the list of events empty unblocks a thread. A second one that arrives before the
 * first was fetched finds it not empty, and unblocks no thread; the other thread stays blocked
 * while an event is there, and the program is reported as a deadlock.
 *
 * The fix. Each event unblocks a thread, if one is blocked: epoll_event below.
 *
 * Here. A program tests its pool: two workers wait for a job each, and the main thread makes two
 * eventfds ready, some time apart or at once.
 *
 * Cause: never-fired in epoll_event or main_poll
 * Must end in: lost-wakeup of a worker. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define WORKERS 2u

/* ---- The epoll of the interpreter. ----------------------------------------------------------- */

struct epoll {
    bool broken;
    uint32_t events; /* Not fetched yet. */
    struct rt_wait_queue_entry entries[WORKERS];
    struct rt_wait_queue blocked;
};

static void
epoll_event(struct epoll *epoll)
{
    bool first = epoll->events == 0;
    epoll->events++;
    if (first || !epoll->broken) {
        (void)rt_wait_queue_wake(&epoll->blocked, 1);
    }
}

/* epoll_wait for one event: READY when it has been fetched. */
static rt_poll
epoll_wait_poll(struct epoll *epoll, struct rt_cx *cx)
{
    if (epoll->events > 0) {
        epoll->events--;
        (void)rt_wait_queue_leave(&epoll->blocked, cx);
        SIM_PROGRESS();
        return RT_READY;
    }
    SIM_ALWAYS(rt_wait_queue_store(&epoll->blocked, cx, "an event") == RT_OK);
    return RT_PENDING;
}

/* ---- The program: its threads are tasks of the interpreter. ---------------------------------- */

struct program {
    struct epoll epoll;
    struct worker {
        struct rt_task task;
        struct program *program;
    } workers[WORKERS];
    struct rt_task main;
    struct rt_sleep pause;
    uint64_t pause_ns;
    uint32_t made; /* Events. */
};

static rt_poll
worker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct worker *worker = rt_container_of(task, struct worker, task);
    return epoll_wait_poll(&worker->program->epoll, cx);
}

static rt_poll
main_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, main);
    while (program->made < WORKERS) {
        RT_AWAIT(rt_sleep_poll(&program->pause, cx));
        rt_sleep_init(&program->pause, program->pause_ns);
        program->made++;
        epoll_event(&program->epoll);
    }
    return RT_READY;
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    static const char *const names[WORKERS] = {"worker 1", "worker 2"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct program *program = sim_new(world, struct program);
    program->epoll.broken = broken;
    rt_wait_queue_init(&program->epoll.blocked, program->epoll.entries, WORKERS);
    program->pause_ns = RT_MS - sim_range(world, 0, RT_MS);
    rt_sleep_init(&program->pause, RT_MS);
    for (uint32_t i = 0; i < WORKERS; i++) {
        struct worker *worker = &program->workers[i];
        worker->program = program;
        rt_task_init(&worker->task, worker_poll, NULL, names[i]);
        sim_spawn(rt, &worker->task);
    }
    rt_task_init(&program->main, main_poll, NULL, "main");
    sim_spawn(rt, &program->main);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_miri_4692_broken, .name = "zoo/miri-4692/broken", .bug = "D26",
        .reference = "rust-lang/miri#4692",
        .about = "An event unblocks no thread while another one is not fetched.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(zoo_miri_4692_fixed, .name = "zoo/miri-4692/fixed",
        .about = "Each event unblocks a thread that waits for one.", .setup = setup_fixed);

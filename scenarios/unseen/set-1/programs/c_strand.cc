/*
 * c_strand.cc -- A strand in the style of Asio on an io_context with two threads: handlers of
 * one strand run one at a time; the thread that finds the strand idle schedules it.
 *
 * Cause: run_strand() leaves the locked state after its last handler without looking at the
 * queue again, so a handler that was posted meanwhile (and saw the strand locked) is never
 * scheduled.
 * Where: strand::run
 * Kind: flag reset after the queue check
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <new>

#include "sim/rewake.h"

static bool fixed;

struct strand;

struct io_context {
    sim_fds *os;
    int event;
    strand *ready[16];
    unsigned head = 0;
    unsigned tail = 0;
    bool stopped = false;

    void post(strand *s)
    {
        ready[tail++ % 16] = s;
        SIM_ALWAYS(sim_fd_notify(os, event) == RT_OK);
    }
    void run(sim_world *world);
};

struct strand {
    io_context *io;
    sim_world *world;
    bool locked = false;
    int queued = 0;
    int ran = 0;
    int total = 0;

    void post()
    {
        queued++;
        if (!locked) {
            locked = true;
            io->post(this);
        }
    }
    void run()
    {
        while (queued > 0) {
            queued--;
            ran++;
            SIM_PROGRESS();
            sim_loop_pause(world); /* The handler. */
        }
        sim_loop_pause(world); /* Leaves the mutex, and takes it again. */
        locked = false;        /* Where. */
        if (fixed && queued > 0) {
            locked = true;
            io->post(this);
        }
        if (ran == total) {
            io->stopped = true;
            SIM_ALWAYS(sim_fd_notify(io->os, io->event) == RT_OK);
        }
    }
};

void
io_context::run(sim_world *world)
{
    (void)world;
    while (!stopped) {
        sim_fd_event fetched;
        uint64_t count;
        sim_fd_wait(os, &fetched, 1, SIM_NEVER);
        if (stopped) {
            break; /* The eventfd stays readable, for the other threads. */
        }
        sim_fd_read(os, event, &count, sizeof(count));
        while (head < tail) {
            ready[head++ % 16]->run();
        }
        if (stopped) {
            SIM_ALWAYS(sim_fd_notify(os, event) == RT_OK);
        }
    }
}

static void
thread_main(sim_world *world, void *argument)
{
    static_cast<io_context *>(argument)->run(world);
}

static void
poster_main(sim_world *world, void *argument)
{
    strand *s = static_cast<strand *>(argument);
    for (int i = 0; i < 3; i++) {
        sim_sleep(world, sim_range(world, 100, 1500));
        s->post();
    }
}

static void
setup(sim_world *world)
{
    io_context *io = new (sim_alloc(world, sizeof(io_context))) io_context();
    strand *s = new (sim_alloc(world, sizeof(strand))) strand();
    io->os = sim_fds_new(sim_host_new(world, nullptr, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(io->os, "io_context", &io->event) == RT_OK);
    SIM_ALWAYS(sim_fd_add(io->os, io->event, SIM_FD_IN, 0) == RT_OK);
    s->io = io;
    s->world = world;
    s->total = 6;
    sim_loop_new(world, "thread-1", thread_main, io);
    sim_loop_new(world, "thread-2", thread_main, io);
    sim_loop_new(world, "poster-1", poster_main, s);
    sim_loop_new(world, "poster-2", poster_main, s);
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

SIM_SCENARIO(form_broken, .name = "unseen/c-strand/broken", .about = "A strand on two threads.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK,
        .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/c-strand/fixed", .about = "A strand on two threads.",
        .setup = setup_fixed);

/*
 * queues.c -- executors of the program's own that lose a task between its wake and its poll.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/explain/explain_lab.h"

#include "sim/core/world.h"
#include "sim/rewake.h"

#line 1 "hand/queues.c"

struct runner;

struct job {
    struct runner *runner;
    bool due;
    bool finished;
};

struct runner {
    struct sim_fds *os;
    int bell;
    struct job jobs[2];
    uint32_t count;
    struct job *next; /* To be polled: one place. */
    bool sleeping;
};

static void
job_run(struct job *job)
{
    sim_foreign_poll(job);
    job->finished = job->due;
    if (!job->finished) {
        sim_foreign_store(job, &job->due, "its turn");
    }
    sim_foreign_polled(job, job->finished);
}

static void
job_again(void *runner, void *job)
{
    (void)runner;
    job_run(job);
}

static void
job_queue(struct job *job)
{
    job->runner->next = job;
}

static void
job_wake(struct job *job)
{
    job->due = true;
    sim_foreign_fire(&job->due);
    job_queue(job);
}

static void
runner_wait(struct runner *runner)
{
    struct sim_fd_event event;
    uint64_t count;
    runner->sleeping = true;
    sim_fd_wait(runner->os, &event, 1, SIM_NEVER);
    runner->sleeping = false;
    sim_fd_read(runner->os, runner->bell, &count, sizeof(count));
}

static bool
runner_takes(struct runner *runner)
{
    struct job *job = runner->next;
    runner->next = NULL;
    if (job != NULL) {
        job_run(job);
    }
    return job != NULL;
}

static void
runner_main(struct sim_world *world, void *argument)
{
    struct runner *runner = argument;
    for (uint32_t i = 0; i < runner->count; i++) {
        job_run(&runner->jobs[i]);
    }
    while (!runner->jobs[0].finished || (runner->count == 2 && !runner->jobs[1].finished)) {
        if (!runner_takes(runner)) {
            sim_loop_pause(world);
            runner_wait(runner);
        }
    }
}

static void
both_main(struct sim_world *world, void *argument)
{
    struct runner *runner = argument;
    sim_sleep(world, RT_MS);
    job_wake(&runner->jobs[0]);
    job_wake(&runner->jobs[1]);
    SIM_ALWAYS(sim_fd_notify(runner->os, runner->bell) == RT_OK);
}

static void
sleeping_main(struct sim_world *world, void *argument)
{
    struct runner *runner = argument;
    sim_loop_pause(world);
    job_wake(&runner->jobs[0]);
    if (runner->sleeping) {
        SIM_ALWAYS(sim_fd_notify(runner->os, runner->bell) == RT_OK);
    }
}

static void
runner_setup(struct sim_world *world, uint32_t count,
        void (*notifier)(struct sim_world *world, void *argument))
{
    struct runner *runner = sim_new(world, struct runner);
    runner->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(runner->os, "bell", &runner->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(runner->os, runner->bell, SIM_FD_IN, 0) == RT_OK);
    runner->count = count;
    struct sim_loop *loop = sim_loop_new(world, "runner", runner_main, runner);
    struct sim_foreign *foreign = sim_foreign_new(loop, job_again, runner);
    for (uint32_t i = 0; i < count; i++) {
        runner->jobs[i].runner = runner;
        sim_foreign_spawn(foreign, &runner->jobs[i], i == 0 ? "first" : "second");
    }
    sim_loop_new(world, "notifier", notifier, runner);
}

static void
one_place_setup(struct sim_world *world)
{
    runner_setup(world, 2, both_main);
}

static void
no_look_setup(struct sim_world *world)
{
    runner_setup(world, 1, sleeping_main);
}

/* ---- A seat that is handed to a task which leaves. ------------------------------------------- */

enum { HOLDER, LEAVER, PATIENT, GUESTS };

struct table;

struct guest {
    struct table *table;
    bool granted;
    bool finished;
};

struct table {
    struct sim_fds *os;
    int bell;
    struct guest guests[GUESTS];
    bool left; /* The leaver wants no seat any more. */
};

static void
seat_give(struct guest *guest)
{
    guest->granted = true;
    sim_foreign_fire(&guest->granted);
}

/* The leaver does not pass the seat on when it leaves. */
static void
guest_run(struct guest *guest)
{
    struct table *table = guest->table;
    bool leaves = guest == &table->guests[LEAVER] && table->left;
    sim_foreign_poll(guest);
    if (guest == &table->guests[HOLDER] && guest->granted) {
        seat_give(&table->guests[table->left ? PATIENT : LEAVER]);
    } else if (guest == &table->guests[LEAVER] && guest->granted && !leaves) {
        seat_give(&table->guests[PATIENT]);
    }
    guest->finished = guest->granted || leaves;
    if (!guest->finished) {
        sim_foreign_store(guest, &guest->granted, "a seat");
    }
    sim_foreign_polled(guest, guest->finished);
}

static void
guest_again(void *table, void *guest)
{
    (void)table;
    guest_run(guest);
}

static void
table_main(struct sim_world *world, void *argument)
{
    struct table *table = argument;
    struct sim_fd_event event;
    uint64_t count;
    while (!table->guests[PATIENT].finished) {
        for (uint32_t i = 0; i < GUESTS; i++) {
            if (!table->guests[i].finished) {
                guest_run(&table->guests[i]);
                sim_loop_pause(world);
            }
        }
        if (!table->guests[PATIENT].granted) {
            sim_fd_wait(table->os, &event, 1, SIM_NEVER);
            sim_fd_read(table->os, table->bell, &count, sizeof(count));
        }
    }
}

static void
rises_main(struct sim_world *world, void *argument)
{
    struct table *table = argument;
    sim_sleep(world, RT_MS);
    seat_give(&table->guests[HOLDER]);
    SIM_ALWAYS(sim_fd_notify(table->os, table->bell) == RT_OK);
}

static void
leaves_main(struct sim_world *world, void *argument)
{
    struct table *table = argument;
    sim_sleep(world, RT_MS);
    table->left = true;
    sim_foreign_fire(&table->guests[LEAVER].granted);
    SIM_ALWAYS(sim_fd_notify(table->os, table->bell) == RT_OK);
}

static void
handed_setup(struct sim_world *world)
{
    static const char *const names[GUESTS] = {"holder", "leaver", "patient"};
    struct table *table = sim_new(world, struct table);
    table->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(table->os, "bell", &table->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(table->os, table->bell, SIM_FD_IN, 0) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "table", table_main, table);
    struct sim_foreign *foreign = sim_foreign_new(loop, guest_again, table);
    for (uint32_t i = 0; i < GUESTS; i++) {
        table->guests[i].table = table;
        sim_foreign_spawn(foreign, &table->guests[i], names[i]);
    }
    sim_loop_new(world, "rises", rises_main, table);
    sim_loop_new(world, "leaves", leaves_main, table);
}

const struct sim_scenario explain_handed = {.name = "explain-handed", .setup = handed_setup};
const struct sim_scenario explain_one_place = {
        .name = "explain-one-place",
        .setup = one_place_setup,
};
const struct sim_scenario explain_no_look = {.name = "explain-no-look", .setup = no_look_setup};

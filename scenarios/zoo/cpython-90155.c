/*
 * cpython-90155.c -- a permit is granted to a waiter that has just been cancelled.
 *
 * python/cpython#90155 (asyncio.Semaphore, fixed by #93222).
 *
 * The bug. A release wakes the first waiter, and records that a wake-up is under way. A waiter
 * that is cancelled after that and before it runs raises its cancellation and wakes no one: the
 * permit is free, and all other waiters keep sleeping.
 *
 * The fix. A waiter that is cancelled after it was granted a permit wakes the next.
 * cpython-90155.patch removes that from rt_waiter_leave in runtime/sync/waiters.c: the permit is
 * returned, and no waiter gets it.
 *
 * Here. One connection to a database. A report holds it for a millisecond; a page waits for it
 * with a time limit, and a backup waits after the page. The page's limit expires at the time when
 * it is granted the connection.
 *
 * Cause: never-fired in rt_waiter_leave or page_poll
 * Must end in: lost-wakeup of the backup. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/semaphore.h"
#include "sim/rewake.h"

struct state {
    struct rt_semaphore connection;
    struct rt_task report;
    struct rt_acquire for_report;
    struct rt_sleep work;
    bool working;
    struct rt_task page;
    struct rt_acquire for_page;
    struct rt_sleep patience;
    struct rt_task backup;
    struct rt_acquire for_backup;
};

static void
give_back(struct state *state)
{
    rt_err err = rt_semaphore_release(&state->connection, 1);
    SIM_ALWAYS(err == RT_OK);
}

static rt_poll
report_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, report);
    if (!state->working) {
        RT_AWAIT(rt_acquire_poll(&state->for_report, cx));
        state->working = true;
    }
    RT_AWAIT(rt_sleep_poll(&state->work, cx));
    give_back(state);
    return RT_READY;
}

static rt_poll
page_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, page);
    if (rt_sleep_poll(&state->patience, cx) == RT_READY) {
        rt_acquire_drop(&state->for_page);
        return RT_READY;
    }
    RT_AWAIT(rt_acquire_poll(&state->for_page, cx));
    rt_sleep_cancel(&state->patience);
    give_back(state);
    return RT_READY;
}

static rt_poll
backup_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, backup);
    RT_AWAIT(rt_acquire_poll(&state->for_backup, cx));
    give_back(state);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct state *state = sim_new(world, struct state);
    rt_semaphore_init(&state->connection, 1);
    rt_acquire_init(&state->for_report, &state->connection, 1);
    rt_acquire_init(&state->for_page, &state->connection, 1);
    rt_acquire_init(&state->for_backup, &state->connection, 1);
    rt_sleep_until(&state->work, RT_MS);
    rt_sleep_until(&state->patience, sim_range(world, 0, 2 * RT_MS));
    rt_task_init(&state->report, report_poll, NULL, "report");
    rt_task_init(&state->page, page_poll, NULL, "page");
    rt_task_init(&state->backup, backup_poll, NULL, "backup");
    sim_spawn(rt, &state->report);
    sim_spawn(rt, &state->page);
    sim_spawn(rt, &state->backup);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_cpython_90155_broken, .name = "zoo/cpython-90155/broken", .bug = "C01",
        .reference = "python/cpython#90155",
        .about = "A waiter cancelled after its grant wakes no other.", .setup = setup,
        .expect = SIM_VERDICT_LOST_WAKEUP);
#else
SIM_SCENARIO(zoo_cpython_90155_fixed, .name = "zoo/cpython-90155/fixed",
        .about = "A waiter cancelled after its grant passes the permit on.", .setup = setup);
#endif

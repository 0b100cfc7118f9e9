/*
 * where.c -- a library whose failures have a line: crashes, forgotten wakers, leaked clones.
 *
 * Crashes happen in where_deep.c, which is a second file of the library, in another folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "where.h"
#include "sim/rewake.h"

struct job {
    struct rt_task task;
    struct sim_world *world;
    void (*act)(struct sim_world *world);
};

static rt_poll
job_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct job *job = rt_container_of(task, struct job, task);
    (void)cx;
    where_running = task;
    job->act(job->world);
    return RT_READY;
}

static void
start(struct sim_world *world, void (*act)(struct sim_world *world))
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct job *job = sim_new(world, struct job);
    job->world = world;
    job->act = act;
    rt_task_init(&job->task, job_poll, NULL, "job");
    sim_spawn(rt, &job->task);
}

#define CASE(id, title, sentence, verdict) \
    static void id##_setup(struct sim_world *world) \
    { \
        start(world, id); \
    } \
    SIM_SCENARIO(id##_scenario, .name = title, .about = sentence, .setup = id##_setup, \
            .expect = verdict)

static void
writes(struct sim_world *world)
{
    (void)world;
    where_write(where_nothing);
}
CASE(writes, "where/writes", "Writes through NULL, in another file.", SIM_VERDICT_CRASH);

static void
writes_too(struct sim_world *world)
{
    (void)world;
    where_write(where_nothing);
}
CASE(writes_too, "where/writes-too", "Likewise, from another line.", SIM_VERDICT_CRASH);

static void
calls(struct sim_world *world)
{
    (void)world;
    where_call(where_nothing);
}
CASE(calls, "where/calls", "Calls NULL, in another file.", SIM_VERDICT_CRASH);

static void
asserts(struct sim_world *world)
{
    (void)world;
    where_assert(0);
}
CASE(asserts, "where/asserts", "Fails an assertion of the C library.", SIM_VERDICT_CRASH);

static void
misuses(struct sim_world *world)
{
    where_end(where_running);
    (void)world;
}
CASE(misuses, "where/misuses", "Finalizes a task that is posted.", SIM_VERDICT_CONTRACT);

/* ---- On a fiber. ----------------------------------------------------------------------------- */

static void
loop(struct sim_world *world, void *argument)
{
    (void)argument;
    (void)world;
    where_write(where_nothing);
}

static void
fiber_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", loop, NULL);
}
SIM_SCENARIO(fiber, .name = "where/fiber", .about = "Writes through NULL in a loop on a fiber.",
        .setup = fiber_setup, .expect = SIM_VERDICT_CRASH);

/* ---- Pending, and no waker stored. ----------------------------------------------------------- */

static rt_poll
forgets_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    return RT_PENDING;
}

static void
forgets_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct rt_task *task = sim_new(world, struct rt_task);
    rt_task_init(task, forgets_poll, NULL, "server");
    sim_spawn(rt, task);
}
SIM_SCENARIO(forgets, .name = "where/forgets", .about = "Answers PENDING and stores no waker.",
        .setup = forgets_setup, .expect = SIM_VERDICT_CONTRACT);

/* ---- A clone that is overwritten. ------------------------------------------------------------ */

struct keeper {
    struct rt_task task;
    struct rt_waker kept;
    uint32_t polls;
};

static rt_poll
keeper_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct keeper *keeper = rt_container_of(task, struct keeper, task);
    if (keeper->polls++ == 0) {
        keeper->kept = rt_waker_clone(rt_cx_waker(cx));
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    keeper->kept = rt_waker_clone(rt_cx_waker(cx));
    rt_waker_drop(&keeper->kept);
    return RT_READY;
}

static void
keeper_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct keeper *keeper = sim_new(world, struct keeper);
    rt_task_init(&keeper->task, keeper_poll, NULL, "keeper");
    sim_spawn(rt, &keeper->task);
}
SIM_SCENARIO(overwrites, .name = "where/overwrites",
        .about = "Overwrites a clone of its waker with another one.", .setup = keeper_setup,
        .expect = SIM_VERDICT_LEAK);

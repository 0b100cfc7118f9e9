/*
 * monoio-322.c -- a task that yields is put at the head of the run queue.
 *
 * bytedance/monoio#322, fixed by #362 (9ad6702).
 *
 * The bug. A task that yields wakes itself during its own poll, and the scheduler has a separate
 * function for that case. It puts the task at the head of the queue, from which the next task is
 * taken: the same task again, whatever else is runnable.
 *
 * The fix. It goes to the tail: local_push below.
 *
 * Here. A service waits until its settings are loaded, and yields until then. The loader is another
 * task of the thread. If it is done before the service checks for the first time, all is well.
 *
 * Cause: not-a-wake in local_push or service_poll
 * Must end in: starvation of the loader. Fails on the baseline run: no, there the loader is polled
 * first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define TASKS_MAX 64u

/* ---- The scheduler of a thread, as in monoio. ------------------------------------------------ */

struct local {
    struct rt_sched sched;
    bool broken;
    uint32_t queue[TASKS_MAX];
    uint32_t count;
    uint32_t polled; /* The task that was taken out last. */
};

static struct local *
local_of(struct rt_sched *sched)
{
    return rt_container_of(sched, struct local, sched);
}

/* A task that was taken out last, and is scheduled before any other is taken out, has yielded. */
static void
local_push(struct rt_sched *sched, uint32_t id)
{
    struct local *local = local_of(sched);
    bool in_front = local->broken && id == local->polled;
    uint32_t position = in_front ? 0 : local->count;
    for (uint32_t i = local->count; i > position; i--) {
        local->queue[i] = local->queue[i - 1];
    }
    local->queue[position] = id;
    local->count++;
}

static void
local_remove(struct rt_sched *sched, uint32_t id)
{
    struct local *local = local_of(sched);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < local->count; i++) {
        if (local->queue[i] != id) {
            local->queue[kept++] = local->queue[i];
        }
    }
    local->count = kept;
}

static uint32_t
local_pop(struct rt_sched *sched)
{
    struct local *local = local_of(sched);
    if (local->count == 0) {
        return RT_SCHED_NONE;
    }
    local->polled = local->queue[0];
    local_remove(sched, local->polled);
    return local->polled;
}

static const struct rt_sched_ops local_ops = {
        .push = local_push, .pop = local_pop, .remove = local_remove};

/* ---- A service and its settings. ------------------------------------------------------------- */

struct state {
    struct local local;
    struct rt_task loader;
    struct rt_sleep disk;
    struct rt_task service;
    struct rt_sleep start;
    bool started;
    bool loaded;
};

static rt_poll
loader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, loader);
    RT_AWAIT(rt_sleep_poll(&state->disk, cx));
    state->loaded = true;
    return RT_READY;
}

static rt_poll
service_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, service);
    if (!state->started) {
        RT_AWAIT(rt_sleep_poll(&state->start, cx));
        state->started = true;
    }
    if (!state->loaded) {
        rt_cx_reenqueue(cx); /* yield_now */
        return RT_PENDING;
    }
    return RT_READY;
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    state->local = (struct local){{&local_ops}, .broken = broken, .polled = RT_SCHED_NONE};
    struct sim_rt_options options = {.sched = &state->local.sched, .capacity = TASKS_MAX};
    struct sim_rt *rt = sim_rt_new(world, &options);
    rt_sleep_init(&state->disk, sim_range(world, 0, 200 * RT_US));
    rt_sleep_init(&state->start, 100 * RT_US);
    rt_task_init(&state->loader, loader_poll, NULL, "loader");
    rt_task_init(&state->service, service_poll, NULL, "service");
    sim_spawn(rt, &state->loader);
    sim_spawn(rt, &state->service);
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

SIM_SCENARIO(zoo_monoio_322_broken, .name = "zoo/monoio-322/broken", .bug = "F08",
        .reference = "bytedance/monoio#322",
        .about = "A task that yields is put at the head of the queue.", .setup = setup_broken,
        .expect = SIM_VERDICT_STARVATION);
SIM_SCENARIO(zoo_monoio_322_fixed, .name = "zoo/monoio-322/fixed",
        .about = "A task that yields is put at the tail of the queue.", .setup = setup_fixed);

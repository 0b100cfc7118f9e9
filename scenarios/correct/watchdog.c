/*
 * watchdog.c -- a worker beats; a watchdog starts it again when it has been silent for too long.
 *
 * A beat only writes down the time. The watchdog is not woken by it: it sleeps until the silence
 * would be too long, checks the last beat, and sleeps on until the new deadline. A worker that is
 * stuck waits for the restart, which is a flag and a wake; a restart that comes too early (the
 * worker was only slow) is found by its flag later, so it is not lost. The worker reports its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BEATS 4u
#define LIVES 3u
#define SILENCE_NS (5 * RT_MS)

struct watched {
    struct sim_world *world;
    uint64_t beat_ns;
    bool restart;
    bool ended;
    struct rt_slot restarted;
    struct rt_slot changed; /* The watchdog waits here for the end. */
};

struct worker {
    struct rt_task task;
    struct watched *watched;
    struct rt_sleep sleep;
    uint32_t life;
    uint32_t beat;
    uint32_t at;
};

struct watchdog {
    struct rt_task task;
    struct watched *watched;
    struct rt_sleep sleep;
    bool asleep;
};

/* Stuck until the watchdog comes. */
static rt_poll
worker_stuck(struct watched *watched, struct rt_cx *cx)
{
    if (!watched->restart) {
        rt_slot_replace(&watched->restarted, cx, "a restart");
        return RT_PENDING;
    }
    watched->restart = false;
    return RT_READY;
}

static rt_poll
worker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct worker *worker = rt_container_of(task, struct worker, task);
    struct watched *watched = worker->watched;
    RT_BEGIN(worker->at);
    for (worker->life = 0; worker->life < LIVES; worker->life++) {
        for (worker->beat = 0; worker->beat < BEATS; worker->beat++) {
            rt_sleep_init(&worker->sleep, sim_range(watched->world, RT_MS, 2 * RT_MS));
            RT_AWAIT_HERE(worker->at, rt_sleep_poll(&worker->sleep, cx));
            watched->beat_ns = rt_cx_now(cx);
        }
        RT_AWAIT_HERE(worker->at, worker_stuck(watched, cx));
    }
    watched->ended = true;
    rt_slot_wake(&watched->changed);
    RT_END(worker->at);
}

static rt_poll
watchdog_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct watchdog *watchdog = rt_container_of(task, struct watchdog, task);
    struct watched *watched = watchdog->watched;
    while (!watched->ended) {
        if (!watchdog->asleep) {
            rt_sleep_until(&watchdog->sleep, watched->beat_ns + SILENCE_NS);
            watchdog->asleep = true;
        }
        rt_slot_replace(&watched->changed, cx, "the worker's end");
        RT_AWAIT(rt_sleep_poll(&watchdog->sleep, cx));
        watchdog->asleep = false;
        if (rt_cx_now(cx) >= watched->beat_ns + SILENCE_NS) {
            watched->beat_ns = rt_cx_now(cx);
            watched->restart = true;
            rt_slot_wake(&watched->restarted);
        }
    }
    rt_sleep_cancel(&watchdog->sleep);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct watched *watched = sim_new(world, struct watched);
    struct worker *worker = sim_new(world, struct worker);
    struct watchdog *watchdog = sim_new(world, struct watchdog);
    watched->world = world;
    rt_slot_init(&watched->restarted);
    rt_slot_init(&watched->changed);
    worker->watched = watchdog->watched = watched;
    rt_sleep_init(&watchdog->sleep, 0);
    rt_task_init(&worker->task, worker_poll, NULL, "worker");
    rt_task_init(&watchdog->task, watchdog_poll, NULL, "watchdog");
    sim_spawn(rt, &worker->task);
    sim_spawn(rt, &watchdog->task);
}

SIM_SCENARIO(correct_watchdog, .name = "correct/watchdog",
        .about = "A heartbeat, and a watchdog that restarts the worker.", .setup = setup);

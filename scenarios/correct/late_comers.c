/*
 * late_comers.c -- a result that is computed once and handed to all that ask, early or late.
 *
 * The computation is a separate task, so it does not depend on any asker. It keeps the result and
 * wakes all that wait; a later asker finds the result. One of the askers has no patience: it waits
 * for the result or for its own deadline, and leaves the queue when the deadline comes first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define ASKERS 3u
#define RESULT 42u

struct shared {
    struct rt_task task; /* The computation. */
    struct rt_sleep work;
    struct rt_wait_queue waiting;
    struct rt_wait_queue_entry entries[ASKERS];
    uint32_t result; /* 0: not yet. */
    uint32_t at;
};

struct asker {
    struct rt_task task;
    struct shared *shared;
    struct rt_sleep delay;
    struct rt_sleep patience;
    uint64_t patience_ns;
    uint32_t got;
    uint32_t at;
};

static rt_poll
shared_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct shared *shared = rt_container_of(task, struct shared, task);
    RT_BEGIN(shared->at);
    RT_AWAIT_HERE(shared->at, rt_sleep_poll(&shared->work, cx));
    shared->result = RESULT;
    rt_wait_queue_wake(&shared->waiting, UINT32_MAX);
    RT_END(shared->at);
}

/* READY with the result, or with 0 when the time is up. */
static rt_poll
asker_wait(struct asker *asker, struct rt_cx *cx)
{
    struct shared *shared = asker->shared;
    if (shared->result == 0) {
        SIM_ALWAYS(rt_wait_queue_store(&shared->waiting, cx, "the result") == RT_OK);
        RT_AWAIT(rt_sleep_poll(&asker->patience, cx));
        (void)rt_wait_queue_leave(&shared->waiting, cx);
    }
    rt_sleep_cancel(&asker->patience);
    asker->got = shared->result;
    return RT_READY;
}

static rt_poll
asker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct asker *asker = rt_container_of(task, struct asker, task);
    RT_BEGIN(asker->at);
    RT_AWAIT_HERE(asker->at, rt_sleep_poll(&asker->delay, cx));
    rt_sleep_init(&asker->patience, asker->patience_ns);
    RT_AWAIT_HERE(asker->at, asker_wait(asker, cx));
    SIM_ALWAYS(asker->got == RESULT || asker->patience_ns != RT_NEVER);
    RT_END(asker->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[ASKERS] = {"early", "hasty", "late"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct shared *shared = sim_new(world, struct shared);
    rt_wait_queue_init(&shared->waiting, shared->entries, ASKERS);
    rt_sleep_init(&shared->work, sim_range(world, RT_MS, 4 * RT_MS));
    rt_task_init(&shared->task, shared_poll, NULL, "computation");
    sim_spawn(rt, &shared->task);
    for (uint32_t i = 0; i < ASKERS; i++) {
        struct asker *asker = sim_new(world, struct asker);
        asker->shared = shared;
        asker->patience_ns = i == 1 ? 2 * RT_MS : RT_NEVER;
        rt_sleep_init(&asker->delay, i == 0 ? 0 : sim_range(world, 0, 5 * RT_MS));
        rt_sleep_init(&asker->patience, 0);
        rt_task_init(&asker->task, asker_poll, NULL, names[i]);
        sim_spawn(rt, &asker->task);
    }
}

SIM_SCENARIO(correct_late_comers, .name = "correct/late-comers",
        .about = "A cached result for early, late and hasty askers.", .setup = setup);

/*
 * looks_under_lock.c -- a condition: each poll takes the lock, checks the flag, releases the lock.
 *
 * A spurious poll takes a permit of the mutex and gives it back. A permit that is taken is a
 * consumption, but one that returns in the same poll leaves nothing consumed. The setter wakes the
 * waiter when it sets the flag. Correct.
 *
 * Guards: a permit that is taken and given back in the same poll is no gain.
 * Must end in: pass, for each order and audit rate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct program {
    struct rt_mutex mutex;
    struct rt_slot condition;
    bool is_set;
    bool locking;
    struct rt_lock lock;
    struct rt_task waiter;
    struct rt_task setter;
    struct rt_sleep delay;
};

static rt_poll
waiter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, waiter);
    if (!program->locking) {
        program->locking = true;
        rt_lock_init(&program->lock, &program->mutex);
    }
    RT_AWAIT(rt_lock_poll(&program->lock, cx));
    program->locking = false;
    bool is_set = program->is_set;
    rt_mutex_unlock(&program->mutex);
    if (is_set) {
        return RT_READY;
    }
    rt_slot_replace(&program->condition, cx, "the flag");
    return RT_PENDING;
}

static rt_poll
setter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, setter);
    RT_AWAIT(rt_sleep_poll(&program->delay, cx));
    program->is_set = true;
    rt_slot_wake(&program->condition);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct program *program = sim_new(world, struct program);
    rt_slot_init(&program->condition);
    rt_mutex_init(&program->mutex);
    rt_sleep_init(&program->delay, 2 * RT_MS);
    rt_task_init(&program->waiter, waiter_poll, NULL, "waiter");
    rt_task_init(&program->setter, setter_poll, NULL, "setter");
    sim_spawn(rt, &program->waiter);
    sim_spawn(rt, &program->setter);
}

SIM_SCENARIO(oracle_looks_under_lock, .name = "oracle/looks-under-lock",
        .about = "Each poll takes a lock, checks a flag, and releases the lock.", .setup = setup);

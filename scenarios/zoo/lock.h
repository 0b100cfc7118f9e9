/*
 * lock.h -- a mutex between threads, for entries in which one is held too long.
 *
 * A thread is a sim_loop. A thread that finds the lock held is blocked until it is released, even
 * if it is the holder: the mutex is not recursive.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCENARIOS_ZOO_LOCK_H
#define SCENARIOS_ZOO_LOCK_H

#include "sim/core/loop.h"

#define LOCK_WAITERS_MAX 8

struct lock {
    struct sim_world *world;
    const char *name;
    bool held;
    struct sim_loop *waiters[LOCK_WAITERS_MAX];
    uint32_t count;
};

static inline void
lock_take(struct lock *lock)
{
    while (lock->held) {
        lock->waiters[lock->count++ % LOCK_WAITERS_MAX] = sim_loop_current(lock->world);
        sim_loop_block(lock->world, 0, lock->name, RT_HERE);
    }
    lock->held = true;
}

static inline void
lock_release(struct lock *lock)
{
    uint32_t count = lock->count;
    lock->held = false;
    lock->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        sim_loop_wake(lock->waiters[i]);
    }
}

#endif

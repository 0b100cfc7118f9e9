/*
 * lock.h -- a mutex between threads, for entries whose story is one that is held too long.
 *
 * A thread is a sim_loop. Who finds the lock held is blocked until it is released, also when it is
 * the holder: this mutex is not recursive, as few are.
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

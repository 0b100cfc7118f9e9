/*
 * foreign_priv.h -- what foreign.c and freed.c share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_BIND_FOREIGN_PRIV_H
#define SIM_BIND_FOREIGN_PRIV_H

#include "sim/core/world.h"

/* A waker whose slot was freed. */
struct sim__lost_waker {
    uint32_t object; /* The slot, … */
    uint32_t whose;
    const char *reason; /* … NULL: none. */
    const char *task;   /* The task that stored it; NULL: not known. */
    const struct rt_site *stored;
    const struct rt_site *freed;
};

/* Writes the event, and ends the run with verdict leak. */
__attribute__((noreturn)) void sim__fail_freed(
        struct sim_world *world, const struct sim__lost_waker *lost);

/* foreign.c: fails where a slot in this memory holds a waker; else its slots are dead. */
void sim__foreign_freed(
        struct sim_world *world, const char *memory, size_t size, const struct rt_site *line);

#endif

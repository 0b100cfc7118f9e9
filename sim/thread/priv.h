/*
 * priv.h -- what the files of this folder share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_THREAD_PRIV_H
#define SIM_THREAD_PRIV_H

#include "sim/thread/thread.h"

/* All of a run, in its arena. */
struct sim_threads {
    struct sim_thread *first;
    struct sim_thread **end;
    struct sim_sync **table; /* By address; a power of two of places. */
    uint32_t bits;           /* Of the table's size. */
    uint32_t used;
    uint32_t count; /* Threads made so far. */
};

/* Of `world`, made when it is asked for first. */
struct sim_threads *sim__threads(struct sim_world *world);

/* Puts `thread` at the end of the waiting list of thread->wait.sync, or takes it out of there. */
void sim__sync_enter(struct sim_thread *thread);
void sim__sync_leave(struct sim_thread *thread);

#endif

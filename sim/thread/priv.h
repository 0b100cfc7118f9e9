/*
 * priv.h -- what the files of this folder share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/thread/tcb.h"
#include "sim/thread/thread.h"

/* Threads of a run at a time that have thread pointers of their own. */
#define SIM__SLOTS 1024u

enum sim__slot {
    SIM__SLOT_FREE,
    SIM__SLOT_TAKEN,
    SIM__SLOT_USED /* Free again: its variables are not as at the beginning. */
};

/* All of a run, in its arena. */
struct sim_threads {
    struct sim_thread *first;
    struct sim_thread **end;
    struct sim_sync **table; /* By address; a power of two of places. */
    uint32_t bits;           /* Of the table's size. */
    uint32_t used;
    struct sim__variables *variables; /* NULL: none is in an event yet. */
    uint32_t count;                   /* Threads made so far. */
    uint32_t timeouts;                /* Waits that their time has ended. */
    uint32_t wakes;                   /* Waits for a futex that another thread has ended. */
    struct sim__key *keys; /* Of pthread_key_create, in the order in which they were made. */
    uint32_t key_count;
    uint8_t *slots; /* SIM__SLOTS: enum sim__slot; NULL: threads have the world's thread pointer. */
};

struct sim__key;

/* Of `world`, made when it is asked for first. */
struct sim_threads *sim__threads(struct sim_world *world);

/* Puts `thread` at the end of the waiting list of thread->wait.sync, or takes it out of there. */
void sim__sync_enter(struct sim_thread *thread);
void sim__sync_leave(struct sim_thread *thread);

/* sync/cleanup.c: unwinds the stack of the calling thread, and ends it by sim__thread_end; returns
 * where there is nothing to call, and the stack cannot be read. */
void sim__unwind(struct sim_thread *thread);

/* thread.c: the calling thread's stack is unwound. */
__attribute__((noreturn)) void sim__thread_end(struct sim_thread *thread);

/* sync/mutex.c: the calling thread ends, and leaves its robust mutexes to others. */
void sim__mutexes_leave(struct sim_thread *thread);

/* sync/key.c: calls the destructors of what the ending thread keeps under keys. */
void sim__keys_end(struct sim_thread *thread);

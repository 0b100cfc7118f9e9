/*
 * tcb.h -- a thread pointer for each simulated thread: errno and thread-local variables of its own.
 *
 *      real threads, made once by each worker, parked forever      simulated threads
 *      ┌───────────────────────────────────────────┐
 *      │ thread-locals │ TCB │  blocked in pause() │ ◀─ fs ─────── while thread 1 runs
 *      └───────────────────────────────────────────┘
 *
 * The C library, and code that a compiler has made, find thread-local variables by a register. A
 * simulated thread runs with the register of a real thread that is parked, and has all signals
 * blocked. Each variable is put back before each run, and is part of snapshots (image.h).
 *
 * It costs up to 7 ns at each switch of threads, and is on where a loaded module has thread-local
 * variables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

struct sim_thread;

/* An executable's own thread-local variables can have this many bytes together. */
#define SIM_THREAD_RESERVE ((size_t)64 << 10)

/*
 * An executable finds its thread-local variables right below the thread pointer, without
 * relocations (local-exec). rewake's own executable has a reserve there, in each thread, and no
 * other such variables. This claims it for a program whose PT_TLS segment has `image` (borrowed
 * forever, `file_size` bytes; the rest of `size` is zero): the block of the calling thread is
 * filled, and from now on that of each simulated thread.
 *
 * Called in the parent, before the program's constructors run, which may change the block of the
 * calling thread: the first simulated thread of a run begins with what they leave there. Returns
 * that block. NULL: more than SIM_THREAD_RESERVE, an alignment above 64, a second program, or a
 * processor for which this is not done.
 */
void *sim_thread_claim_reserve(const void *image, size_t file_size, size_t size, size_t alignment);

/*
 * The C library keeps what strerror() and strsignal() returned last in the descriptor of a thread,
 * and frees it at the next call: in the next run. From now on these words are put back before each
 * run, for the calling thread and each simulated one. Errors: those of sim_images_add.
 */
rt_err sim_thread_share_descriptor(void);

/* From the next run on each thread has its own pointer, whatever is loaded. For measuring. */
void sim_thread_pointers_want(void);

/* Whether simulated threads can have pointers of their own here: not under a sanitizer, and not on
 * a processor for which this is not done. */
bool sim_thread_pointers_possible(void);

/* ---- For thread.c. --------------------------------------------------------------------------- */

/* Whether they have; asked as the first thread of a run is made. */
bool sim__pointers_are_wanted(void);

/* Gives `thread` a pointer, with its variables as at the beginning, and takes it back. */
void sim__pointer_give(struct sim_thread *thread);
void sim__pointer_take(struct sim_thread *thread);

/* The processor's pointer: that of the world, and how to change it. */
extern uintptr_t sim__pointer_of_world;
void sim__pointer_set_slowly(uintptr_t pointer);
extern bool sim__pointer_is_slow; /* Only by a system call. */

static inline void
sim__pointer_set(uintptr_t pointer)
{
#if defined(__x86_64__)
    if (__builtin_expect(!sim__pointer_is_slow, 1)) {
        __asm__ volatile("wrfsbase %0" : : "r"(pointer) : "memory");
        return;
    }
#endif
    sim__pointer_set_slowly(pointer);
}

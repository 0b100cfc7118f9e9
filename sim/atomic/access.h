/*
 * access.h -- what happens to a simulated thread at an operation, besides the operation itself.
 *
 * Memory is sequentially consistent: a decision point, at which other threads may run, then the
 * operation as it is written, then an event. As threads are fibers of one kernel thread, no two
 * operations are at the same time. A memory model with weaker orders would replace `value` by what
 * a thread may also read: see README.md.
 *
 * In the library that a program is linked with (SIM_ATOMIC_ALONE, librewake-tsan) there are no
 * simulated threads: the program runs natively, and each operation is that of the processor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef SIM_ATOMIC_ALONE
#include "sim/core/record/event.h"
#include "sim/thread/thread.h"
#endif

/* rewake itself, built with -fsanitize=thread, has the sanitizer's entry points. */
#if defined(__SANITIZE_THREAD__)
#define SIM_ATOMIC_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SIM_ATOMIC_SANITIZED 1
#endif
#endif
#ifndef SIM_ATOMIC_SANITIZED
#define SIM_ATOMIC_SANITIZED 0
#endif

/* The line that called an entry point. */
#define SIM_ATOMIC_CALLER __builtin_return_address(0)

#ifdef SIM_ATOMIC_ALONE

/* All arguments are used, so that their callers have one form. */
#define SIM_ATOMIC_UNUSED(one, other, last) ((void)(one), (void)(other), (void)(last))
#define sim_atomic_simulated() false
#define sim_atomic_begin(order) ((void)(order))
#define sim_atomic_reads(object) ((void)(object))
#define sim_atomic_read(object, value, caller) SIM_ATOMIC_UNUSED(object, value, caller)
#define sim_atomic_wrote(object, value, caller) SIM_ATOMIC_UNUSED(object, value, caller)
#define sim_atomic_changed(object, before, after, caller) SIM_ATOMIC_UNUSED(before, after, caller)
#define sim_atomic_failed(object, value, caller) SIM_ATOMIC_UNUSED(object, value, caller)
#define sim_atomic_plain(address, size, writes, caller) SIM_ATOMIC_UNUSED(address, size, caller)

#else

/* Whether a simulated thread calls. The functions below are for those only. */
static inline bool
sim_atomic_simulated(void)
{
    return sim_thread_now != NULL;
}

/* Other threads may run before the operation. `order` is that of C11 in its lowest byte. */
static inline void
sim_atomic_begin(int order)
{
    (void)order;
    sim_thread_point();
}

void sim__atomic_check_freed(const volatile void *object);

/* What is there is about to be read: ends the run where it was freed. A write there is found when
 * the block is used again, or at the end of the run. */
static inline void
sim_atomic_reads(const volatile void *object)
{
    const struct sim_arena *arena = &sim_thread_now->actor.world->arena;
    if ((uintptr_t)object - (uintptr_t)arena->base < arena->used) {
        sim__atomic_check_freed(object);
    }
}

void sim__atomic_event(
        enum sim_event_kind kind, const volatile void *object, uint64_t value, const void *caller);

static inline void
sim__atomic_record(
        enum sim_event_kind kind, const volatile void *object, uint64_t value, const void *caller)
{
    if (sim_thread_now->actor.world->recorder.events_on) {
        sim__atomic_event(kind, object, value, caller);
    }
}

static inline void
sim_atomic_read(const volatile void *object, uint64_t value, const void *caller)
{
    sim__atomic_record(SIM_EVENT_GET, object, value, caller);
}

/* A store is progress: a thread that only reads, or compares in vain, may be spinning. */
static inline void
sim_atomic_wrote(const volatile void *object, uint64_t value, const void *caller)
{
    sim_world_progress(sim_thread_now->actor.world);
    sim_world_news(sim_thread_now->actor.world);
    sim__atomic_record(SIM_EVENT_SET, object, value, caller);
}

void sim__atomic_changed(
        const volatile void *object, uint64_t before, uint64_t after, const void *caller);

/* Read and written in one operation. One that changes nothing is that of a lock which is taken, and
 * no more than a compare-exchange that failed. */
static inline void
sim_atomic_changed(const volatile void *object, uint64_t before, uint64_t after, const void *caller)
{
    struct sim_world *world = sim_thread_now->actor.world;
    if (before != after) {
        sim_world_progress(world);
        sim_world_news(world);
    } else {
        sim_thread_now->row = SIM_THREAD_ROW;
    }
    if (world->recorder.events_on) {
        sim__atomic_changed(object, before, after, caller);
    }
}

/* A compare-exchange that found something else, most likely in a loop: at its next point the
 * thread gives way, so that the default schedule ends. */
static inline void
sim_atomic_failed(const volatile void *object, uint64_t value, const void *caller)
{
    sim_atomic_read(object, value, caller);
    sim_thread_now->row = SIM_THREAD_ROW;
}

void sim__atomic_plain_point(
        const volatile void *address, size_t size, bool writes, const void *caller);

/* A plain access is about to happen: no decision point, but with -O plain. */
static inline void
sim_atomic_plain(const volatile void *address, size_t size, bool writes, const void *caller)
{
    if (sim_thread_now == NULL) {
        return;
    }
    if (sim_thread_now->actor.world->options.plain != 0) {
        sim__atomic_plain_point(address, size, writes, caller);
    }
    if (!writes) {
        sim_atomic_reads(address);
    }
}

#endif

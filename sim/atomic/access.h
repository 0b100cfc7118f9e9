/*
 * access.h -- what the entry points do besides the operation itself.
 *
 * In the library that a program is linked with (SIM_ATOMIC_ALONE, librewake-tsan) there are no
 * simulated threads: the program runs natively, and each operation is that of the processor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_ATOMIC_ACCESS_H
#define SIM_ATOMIC_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Whether a simulated thread calls. The functions below are for those only. */
static inline bool
sim_atomic_simulated(void)
{
    return false;
}

/* A decision: others may run before the operation. */
static inline void
sim_atomic_begin(int order)
{
    (void)order;
}

/* What happened to `object`: it was read, written, read and written, or compared in vain. */
static inline void
sim_atomic_read(const volatile void *object, uint64_t value, const void *caller)
{
    (void)object;
    (void)value;
    (void)caller;
}

static inline void
sim_atomic_wrote(const volatile void *object, uint64_t value, const void *caller)
{
    sim_atomic_read(object, value, caller);
}

static inline void
sim_atomic_changed(const volatile void *object, uint64_t before, uint64_t after, const void *caller)
{
    sim_atomic_read(object, before, caller);
    sim_atomic_wrote(object, after, caller);
}

static inline void
sim_atomic_failed(const volatile void *object, uint64_t value, const void *caller)
{
    sim_atomic_read(object, value, caller);
}

/* A plain access is about to happen. */
static inline void
sim_atomic_plain(const volatile void *address, size_t size, bool writes, const void *caller)
{
    (void)size;
    (void)writes;
    sim_atomic_read(address, 0, caller);
}

#endif

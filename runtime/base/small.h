/*
 * small.h -- what a build for a small machine leaves out: -DRT_SMALL.
 *
 * Promises and checks are the same. A check that fails traps without a message, every timer wheel
 * has one shape (time/timers.h), counters have 32 bits, and what is inlined for speed is not.
 * `make size` holds the result to its limit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_BASE_SMALL_H
#define RT_BASE_SMALL_H

#include <stdint.h>

#ifdef RT_SMALL
/* Of polls, wakes …; wraps. */
typedef uint32_t rt_count;
#define RT_COUNT_MAX UINT32_MAX
#else
typedef uint64_t rt_count;
#define RT_COUNT_MAX UINT64_MAX
#endif

/* A static function in the path of every poll or wake: inlined, or not where size counts. */
#ifdef RT_SMALL
#define RT_HOT __attribute__((noinline, unused))
/* Prefetches what will soon be written. */
#define RT_PREFETCH(address) ((void)(address))
#else
#define RT_HOT inline
#define RT_PREFETCH(address) __builtin_prefetch((address), 1)
#endif

#endif

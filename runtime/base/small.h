/*
 * small.h -- what a build for a small machine leaves out: -DRT_SMALL.
 *
 * Statements and checks are the same. A check that fails stops the machine without a word, every
 * timer wheel has one shape (time/timers.h), what is only counted is counted in 32 bits, and what
 * is inlined for speed is not.
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

/* A static function in the path of every poll or wake: inlined, or there once where room counts. */
#ifdef RT_SMALL
#define RT_HOT __attribute__((noinline, unused))
/* What will be written to soon, so that it is in the cache by then. */
#define RT_PREFETCH(address) ((void)(address))
#else
#define RT_HOT inline
#define RT_PREFETCH(address) __builtin_prefetch((address), 1)
#endif

#endif

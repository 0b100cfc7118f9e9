/*
 * small.h -- what a build for a small machine leaves out: -DRT_SMALL.
 *
 * Statements and checks are the same. A check that fails stops the machine without a word, every
 * timer wheel has one shape (time/timers.h), and what is only counted is counted in 32 bits.
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

#endif

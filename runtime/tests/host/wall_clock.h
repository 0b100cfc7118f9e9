/*
 * wall_clock.h -- a CLOCK_REALTIME that steps, for the process of a test.
 *
 * The machine's own clock cannot be stepped without harm to others, and no namespace has one. So
 * the test program has its own clock_gettime, which is the system's until it is told to step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_HOST_WALL_CLOCK_H
#define RT_TESTS_HOST_WALL_CLOCK_H

#include <stdint.h>

/* From now on each reading of CLOCK_REALTIME is an hour ahead, or an hour behind, in turn. */
void wall_clock_steps(void);

/* The time of CLOCK_MONOTONIC, as the system says. */
uint64_t wall_clock_monotonic_ns(void);

#endif

/*
 * clock.c -- two calls of the operating system.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/base/clock.h"

#include <time.h>

#include "runtime/base/assert.h"

static struct timespec
ask(clockid_t clock)
{
    struct timespec now = {0, 0};
    int failed = clock_gettime(clock, &now);
    rt_assert(failed == 0);
    return now;
}

uint64_t
sim_clock_ms(void)
{
    struct timespec now = ask(CLOCK_MONOTONIC);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int64_t
sim_clock_date_ms(void)
{
    struct timespec now = ask(CLOCK_REALTIME);
    return (int64_t)now.tv_sec * 1000 + (int64_t)now.tv_nsec / 1000000;
}

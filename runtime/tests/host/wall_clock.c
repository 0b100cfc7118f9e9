/*
 * wall_clock.c -- clock_gettime, in place of the library's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/host/wall_clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_bool steps;
static atomic_uint readings;

int
clock_gettime(clockid_t clock, struct timespec *ret)
{
    int result = (int)syscall(SYS_clock_gettime, clock, ret);
    if (clock == CLOCK_REALTIME && atomic_load(&steps)) {
        ret->tv_sec += atomic_fetch_add(&readings, 1) % 2 == 0 ? 3600 : -3600;
    }
    return result;
}

void
wall_clock_steps(void)
{
    atomic_store(&steps, true);
}

uint64_t
wall_clock_monotonic_ns(void)
{
    struct timespec time = {0, 0};
    (void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/*
 * time_test.c -- clocks, sleeping, and loops that look at a clock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <sched.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "sim/tests/posix/posix_lab.h"

static uint64_t
read_ns(clockid_t clock)
{
    struct timespec now;
    EXPECT_EQ(clock_gettime(clock, &now), 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void
clocks(void)
{
    struct timespec resolution;
    struct timeval day;
    uint64_t before = read_ns(CLOCK_MONOTONIC);
    /* Whatever the machine's clock says. Not 0, which programs take for no time. */
    EXPECT(before - SIM_THREAD_UPTIME_NS < 1000000);
    EXPECT(read_ns(CLOCK_REALTIME) / 1000000000u == 1767225600u);
    EXPECT_EQ(time(NULL), 1767225600);
    EXPECT_EQ(gettimeofday(&day, NULL), 0);
    EXPECT_EQ(day.tv_sec, 1767225600);
    EXPECT_EQ(clock_getres(CLOCK_MONOTONIC_COARSE, &resolution), 0);
    EXPECT_EQ(resolution.tv_nsec, 4000000);
    EXPECT_EQ(usleep(5000), 0);
    EXPECT(read_ns(CLOCK_BOOTTIME) >= before + 5000000);
    EXPECT_EQ(read_ns(CLOCK_MONOTONIC_COARSE) % 4000000, 0);
    EXPECT(read_ns(CLOCK_THREAD_CPUTIME_ID) < 5000000); /* It slept. */
    EXPECT_EQ(clock_gettime(77, &resolution), -1);
    EXPECT_EQ(errno, EINVAL);
}

TEST(posix_clocks_are_the_run_s)
{
    posix_lab_run(clocks, 20, SIM_VERDICT_PASS);
}

static void
sleeps(void)
{
    struct timespec second = {1, 0}, bad = {0, 1000000000};
    uint64_t before = read_ns(CLOCK_MONOTONIC);
    EXPECT_EQ(nanosleep(&second, NULL), 0);
    EXPECT(read_ns(CLOCK_MONOTONIC) >= before + 1000000000u);
    EXPECT_EQ(sleep(1), 0);
    EXPECT(read_ns(CLOCK_MONOTONIC) >= before + 2000000000u);
    struct timespec past = {(time_t)(SIM_THREAD_UPTIME_NS / 1000000000), 0};
    struct timespec later = {past.tv_sec + 4, 0};
    EXPECT_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &past, NULL), 0);
    EXPECT(read_ns(CLOCK_MONOTONIC) < before + 2100000000u);
    EXPECT_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &later, NULL), 0);
    EXPECT(read_ns(CLOCK_MONOTONIC) - SIM_THREAD_UPTIME_NS >= 4000000000u);
    struct timespec until = {1767225605, 0};
    EXPECT_EQ(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL), 0);
    EXPECT(time(NULL) >= 1767225605);
    EXPECT_EQ(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &second, NULL), EINVAL);
    EXPECT_EQ(nanosleep(&bad, NULL), -1);
    EXPECT_EQ(errno, EINVAL);
}

TEST(posix_sleep_takes_its_time)
{
    posix_lab_run(sleeps, 20, SIM_VERDICT_PASS);
}

static void
looks_at_the_clock(void)
{
    uint64_t end = read_ns(CLOCK_MONOTONIC) + 10000000000u;
    uint32_t looks = 0;
    while (read_ns(CLOCK_MONOTONIC) < end) {
        looks++;
    }
    EXPECT(looks > 100);
    EXPECT(looks < 10000);
}

TEST(posix_a_loop_over_the_clock_gets_to_its_time)
{
    posix_lab_run(looks_at_the_clock, 5, SIM_VERDICT_PASS);
}

static int flag;

static void
sets_flag(void)
{
    flag = 1;
}

static void
waits_for_flag(void)
{
    flag = 0;
    struct sim_thread *other = posix_lab_spawn(sets_flag);
    while (*(volatile int *)&flag == 0) {
        EXPECT_EQ(sched_yield(), 0);
    }
    posix_lab_join(other);
}

TEST(posix_yield_lets_others_run)
{
    posix_lab_run(waits_for_flag, 20, SIM_VERDICT_PASS);
}

/*
 * stopwatch.h -- what every benchmark does: measure rounds, print median, smallest and largest.
 *
 *      what is measured, and its unit              median   smallest - largest
 *      self wake to next poll, ns                     7.1        7.0 - 9.3          at most 12
 *
 * A round should take half a millisecond. That is less than a scheduler gives to one process at a
 * time, so most rounds are not interrupted even where others want the same processor, and the
 * median says what the code costs and not what else ran. Figures of longer rounds (a million
 * timers, two threads) come with fewer of them.
 *
 * Included after a definition of _GNU_SOURCE.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_BENCH_STOPWATCH_H
#define RT_TESTS_BENCH_STOPWATCH_H

#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STOPWATCH_ROUNDS 301u

struct stopwatch_figure {
    double median;
    double low;
    double high;
};

/* The real clock, ns. By the system call: bench_timers replaces clock_gettime. */
static inline double
stopwatch_now_ns(void)
{
    struct timespec time;
    (void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Sorts `rounds`. */
static inline struct stopwatch_figure
stopwatch_figure(double *rounds, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        double value = rounds[i];
        uint32_t at = i;
        while (at > 0 && rounds[at - 1] > value) {
            rounds[at] = rounds[at - 1];
            at--;
        }
        rounds[at] = value;
    }
    return (struct stopwatch_figure){rounds[count / 2], rounds[0], rounds[count - 1]};
}

/* The figure of `count` calls of `round`, at most STOPWATCH_ROUNDS, each of which answers what it
 * measured. One more before them warms caches and pages. */
static inline struct stopwatch_figure
stopwatch_measure_few(double (*round)(void *argument), void *argument, uint32_t count)
{
    double rounds[STOPWATCH_ROUNDS];
    (void)round(argument);
    for (uint32_t i = 0; i < count; i++) {
        rounds[i] = round(argument);
    }
    return stopwatch_figure(rounds, count);
}

static inline struct stopwatch_figure
stopwatch_measure(double (*round)(void *argument), void *argument)
{
    return stopwatch_measure_few(round, argument, STOPWATCH_ROUNDS);
}

/* The heading of a table: `about` says what all its figures have in common. */
static inline void
stopwatch_head(const char *about)
{
    (void)printf("\n%s\n  %-56s %9s   %s\n", about, "", "median", "smallest - largest");
}

/* A row, without the end of its line. */
static inline void
stopwatch_row(const char *what, struct stopwatch_figure figure)
{
    (void)printf("  %-56s %9.1f  %9.1f - %-9.1f", what, figure.median, figure.low, figure.high);
}

/* A whole row. `target`: at most so much; 0: there is none. */
static inline void
stopwatch_say(const char *what, struct stopwatch_figure figure, double target)
{
    stopwatch_row(what, figure);
    if (target > 0) {
        (void)printf("  at most %g%s", target, figure.median > target ? ": MISSED" : "");
    }
    (void)printf("\n");
}

#endif

/*
 * stopwatch.h -- what every benchmark does: measure rounds, print median, smallest and largest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_BENCH_STOPWATCH_H
#define RT_TESTS_BENCH_STOPWATCH_H

#include <stdint.h>
#include <time.h>

#define STOPWATCH_ROUNDS 9u

struct stopwatch_figure {
    double median;
    double low;
    double high;
};

/* The real clock, ns. */
static inline double
stopwatch_now_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Sorts `rounds`. */
static inline struct stopwatch_figure
stopwatch_figure(double *rounds, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        double value = rounds[i];
        uint32_t place = i;
        while (place > 0 && rounds[place - 1] > value) {
            rounds[place] = rounds[place - 1];
            place--;
        }
        rounds[place] = value;
    }
    return (struct stopwatch_figure){rounds[count / 2], rounds[0], rounds[count - 1]};
}

/* The figure of STOPWATCH_ROUNDS calls of `round`, each of which answers what it measured. */
static inline struct stopwatch_figure
stopwatch_measure(double (*round)(void *argument), void *argument)
{
    double rounds[STOPWATCH_ROUNDS];
    for (uint32_t i = 0; i < STOPWATCH_ROUNDS; i++) {
        rounds[i] = round(argument);
    }
    return stopwatch_figure(rounds, STOPWATCH_ROUNDS);
}

#endif

/*
 * count.c -- the number of operations that the inputs have begun.
 *
 * With FUZZ_COUNT in the environment it is printed when the process ends, with the processor time
 * used: inputs differ in length, so executions a second mean something only beside operations an
 * input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <time.h>

#include "fuzz/fuzz.h"

uint64_t fuzz_operations;

static void
report(void)
{
    fprintf(stderr, "stat::operations: %llu\n", (unsigned long long)fuzz_operations);
    fprintf(stderr, "stat::processor_ms: %llu\n",
            (unsigned long long)clock() * 1000 / CLOCKS_PER_SEC);
}

__attribute__((constructor)) static void
count(void)
{
    if (getenv("FUZZ_COUNT") != 0) {
        atexit(report);
    }
}

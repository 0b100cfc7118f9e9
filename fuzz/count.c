/*
 * count.c -- how many operations the inputs have begun.
 *
 * With FUZZ_COUNT in the environment it is told when the process ends, and the processor time that
 * went by: an input is worth what it does, so executions a second mean something beside operations
 * an input only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <time.h>

#include "fuzz/fuzz.h"

uint64_t fuzz_operations;

static void
tell(void)
{
    fprintf(stderr, "stat::operations: %llu\n", (unsigned long long)fuzz_operations);
    fprintf(stderr, "stat::processor_ms: %llu\n",
            (unsigned long long)clock() * 1000 / CLOCKS_PER_SEC);
}

__attribute__((constructor)) static void
count(void)
{
    if (getenv("FUZZ_COUNT") != 0) {
        atexit(tell);
    }
}

/*
 * count.c -- how many operations the inputs have begun.
 *
 * With FUZZ_COUNT in the environment it is told when the process ends: an input is worth what it
 * does, so executions a second mean something beside operations an input only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"

uint64_t fuzz_operations;

static void
tell(void)
{
    fprintf(stderr, "stat::operations: %llu\n", (unsigned long long)fuzz_operations);
}

__attribute__((constructor)) static void
count(void)
{
    if (getenv("FUZZ_COUNT") != 0) {
        atexit(tell);
    }
}

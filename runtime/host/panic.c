/*
 * panic.c -- rt_panic and rt_fault in production: one line on stderr, then abort.
 *
 * The simulator and the unit tests use their own pair instead of this file.
 * The line is complete before anything else can go wrong: stderr is not
 * buffered, and abort() runs no exit handler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/assert.h"

void
rt_panic(const char *file, int line, const char *what)
{
    (void)fprintf(stderr, "rewake: panic at %s:%d: %s\n", file, line, what);
    abort();
}

void
rt_fault(rt_err err, const char *who, const char *what)
{
    (void)fprintf(stderr, "rewake: fault %s in %s: %s (%s)\n", rt_err_name(err),
            who != NULL ? who : "an unnamed object", what, rt_err_text(err));
    abort();
}

/*
 * panic.c -- rt_panic and rt_fault for unit tests: caught where a test expects them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/assert.h"
#include "runtime/fiber/context.h"
#include "runtime/tests/test.h"

struct test_trap test_trap;

static void
jump(void *unused)
{
    (void)unused;
    longjmp(test_trap.jump, 1);
}

static _Noreturn void
trap(bool panicked, rt_err err, const char *who, const char *what)
{
    if (!test_trap.armed) {
        (void)fprintf(stderr, "%s: %s: %s: %s\n", panicked ? "panic" : "fault", rt_err_name(err),
                who != NULL ? who : "?", what);
        abort();
    }
    test_trap.armed = false;
    test_trap.panicked = panicked;
    test_trap.err = err;
    (void)snprintf(test_trap.who, sizeof(test_trap.who), "%s", who != NULL ? who : "");
    (void)snprintf(test_trap.what, sizeof(test_trap.what), "%s", what);
    struct rt_context *context = test_trap.context;
    test_trap.context = NULL;
    if (context != NULL) {
        rt_context_abandon(context, jump, NULL);
    }
    longjmp(test_trap.jump, 1);
}

void
rt_panic(const char *file, int line, const char *what)
{
    char where[64];
    (void)snprintf(where, sizeof(where), "%s:%d", file, line);
    trap(true, RT_OK, where, what);
}

void
rt_fault(rt_err err, const char *who, const char *what)
{
    trap(false, err, who, what);
}

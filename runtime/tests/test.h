/*
 * test.h -- the macros in which tests are written; Check is behind them.
 *
 * A test is a claim: `TEST(timer_equal_deadlines_fire_in_start_order)`. Registration
 * is generated from the TEST lines of all files of a folder, sorted by name
 * (scripts/test-main), so a test is named in one place only. Each test runs in a
 * separate process with a time limit. A comment line above it names the
 * statement that it holds: "Holds T5." / "Holds M3, M10."
 *
 * EXPECT_FAULT runs a statement that must end in rt_fault() with that error;
 * EXPECT_PANIC one that must end in rt_panic(). Both are supplied by panic.c here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_TEST_H
#define RT_TESTS_TEST_H

#include <check.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

/*
 * Check writes the place of each assertion that holds to a pipe, for the report of a crash: most of
 * the time of a test that asserts in a loop. A crash is reported at the line of its TEST instead.
 */
#define _mark_point(file, line) ((void)0)

/* Tests in C++ are called from the same main. */
#ifdef __cplusplus
#define TEST__LINKAGE extern "C"
extern "C" {
#else
#define TEST__LINKAGE
#endif

#define TEST(name) \
    TEST__LINKAGE void name(int test__unused); \
    void name(int test__unused __attribute__((unused)))

#define EXPECT(condition) ck_assert_msg((condition), "expected: %s", #condition)
#define EXPECT_EQ(actual, expected) \
    do { \
        long long test__a = (long long)(actual); \
        long long test__e = (long long)(expected); \
        ck_assert_msg(test__a == test__e, "%s is %lld, expected %lld (%s)", #actual, test__a, \
                test__e, #expected); \
    } while (0)
#define EXPECT_STR(actual, expected) ck_assert_str_eq((actual), (expected))

/* What the last rt_fault or rt_panic said, when it was expected. */
struct test_trap {
    jmp_buf jump;
    bool armed;
    bool panicked;
    struct rt_context *context; /* EXPECT_FAULT_ON: whose stack is to be left first. */
    rt_err err;
    char who[64];
    char what[256];
};
extern struct test_trap test_trap;

#define EXPECT_FAULT(error, statement) \
    do { \
        test_trap.armed = true; \
        if (setjmp(test_trap.jump) == 0) { \
            statement; \
            ck_abort_msg("no fault from: %s", #statement); \
        } \
        ck_assert_msg(!test_trap.panicked, "a panic, not a fault: %s", test_trap.what); \
        EXPECT_STR(rt_err_name(test_trap.err), rt_err_name(error)); \
    } while (0)

/* As EXPECT_FAULT, for a fault that is found on the stack of `on`, which is then abandoned. */
#define EXPECT_FAULT_ON(on, error, statement) \
    do { \
        test_trap.context = (on); \
        EXPECT_FAULT(error, statement); \
        EXPECT(test_trap.context == NULL); \
    } while (0)

#define EXPECT_PANIC(statement) \
    do { \
        test_trap.armed = true; \
        if (setjmp(test_trap.jump) == 0) { \
            statement; \
            ck_abort_msg("no panic from: %s", #statement); \
        } \
        ck_assert_msg(test_trap.panicked, "a fault, not a panic: %s", test_trap.what); \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif

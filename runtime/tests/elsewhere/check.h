/*
 * check.h -- as much of Check as the tests need, for systems that have no library of it.
 *
 * Each test runs in a separate process with a time limit; what is printed is TAP. scripts/elsewhere
 * builds with it. Everything is in this header: what runs them is for the one generated main.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_ELSEWHERE_CHECK_H
#define RT_TESTS_ELSEWHERE_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define ck_abort_msg(...) \
    do { \
        printf("# %s:%d: ", __FILE__, __LINE__); \
        printf(__VA_ARGS__); \
        puts(""); \
        fflush(stdout); \
        _Exit(EXIT_FAILURE); \
    } while (0)
#define ck_assert_msg(condition, ...) \
    do { \
        if (!(condition)) \
            ck_abort_msg(__VA_ARGS__); \
    } while (0)
#define ck_assert(condition) ck_assert_msg((condition), "%s", #condition)
#define check__compare(a, how, b) ck_assert_msg((a)how(b), "%s", #a " " #how " " #b)
#define ck_assert_int_eq(a, b) check__compare(a, ==, b)
#define ck_assert_int_ge(a, b) check__compare(a, >=, b)
#define ck_assert_int_gt(a, b) check__compare(a, >, b)
#define ck_assert_uint_le(a, b) check__compare(a, <=, b)
#define ck_assert_uint_lt(a, b) check__compare(a, <, b)
#define ck_assert_ptr_nonnull(a) check__compare(a, !=, NULL)
#define ck_assert_mem_eq(a, b, size) check__compare(memcmp((a), (b), (size)), ==, 0)
#define ck_assert_str_eq(a, b) ck_assert_msg(strcmp((a), (b)) == 0, "\"%s\", not \"%s\"", (a), (b))

#ifndef RT_TESTS_TEST_H /* In the main, and in no test. */
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    const char *name;
    void (*run)(int unused);
    const char *file;
    int line;
} TTest;
typedef struct {
    unsigned timeout_s, tests, failed;
} TCase;
typedef TCase Suite;
typedef TCase SRunner;

/* A test runs when it is added; all are counted in one place. */
#define suite_create(name) (&(TCase){.tests = 0})
#define tcase_create(name) (suite)
#define tcase_set_timeout(group, s) ((group)->timeout_s = (s))
#define suite_add_tcase(suite, group) ((void)(group))
#define srunner_create(suite) (suite)
#define srunner_set_tap(runner, where) ((void)(where))
#define srunner_run_all(runner, how) printf("1..%u\n", (runner)->tests)
#define srunner_ntests_failed(runner) ((int)(runner)->failed)
#define srunner_free(runner) ((void)(runner))

#define tcase_add_test(group, test) check__run((group), (test))
static inline void
check__run(TCase *group, const TTest *test)
{
    int status = 0;
    const char *left_out = getenv("LEFT_OUT");
    if (left_out != NULL && strcmp(test->name, left_out) == 0) {
        return;
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(group->timeout_s);
        test->run(0);
        exit(EXIT_SUCCESS);
    }
    while (child > 0 && waitpid(child, &status, 0) != child) {
        continue;
    }
    group->failed += status != 0;
    printf("%sok %u - %s:%d %s\n", status == 0 ? "" : "not ", ++group->tests, test->file,
            test->line, test->name);
}
#endif

#endif

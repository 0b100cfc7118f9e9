/*
 * atomic_test.c -- the entry points of -fsanitize=thread: results, decision points, events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/atomic/access.h"

#if !SIM_ATOMIC_SANITIZED
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/atomic/entry.h"
#include "sim/core/record/footprint.h"
#include "sim/core/scenario.h"
#include "sim/tests/lab.h"

#define SEQ_CST 5

/* ---- Results. -------------------------------------------------------------------------------- */

/* What all operations of one width returned and left there, as a text. */
struct results {
    char text[4096];
    size_t length;
};

static void
put(struct results *results, sim_tsan_128 value)
{
    results->length += (size_t)snprintf(results->text + results->length,
            sizeof(results->text) - results->length, "%llx %llx\n",
            (unsigned long long)(uint64_t)value, (unsigned long long)(uint64_t)(value >> 64));
}

#define CHECK_CHANGE(bits, name, after) \
    put(results, __tsan_atomic##bits##_##name(&object, operand, SEQ_CST)); \
    put(results, object);
#define CHECK_WIDTH(bits) \
    static void check_##bits(struct results *results) \
    { \
        sim_tsan_##bits operand = (sim_tsan_##bits)0x1122334455667788u; \
        sim_tsan_##bits object = (sim_tsan_##bits) ~operand; \
        SIM_TSAN_CHANGES(CHECK_CHANGE, bits) \
        __tsan_atomic##bits##_store(&object, operand, SEQ_CST); \
        put(results, __tsan_atomic##bits##_load(&object, SEQ_CST)); \
        sim_tsan_##bits expected = 1; \
        put(results, (sim_tsan_128)__tsan_atomic##bits##_compare_exchange_strong( \
                             &object, &expected, 2, SEQ_CST, SEQ_CST)); \
        put(results, expected); \
        put(results, (sim_tsan_128)__tsan_atomic##bits##_compare_exchange_weak( \
                             &object, &expected, 3, SEQ_CST, SEQ_CST)); \
        put(results, __tsan_atomic##bits##_compare_exchange_val(&object, 3, 4, SEQ_CST, SEQ_CST)); \
        put(results, object); \
    }
SIM_TSAN_WIDTHS(CHECK_WIDTH)

#define CALL_WIDTH(bits) check_##bits(results);
static void *
check_all(void *argument)
{
    struct results *results = argument;
    SIM_TSAN_WIDTHS(CALL_WIDTH)
    return NULL;
}

static struct results simulated;

static void
spawn(struct sim_world *world, void *(*fn)(void *), void *argument)
{
    const struct sim_thread_start start = {.fn = fn, .argument = argument};
    (void)sim_thread_spawn(world, &start);
}

static void
setup_results(struct sim_world *world)
{
    simulated.length = 0;
    spawn(world, check_all, &simulated);
}

static const struct sim_scenario results_of_all = {.name = "test/results", .setup = setup_results};

/*
 * Goal: a simulated operation returns and leaves what the processor's does.
 * Method: all operations in all widths, on a simulated thread and on the test's own.
 */
TEST(atomic_results_are_those_of_the_processor)
{
    struct lab lab;
    static struct results native;
    (void)check_all(&native);
    lab_init(&lab, NULL, 0xaa);
    struct sim_outcome outcome = lab_run(&lab, &results_of_all, 1, true);
    ck_assert_int_eq(outcome.verdict, SIM_VERDICT_PASS);
    ck_assert(native.length > 1000);
    ck_assert_str_eq(simulated.text, native.text);
    lab_fini(&lab);
}

/* ---- Events. --------------------------------------------------------------------------------- */

static uint32_t variable;

static void *
use_once(void *argument)
{
    uint32_t expected = 7;
    __tsan_atomic32_store(&variable, 1, SEQ_CST);
    (void)__tsan_atomic32_fetch_add(&variable, 2, SEQ_CST);
    (void)__tsan_atomic32_compare_exchange_strong(&variable, &expected, 9, SEQ_CST, SEQ_CST);
    __tsan_read4(&variable);
    __tsan_write4(&variable);
    return argument;
}

static void
setup_events(struct sim_world *world)
{
    spawn(world, use_once, NULL);
}

static const struct sim_scenario events = {.name = "test/events", .setup = setup_events};

/* The events that have `word` in them, or all. */
static uint32_t
count_of(const char *text, const char *word)
{
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        count++;
    }
    return count;
}

/*
 * Goal: an operation is a step, and its reads and writes are events of one object; a plain access
 * is neither, but with -O plain.
 * Method: a store, an addition, a comparison that fails, a plain read and a plain write.
 */
TEST(atomic_operations_are_steps_and_events)
{
    struct lab lab;
    struct sim_options options;
    lab_init(&lab, NULL, 0xaa);
    (void)lab_run(&lab, &events, 1, true);
    char *text = lab_events(&lab);
    ck_assert_int_eq(count_of(text, " get "), 2);
    ck_assert_int_eq(count_of(text, " set "), 2);
    ck_assert_int_eq(count_of(text, " step "), 4);
    ck_assert_int_eq(count_of(text, " assign "), 0);
    free(text);

    sim_options_init(&options, &events);
    options.plain = 1;
    (void)lab_judge_with(&lab, &events, &options, 1, true);
    text = lab_events(&lab);
    ck_assert_int_eq(count_of(text, " get "), 3);
    ck_assert_int_eq(count_of(text, " assign "), 1);
    ck_assert_int_eq(count_of(text, " step "), 6);
    free(text);
    lab_fini(&lab);
}

/* ---- Spinning. ------------------------------------------------------------------------------- */

static uint32_t turn;

/* Waits by comparing, which fails until the other thread has stored. */
static void *
spin(void *argument)
{
    uint32_t expected = 1;
    while (!__tsan_atomic32_compare_exchange_weak(&turn, &expected, 2, SEQ_CST, SEQ_CST)) {
        expected = 1;
    }
    return argument;
}

static void *
let_spin(void *argument)
{
    __tsan_atomic32_store(&turn, 1, SEQ_CST);
    return argument;
}

static void
setup_spin(struct sim_world *world)
{
    turn = 0;
    spawn(world, spin, NULL);
    spawn(world, let_spin, NULL);
}

static const struct sim_scenario spinning = {.name = "test/spinning", .setup = setup_spin};

/*
 * Goal: a thread that waits by comparing gives way at once, without a decision.
 * Method: the default schedule, in which the thread that waits runs first: few steps.
 */
TEST(atomic_compare_that_fails_gives_way)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xaa);
    struct sim_outcome outcome = lab_run(&lab, &spinning, 1, true);
    ck_assert_int_eq(outcome.verdict, SIM_VERDICT_PASS);
    ck_assert_int_eq(outcome.deviations, 0);
    ck_assert_msg(outcome.steps <= 8, "%llu steps", (unsigned long long)outcome.steps);
    lab_fini(&lab);
}

/* Waits for a lock that is given back by none. */
static void *
spin_forever(void *argument)
{
    while (__tsan_atomic32_exchange(&turn, 1, SEQ_CST) != 0) {
    }
    return argument;
}

static void
setup_spin_forever(struct sim_world *world)
{
    turn = 0;
    spawn(world, spin_forever, NULL);
    spawn(world, spin_forever, NULL);
}

static const struct sim_scenario spinning_forever = {
        .name = "test/spinning-forever", .setup = setup_spin_forever};

/*
 * Goal: an exchange that leaves what is there is no progress.
 * Method: the first thread takes a lock and ends; the second one spins: a livelock, and not the
 * limit on steps.
 */
TEST(atomic_exchange_that_changes_nothing_is_no_progress)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xaa);
    struct sim_outcome outcome = lab_run(&lab, &spinning_forever, 1, true);
    ck_assert_int_eq(outcome.verdict, SIM_VERDICT_LIVELOCK);
    lab_fini(&lab);
}
#endif

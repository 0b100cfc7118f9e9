/*
 * fiber_call_test.c -- a call of a guest: polls, results, host functions, the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "runtime/tests/fiber/fiber_bed.h"

/* ---- A host function that answers when the test says so. ------------------------------------- */

/* On its guest's behalf: how often it was asked, and what it does when it is. */
struct answer {
    unsigned patience; /* How often it says "not yet" first. */
    unsigned asked;
    unsigned finalized;
    enum rt_trap trap; /* To fail with. */
    struct rt_host_call *host;
};

static bool
answer_callback(void *env)
{
    struct answer *answer = env;
    answer->asked++;
    EXPECT_EQ(answer->finalized, 0);
    if (answer->asked <= answer->patience) {
        return false;
    }
    answer->host->results[0] = answer->host->arguments[0] * 2;
    answer->host->trap = answer->trap;
    return true;
}

static void
answer_finalizer(void *env)
{
    struct answer *answer = env;
    answer->finalized++;
}

#define NEVER 1000u

static struct answer answer; /* Of the test that runs; each has a separate process. */

static void
host_double(struct rt_host_call *host)
{
    answer.host = host;
    answer.asked = 0;
    answer.finalized = 0;
    host->continuation = (struct rt_continuation){answer_callback, answer_finalizer, &answer};
}

static void
host_double_now(struct rt_host_call *host)
{
    host->results[0] = host->arguments[0] * 2;
    host->continuation.callback = rt_answered;
}

static void
host_forgetful(struct rt_host_call *host)
{
    host->continuation.finalizer = answer_finalizer;
}

/* Doubles arguments[0] by the host, arguments[1] times. */
static void
doubling_by(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results, rt_host_fn fn)
{
    uint64_t value = arguments[0];
    for (uint64_t i = 0; i < arguments[1]; i++) {
        if (!rt_guest_host(guest, fn, &value, &value)) {
            return;
        }
    }
    results[0] = value;
}

static void
doubling_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    doubling_by(guest, arguments, results, host_double);
}

static void
doubling_now_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    doubling_by(guest, arguments, results, host_double_now);
}

static struct fiber_bed *
doubling_bed(uint64_t value, uint64_t times)
{
    struct fiber_bed *bed = fiber_bed_new();
    answer = (struct answer){.patience = NEVER};
    bed->arguments[0] = value;
    bed->arguments[1] = times;
    return bed;
}

/* ---- Polls and results. ---------------------------------------------------------------------- */

/*
 * Goal: results and trap are written when the call is complete, not before.
 * Method: a guest that waits for the host; at each poll both are what they were. Holds F1, F2.
 */
TEST(call_incomplete_has_written_nothing)
{
    struct fiber_bed *bed = doubling_bed(21, 1);
    fiber_bed_call(bed, doubling_guest);
    for (unsigned i = 1; i <= 5; i++) {
        EXPECT(!rt_call_poll(&bed->call));
        EXPECT_EQ(bed->result, NO_RESULT);
        EXPECT_EQ(bed->trap, NO_TRAP);
        EXPECT(!rt_call_complete(&bed->call));
    }
    answer.patience = 0;
    EXPECT(rt_call_poll(&bed->call));
    EXPECT(rt_call_complete(&bed->call));
    EXPECT_EQ(bed->result, 42);
    EXPECT_EQ(bed->trap, RT_TRAP_NONE);
    rt_call_delete(&bed->call);
    EXPECT_EQ(bed->result, 42);
    fiber_bed_free(&bed);
}

static rt_poll
never_polled(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    return RT_READY;
}

/*
 * Goal: a complete call is not polled again.
 * Method: poll it, and drive it, after its end and after its deletion. Holds F1.
 */
TEST(call_polled_after_its_end_is_a_fault)
{
    struct fiber_bed *bed = doubling_bed(1, 1);
    struct bed executor;
    struct rt_cx cx;
    struct rt_task task;
    bed_init(&executor);
    rt_task_init(&task, never_polled, NULL, "never");
    rt_cx_init(&cx, &executor.executor, &task, rt_waker_noop());
    fiber_bed_call(bed, doubling_now_guest);
    EXPECT(rt_call_poll(&bed->call));
    EXPECT_FAULT(RT_E_FINISHED, (void)rt_call_poll(&bed->call));
    EXPECT_FAULT(RT_E_FINISHED, (void)rt_call_drive(&bed->call, &cx));
    rt_call_delete(&bed->call);
    EXPECT_FAULT(RT_E_STALE, (void)rt_call_poll(&bed->call));
    EXPECT_FAULT(RT_E_STALE, rt_call_delete(&bed->call));
    fiber_bed_free(&bed);
}

static void
polls_itself(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    struct fiber_bed *bed = guest->store->data;
    (void)arguments;
    (void)results;
    (void)rt_call_poll(&bed->call);
}

static void
deletes_itself(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    struct fiber_bed *bed = guest->store->data;
    (void)arguments;
    (void)results;
    rt_call_delete(&bed->call);
}

static void
expect_reentered(rt_guest_fn guest)
{
    struct fiber_bed *bed = fiber_bed_new();
    fiber_bed_call(bed, guest);
    EXPECT_FAULT_ON(&bed->call.guest.fiber.context, RT_E_REENTERED, (void)rt_call_poll(&bed->call));
    free(bed);
}

/*
 * Goal: a call is neither polled nor deleted from inside.
 * Method: guests that do. Holds F13.
 */
TEST(call_used_from_inside_is_a_fault)
{
    expect_reentered(polls_itself);
    expect_reentered(deletes_itself);
}

/*
 * Goal: one live call a store, and what the caller provided is as it was.
 * Method: a second call while one is live, also while that is complete but not deleted; arguments
 * and the words beside the result do not change. Holds F4.
 */
TEST(call_second_of_a_store_is_refused)
{
    struct fiber_bed *bed = doubling_bed(3, 2);
    struct rt_call second;
    struct rt_call_config config = fiber_bed_config(bed, doubling_now_guest);
    fiber_bed_call(bed, doubling_guest);
    EXPECT_EQ(rt_call_init(&second, &bed->store, &config), RT_E_BUSY);
    EXPECT(!rt_call_poll(&bed->call));
    EXPECT_EQ(rt_call_init(&second, &bed->store, &config), RT_E_BUSY);
    answer.patience = 0;
    EXPECT(rt_call_poll(&bed->call));
    EXPECT_EQ(bed->result, 12);
    EXPECT_EQ(rt_call_init(&second, &bed->store, &config), RT_E_BUSY);
    EXPECT_FAULT(RT_E_IN_USE, rt_store_fini(&bed->store));
    EXPECT_EQ(bed->arguments[0], 3);
    EXPECT_EQ(bed->arguments[1], 2);
    rt_call_delete(&bed->call);
    EXPECT_EQ(rt_call_init(&second, &bed->store, &config), RT_OK);
    rt_call_delete(&second);
    fiber_bed_free(&bed);
}

/*
 * Goal: no stack, no call; and a store that was refused is not used up.
 * Method: take all stacks away first; too many results.
 */
TEST(call_without_a_stack_is_refused)
{
    struct fiber_bed *bed = doubling_bed(3, 1);
    struct rt_call_config config = fiber_bed_config(bed, doubling_now_guest);
    memset(bed->stacks.out, 1, sizeof(bed->stacks.out));
    EXPECT_EQ(rt_call_init(&bed->call, &bed->store, &config), RT_E_FULL);
    memset(bed->stacks.out, 0, sizeof(bed->stacks.out));
    config.result_count = RT_CALL_RESULTS_MAX + 1;
    EXPECT_EQ(rt_call_init(&bed->call, &bed->store, &config), RT_E_INVALID);
    fiber_bed_call(bed, doubling_now_guest);
    (void)fiber_bed_finish(bed);
    rt_call_delete(&bed->call);
    fiber_bed_free(&bed);
}

/* ---- Continuations. -------------------------------------------------------------------------- */

/*
 * Goal: a guest in a host function is resumed after a yes and not before; the finalizer comes once.
 * Method: three host calls, each asked five times in vain. Holds F2, F3.
 */
TEST(host_function_is_resumed_after_its_yes)
{
    struct fiber_bed *bed = doubling_bed(5, 3);
    fiber_bed_call(bed, doubling_guest);
    answer.patience = 6;
    EXPECT(!rt_call_poll(&bed->call));
    for (unsigned call = 0; call < 3; call++) {
        EXPECT_EQ(answer.asked, 1); /* At once, on the guest's stack. */
        EXPECT_EQ(answer.finalized, 0);
        for (unsigned i = 0; i < 5; i++) {
            EXPECT(!rt_call_poll(&bed->call));
        }
        EXPECT_EQ(answer.asked, 6);
        EXPECT_EQ(answer.finalized, 0);
        EXPECT_EQ(rt_call_poll(&bed->call), call == 2);
    }
    EXPECT_EQ(answer.finalized, 1);
    EXPECT_EQ(bed->result, 40);
    rt_call_delete(&bed->call);
    EXPECT_EQ(answer.finalized, 1);
    fiber_bed_free(&bed);
}

/*
 * Goal: an answer that is there costs no suspend and no memory.
 * Method: a thousand host calls that are ready: one poll, one resume, one stack. Holds F9.
 */
TEST(host_function_ready_at_once_does_not_suspend)
{
    struct fiber_bed *bed = doubling_bed(0, 1000);
    fiber_bed_call(bed, doubling_now_guest);
    EXPECT_EQ(bed->stacks.allocs, 1);
    EXPECT(rt_call_poll(&bed->call));
    EXPECT_EQ(bed->stacks.allocs, 1);
    rt_call_delete(&bed->call);
    answer.patience = 0;
    bed->arguments[0] = 1;
    bed->arguments[1] = 20;
    fiber_bed_call(bed, doubling_guest);
    EXPECT(rt_call_poll(&bed->call));
    EXPECT_EQ(bed->result, 1 << 20);
    rt_call_delete(&bed->call);
    fiber_bed_free(&bed);
}

static void
forgetful_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    (void)arguments;
    (void)!rt_guest_host(guest, host_forgetful, NULL, results);
}

/*
 * Goal: a host function must name a continuation.
 * Method: one that only sets a finalizer. Holds F3.
 */
TEST(host_function_without_a_callback_is_a_fault)
{
    struct fiber_bed *bed = fiber_bed_new();
    fiber_bed_call(bed, forgetful_guest);
    EXPECT_FAULT_ON(&bed->call.guest.fiber.context, RT_E_INVALID, (void)rt_call_poll(&bed->call));
}

static void
host_unfinalized(struct rt_host_call *host)
{
    host_double(host);
    host->continuation.finalizer = NULL;
}

static void
unfinalized_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    doubling_by(guest, arguments, results, host_unfinalized);
}

/*
 * Goal: a continuation may do without a finalizer.
 * Method: one that is ready, and one that is deleted. Holds F3.
 */
TEST(host_function_without_a_finalizer_is_all_right)
{
    for (unsigned i = 0; i < 2; i++) {
        struct fiber_bed *bed = doubling_bed(2, 1);
        fiber_bed_call(bed, unfinalized_guest);
        EXPECT(!rt_call_poll(&bed->call));
        answer.patience = 0;
        if (i == 0) {
            EXPECT(rt_call_poll(&bed->call));
            EXPECT_EQ(bed->result, 4);
        }
        rt_call_delete(&bed->call);
        fiber_bed_free(&bed);
    }
}

/* ---- Traps. ---------------------------------------------------------------------------------- */

static void
unreachable_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    (void)arguments;
    results[0] = 1;
    rt_guest_trap(guest, RT_TRAP_UNREACHABLE);
    rt_guest_trap(guest, RT_TRAP_HOST);
    EXPECT(!rt_guest_check(guest, 1));
    EXPECT(!rt_guest_host(guest, host_double_now, results, results));
}

/*
 * Goal: a trapped guest is answered no at each call, and its first trap is the one.
 * Method: trap, trap otherwise, check, ask the host; nothing of that counts. Holds F1.
 */
TEST(call_trapped_hears_no_until_it_returns)
{
    struct fiber_bed *bed = fiber_bed_new();
    rt_fuel_set(&bed->store, 100);
    fiber_bed_call(bed, unreachable_guest);
    EXPECT(rt_call_poll(&bed->call));
    EXPECT_EQ(bed->trap, RT_TRAP_UNREACHABLE);
    EXPECT_EQ(bed->result, NO_RESULT);
    EXPECT_EQ(rt_fuel_get(&bed->store), 100);
    rt_call_delete(&bed->call);
    fiber_bed_call(bed, doubling_now_guest);
    EXPECT(rt_call_poll(&bed->call));
    EXPECT_EQ(bed->trap, RT_TRAP_NONE);
    rt_call_delete(&bed->call);
    fiber_bed_free(&bed);
}

/*
 * Goal: what goes wrong in a host function reaches the caller as a trap.
 * Method: one that fails after a suspend, one that fails at once. Holds F10.
 */
TEST(host_function_that_fails_traps_its_guest)
{
    for (unsigned i = 0; i < 2; i++) {
        struct fiber_bed *bed = doubling_bed(2, 3);
        answer.trap = RT_TRAP_HOST;
        answer.patience = i == 0 ? 0 : NEVER;
        fiber_bed_call(bed, doubling_guest);
        if (i == 1) {
            EXPECT(!rt_call_poll(&bed->call));
            answer.patience = 0;
        }
        EXPECT(rt_call_poll(&bed->call));
        EXPECT_EQ(bed->trap, RT_TRAP_HOST);
        EXPECT_EQ(bed->result, NO_RESULT);
        EXPECT_EQ(answer.finalized, 1);
        rt_call_delete(&bed->call);
        fiber_bed_free(&bed);
    }
}

/* ---- The end before the end. ----------------------------------------------------------------- */

static unsigned unwound;

static void
careful_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    uint64_t value = arguments[0];
    bool answered = rt_guest_host(guest, host_double, &value, &value);
    EXPECT(!answered);
    EXPECT_EQ(answer.finalized, 1);
    EXPECT(!rt_guest_check(guest, 1));
    EXPECT(!rt_guest_host(guest, host_double, &value, &value));
    results[0] = value;
    unwound++;
}

/*
 * Goal: a call that is deleted in a host function ends by itself.
 * Method: the finalizer comes first and once; the guest is answered no from then on, returns, its
 * stack goes back. Nothing is written. Holds F3, F12.
 */
TEST(call_deleted_in_a_host_function_unwinds)
{
    struct fiber_bed *bed = doubling_bed(2, 1);
    fiber_bed_call(bed, careful_guest);
    EXPECT(!rt_call_poll(&bed->call));
    rt_call_delete(&bed->call);
    EXPECT_EQ(unwound, 1);
    EXPECT_EQ(answer.finalized, 1);
    EXPECT_EQ(bed->result, NO_RESULT);
    EXPECT_EQ(bed->trap, NO_TRAP);
    fiber_bed_free(&bed);
}

static void
yielding_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    (void)arguments;
    (void)results;
    while (rt_guest_check(guest, 1)) {
    }
    EXPECT(!rt_guest_check(guest, 1));
    unwound++;
}

/*
 * Goal: neither fuel nor epoch keeps a deleted guest.
 * Method: a loop without end, deleted at a yield by fuel, at one by epoch, and before its first
 * poll. Holds F12.
 */
TEST(call_deleted_at_a_yield_unwinds)
{
    struct fiber_bed *bed = fiber_bed_new();
    rt_fuel_yield_interval(&bed->store, 10);
    fiber_bed_call(bed, yielding_guest);
    EXPECT(!rt_call_poll(&bed->call));
    EXPECT(!rt_call_poll(&bed->call));
    rt_call_delete(&bed->call);
    EXPECT_EQ(unwound, 1);
    rt_fuel_yield_interval(&bed->store, 0);
    rt_epoch_yield_every(&bed->store, 1);
    rt_epoch_deadline(&bed->store, 0);
    fiber_bed_call(bed, yielding_guest);
    EXPECT(!rt_call_poll(&bed->call));
    rt_call_delete(&bed->call);
    EXPECT_EQ(unwound, 2);
    fiber_bed_call(bed, yielding_guest);
    rt_call_delete(&bed->call);
    EXPECT_EQ(unwound, 2);
    EXPECT_EQ(bed->stacks.allocs, bed->stacks.frees);
    fiber_bed_free(&bed);
}

/* ---- Guests within guests. ------------------------------------------------------------------- */

struct nest {
    struct fiber_bed *bed;
    struct rt_store store;
    struct rt_call call;
    uint64_t result;
    unsigned polls;
};

static bool
nest_callback(void *env)
{
    struct nest *nest = env;
    nest->polls++;
    return rt_call_poll(&nest->call);
}

static void
nest_finalizer(void *env)
{
    struct nest *nest = env;
    rt_call_delete(&nest->call);
    rt_store_fini(&nest->store);
}

static void
inner_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    for (unsigned i = 0; i < 30; i++) {
        if (!rt_guest_check(guest, 1)) {
            return;
        }
    }
    results[0] = arguments[0] + 1;
}

/* The host function calls another guest, whose store is its own. */
static void
host_calls_guest(struct rt_host_call *host)
{
    static struct nest nest;
    nest.bed = host->guest->store->data;
    rt_store_init(&nest.store, &nest.bed->engine, NULL);
    rt_fuel_yield_interval(&nest.store, 10);
    struct rt_call_config config = {
            .guest = inner_guest,
            .arguments = host->arguments,
            .results = host->results,
            .result_count = 1,
    };
    EXPECT_EQ(rt_call_init(&nest.call, &nest.store, &config), RT_OK);
    host->continuation = (struct rt_continuation){nest_callback, nest_finalizer, &nest};
}

static void
outer_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    (void)!rt_guest_host(guest, host_calls_guest, arguments, results);
}

/*
 * Goal: a host function may run another guest.
 * Method: the inner one yields three times; first it is polled on the outer guest's stack, then
 * from outside. Once more, deleted on the way. Holds F13, F12.
 */
TEST(call_inside_a_host_function_nests)
{
    for (unsigned deleted = 0; deleted < 2; deleted++) {
        struct fiber_bed *bed = fiber_bed_new();
        bed->arguments[0] = 99;
        fiber_bed_call(bed, outer_guest);
        EXPECT(!rt_call_poll(&bed->call));
        EXPECT_EQ(bed->stacks.allocs, 2);
        if (deleted == 0) {
            EXPECT_EQ(fiber_bed_finish(bed), 3);
            EXPECT_EQ(bed->result, 100);
        }
        rt_call_delete(&bed->call);
        EXPECT_EQ(bed->stacks.frees, 2);
        fiber_bed_free(&bed);
    }
}

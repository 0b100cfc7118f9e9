/*
 * bench_fiber.c -- what a guest's call costs, and the founding article's before and after.
 *
 * The article moved guests from separate threads onto the reactor's thread, and its transforms
 * became three times as fast. Here the same guest turns the same records into the same bytes:
 *
 *   before   on a separate thread. For each record its host function hands the request to the
 *            reactor's thread and waits for the answer, both by futex: a round trip.
 *   after    on the reactor. Its host function starts the read and leaves a future in the side
 *            channel; the guest suspends, the reactor runs the read, the guest continues.
 *
 * Neither has a free read: each record costs a request and an answer from the other side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include <linux/futex.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/fiber/call.h"
#include "runtime/fiber/reply.h"
#include "runtime/host/stack_mmap.h"
#include "runtime/task/executor.h"
#include "runtime/tests/bench/stopwatch.h"

#define RECORD_SIZE 256u
#define RECORDS 20000u
#define REPEATS 20000u
#define FEW 9u /* Rounds of two threads, which are long. */

/* ---- An engine on mapped stacks behind a pool, as one would ship it. ------------------------- */

struct engine {
    struct rt_stack_provider system;
    struct rt_stack_pool pool;
    struct rt_stack idle[4];
    struct rt_engine engine;
    struct rt_store store;
};

static void
must(rt_err err)
{
    if (err != RT_OK) {
        abort();
    }
}

static void
engine_init(struct engine *engine, void *data)
{
    rt_stack_mmap_init(&engine->system);
    rt_stack_pool_init(&engine->pool, &engine->system, engine->idle, 4, RT_STACK_SIZE);
    must(rt_stack_pool_fill(&engine->pool, 4));
    struct rt_engine_config config = {.stacks = &engine->pool.provider};
    rt_engine_init(&engine->engine, &config);
    rt_store_init(&engine->store, &engine->engine, data);
}

static void
engine_fini(struct engine *engine)
{
    rt_store_fini(&engine->store);
    rt_engine_fini(&engine->engine);
    rt_stack_pool_fini(&engine->pool);
}

/* ---- What the parts cost. -------------------------------------------------------------------- */

static struct engine parts;
static volatile uint64_t sink;

/* What is called: opaque to the compiler. */
__attribute__((noinline)) static void
plain_host(const uint64_t *arguments, uint64_t *results)
{
    results[0] = arguments[0] + 1;
}

static void
ready_host(struct rt_host_call *host)
{
    plain_host(host->arguments, host->results);
    host->continuation.callback = rt_answered;
}

static double
time_plain(void *argument)
{
    (void)argument;
    uint64_t word = 0;
    double start = stopwatch_now_ns();
    for (uint32_t i = 0; i < REPEATS; i++) {
        plain_host(&word, &word);
        __asm__ volatile("" : : "r"(&word) : "memory");
    }
    sink = word;
    return (stopwatch_now_ns() - start) / REPEATS;
}

/* Measures on its own stack; the result is in thousandths of a nanosecond. */
static void
host_calls_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    uint64_t word = arguments[0];
    double start = stopwatch_now_ns();
    for (uint32_t i = 0; i < REPEATS; i++) {
        if (!rt_guest_host(guest, ready_host, &word, &word)) {
            return;
        }
    }
    results[0] = (uint64_t)((stopwatch_now_ns() - start) * 1000 / REPEATS);
}

static void
checks_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    (void)arguments;
    double start = stopwatch_now_ns();
    for (uint32_t i = 0; i < REPEATS; i++) {
        if (!rt_guest_check(guest, 1)) {
            return;
        }
    }
    results[0] = (uint64_t)((stopwatch_now_ns() - start) * 1000 / REPEATS);
}

static double
time_inside(rt_guest_fn guest)
{
    struct rt_call call;
    uint64_t argument = 0;
    uint64_t result = 0;
    struct rt_call_config config = {
            .guest = guest, .arguments = &argument, .results = &result, .result_count = 1};
    must(rt_call_init(&call, &parts.store, &config));
    if (!rt_call_poll(&call)) {
        abort();
    }
    rt_call_delete(&call);
    return (double)result / 1000;
}

static double
time_host_calls(void *argument)
{
    (void)argument;
    return time_inside(host_calls_guest);
}

static double
time_checks(void *argument)
{
    (void)argument;
    return time_inside(checks_guest);
}

static void
one_host_call_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    (void)!rt_guest_host(guest, ready_host, arguments, results);
}

/* A call from its making to its deletion, with one host function that is ready. */
static double
time_whole_calls(void *argument)
{
    (void)argument;
    struct rt_call call;
    uint64_t word = 0;
    struct rt_call_config config = {
            .guest = one_host_call_guest, .arguments = &word, .results = &word, .result_count = 1};
    double start = stopwatch_now_ns();
    for (uint32_t i = 0; i < REPEATS; i++) {
        must(rt_call_init(&call, &parts.store, &config));
        if (!rt_call_poll(&call)) {
            abort();
        }
        rt_call_delete(&call);
    }
    sink = word;
    return (stopwatch_now_ns() - start) / REPEATS;
}

static void
suspending(void *argument)
{
    struct rt_fiber *fiber = argument;
    while (rt_fiber_suspend(fiber, RT_SUSPEND_USER) == RT_OK) {
    }
}

static double
time_suspends(void *argument)
{
    (void)argument;
    struct rt_stack stack;
    struct rt_fiber fiber;
    must(rt_stack_alloc(&parts.pool.provider, RT_STACK_SIZE, &stack));
    rt_fiber_init(&fiber, &stack, suspending, &fiber);
    double start = stopwatch_now_ns();
    for (uint32_t i = 0; i < REPEATS; i++) {
        (void)rt_fiber_resume(&fiber);
    }
    double each = (stopwatch_now_ns() - start) / REPEATS;
    rt_fiber_drop(&fiber);
    rt_stack_free(&parts.pool.provider, &stack);
    return each;
}

/* ---- The article: the records, and the guest that transforms them. --------------------------- */

struct transform {
    rt_host_fn read;
    unsigned char record[RECORD_SIZE]; /* In the guest's memory: the host writes it there. */
    uint32_t left;                     /* Records that the host still has. */
    uint64_t sum;
};

/* Lower case to upper case; a sum over what has come out. Pays for each 16 bytes. */
static bool
transform_record(struct rt_guest *guest, struct transform *transform)
{
    for (uint32_t i = 0; i < RECORD_SIZE; i++) {
        if (i % 16 == 0 && !rt_guest_check(guest, 16)) {
            return false;
        }
        unsigned char c = transform->record[i];
        c = c >= 'a' && c <= 'z' ? (unsigned char)(c - 32) : c;
        transform->record[i] = c;
        transform->sum = transform->sum * 31 + c;
    }
    return true;
}

static void
transform_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    struct transform *transform = guest->store->data;
    uint64_t more = 0;
    (void)arguments;
    for (;;) {
        if (!rt_guest_host(guest, transform->read, NULL, &more)) {
            return;
        }
        if (more == 0) {
            results[0] = transform->sum;
            return;
        }
        if (!transform_record(guest, transform)) {
            return;
        }
    }
}

/* What the reactor's side does for a request, in both: the next record, or the end. */
static uint64_t
next_record(struct transform *transform)
{
    if (transform->left == 0) {
        return 0;
    }
    memset(transform->record, 'a' + (int)(transform->left-- % 26), RECORD_SIZE);
    return 1;
}

/* ---- Before. --------------------------------------------------------------------------------- */

struct before {
    struct transform transform;
    struct engine engine;
    alignas(64) _Atomic uint32_t requests; /* Counts up; the reactor waits for it to change. */
    alignas(64) _Atomic uint32_t answers;
    _Atomic bool over;
    uint64_t answer;
    uint64_t sum;
};

static void
futex_wait(_Atomic uint32_t *word, uint32_t seen)
{
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void
bump_and_wake(_Atomic uint32_t *word)
{
    atomic_fetch_add(word, 1);
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* alien::submit_to(...).get() */
static void
read_from_the_other_thread(struct rt_host_call *host)
{
    struct before *before = rt_container_of(host->guest->store->data, struct before, transform);
    uint32_t seen = atomic_load(&before->answers);
    bump_and_wake(&before->requests);
    while (atomic_load(&before->answers) == seen) {
        futex_wait(&before->answers, seen);
    }
    host->results[0] = before->answer;
    host->continuation.callback = rt_answered;
}

static void *
guest_thread(void *argument)
{
    struct before *before = argument;
    struct rt_call call;
    struct rt_call_config config = {
            .guest = transform_guest, .results = &before->sum, .result_count = 1};
    must(rt_call_init(&call, &before->engine.store, &config));
    while (!rt_call_poll(&call)) {
    }
    rt_call_delete(&call);
    atomic_store(&before->over, true);
    bump_and_wake(&before->requests);
    return NULL;
}

static void
serve(struct before *before)
{
    uint32_t served = 0;
    while (!atomic_load(&before->over)) {
        if (atomic_load(&before->requests) == served) {
            futex_wait(&before->requests, served);
            continue;
        }
        served++;
        before->answer = next_record(&before->transform);
        bump_and_wake(&before->answers);
    }
}

static uint64_t expected_sum;

static void
check_sum(uint64_t sum)
{
    if (expected_sum != 0 && sum != expected_sum) {
        (void)fprintf(stderr, "before and after have produced different bytes\n");
        abort();
    }
    expected_sum = sum;
}

static double
time_before(void *argument)
{
    (void)argument;
    struct before *before = calloc(1, sizeof(*before));
    pthread_t thread;
    before->transform.read = read_from_the_other_thread;
    before->transform.left = RECORDS;
    engine_init(&before->engine, &before->transform);
    double start = stopwatch_now_ns();
    if (pthread_create(&thread, NULL, guest_thread, before) != 0) {
        abort();
    }
    serve(before);
    (void)pthread_join(thread, NULL);
    double each = (stopwatch_now_ns() - start) / RECORDS;
    check_sum(before->sum);
    engine_fini(&before->engine);
    free(before);
    return each;
}

/* ---- After. ---------------------------------------------------------------------------------- */

struct after {
    struct transform transform;
    struct engine engine;
    struct rt_executor executor;
    struct rt_slab_entry entries[4];
    struct rt_sched_link links[4];
    struct rt_call call;
    struct rt_task driver;
    struct rt_task reader; /* The reactor's own: does what is asked for. */
    struct rt_slot asked;
    struct rt_reply reply;
    bool wanted;
    uint64_t sum;
};

static void
read_on_the_reactor(struct rt_host_call *host)
{
    struct after *after = rt_container_of(host->guest->store->data, struct after, transform);
    rt_reply_begin(&after->reply, host);
    after->wanted = true;
    (void)rt_slot_wake(&after->asked);
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct after *after = rt_container_of(task, struct after, reader);
    if (after->wanted) {
        after->wanted = false;
        uint64_t more = next_record(&after->transform);
        (void)rt_reply_complete(&after->reply, &more, 1);
        if (more == 0) {
            return RT_READY;
        }
    }
    rt_slot_replace(&after->asked, cx, "a request");
    return RT_PENDING;
}

static rt_poll
driver_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct after *after = rt_container_of(task, struct after, driver);
    return rt_call_drive(&after->call, cx);
}

static void
after_init(struct after *after)
{
    after->transform.read = read_on_the_reactor;
    after->transform.left = RECORDS;
    engine_init(&after->engine, &after->transform);
    struct rt_executor_config config = {
            .entries = after->entries, .capacity = 4, .links = after->links};
    rt_executor_init(&after->executor, &config);
    rt_slot_init(&after->asked);
    rt_reply_init(&after->reply, "a record");
    struct rt_call_config call = {
            .guest = transform_guest, .results = &after->sum, .result_count = 1};
    must(rt_call_init(&after->call, &after->engine.store, &call));
    rt_task_init(&after->driver, driver_poll, NULL, "driver");
    rt_task_init(&after->reader, reader_poll, NULL, "reader");
    must(rt_post(&after->executor, &after->reader));
    must(rt_post(&after->executor, &after->driver));
}

static double
time_after(void *argument)
{
    (void)argument;
    struct after *after = calloc(1, sizeof(*after));
    struct rt_run_result result;
    after_init(after);
    double start = stopwatch_now_ns();
    must(rt_run_until_stalled(&after->executor, UINT64_MAX, &result));
    double each = (stopwatch_now_ns() - start) / RECORDS;
    if (result.stall != RT_STALL_COMPLETE) {
        abort();
    }
    check_sum(after->sum);
    rt_call_delete(&after->call);
    rt_executor_fini(&after->executor);
    engine_fini(&after->engine);
    free(after);
    return each;
}

/* ---- Printing it. ---------------------------------------------------------------------------- */

/* Beside a figure its difference to a plain call. */
static void
say_over(const char *what, struct stopwatch_figure figure, double plain, double target)
{
    double over = figure.median - plain;
    stopwatch_row(what, figure);
    (void)printf("  %+.1f over a plain call", over);
    if (target > 0) {
        (void)printf(", at most %g%s", target, over > target ? ": MISSED" : "");
    }
    (void)printf("\n");
}

static void
say_records(const char *what, struct stopwatch_figure figure)
{
    stopwatch_row(what, figure);
    (void)printf("  %.0f records a second\n", 1e9 / figure.median);
}

int
main(void)
{
    engine_init(&parts, NULL);
    stopwatch_head("guests on fibers: production objects; ns");
    struct stopwatch_figure plain = stopwatch_measure(time_plain, NULL);
    stopwatch_say("a plain call", plain, 0);
    say_over("a guest's call of a host function that is ready",
            stopwatch_measure(time_host_calls, NULL), plain.median, 15);
    say_over("a whole guest call with one of these, made to deleted",
            stopwatch_measure(time_whole_calls, NULL), plain.median, 0);
    stopwatch_say("suspend and resume", stopwatch_measure(time_suspends, NULL), 40);
    stopwatch_say("a check of fuel, stack and epoch", stopwatch_measure(time_checks, NULL), 0);
    engine_fini(&parts);
    stopwatch_head("the article's records of 256 bytes; ns each");
    struct stopwatch_figure before = stopwatch_measure_few(time_before, NULL, FEW);
    struct stopwatch_figure after = stopwatch_measure_few(time_after, NULL, FEW);
    say_records("before: a separate thread, a round trip a record", before);
    say_records("after: on the reactor, with the side channel", after);
    (void)printf("  %.1f times as fast; the article measured 3\n", before.median / after.median);
    return 0;
}

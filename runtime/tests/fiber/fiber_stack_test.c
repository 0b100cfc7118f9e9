/*
 * fiber_stack_test.c -- where stacks come from, how they are used again, how deep guests go.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _DEFAULT_SOURCE 1 /* A signal's own stack. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/host/stack_mmap.h"
#include "runtime/tests/fiber/fiber_bed.h"

/* ---- The pool. ------------------------------------------------------------------------------- */

/*
 * Goal: a call allocates nothing once the pool is filled.
 * Method: fill it ahead, then take and give back two stacks a hundred times: the provider below is
 * not called, and the last one given back comes first. Holds F14.
 */
TEST(stack_pool_filled_allocates_nothing)
{
    struct array_stacks *below = malloc(sizeof(*below));
    struct rt_stack idle[3];
    struct rt_stack_pool pool;
    array_init(below);
    rt_stack_pool_init(&pool, &below->provider, idle, 3, FIBER_STACK_SIZE);
    EXPECT_EQ(rt_stack_pool_fill(&pool, 2), RT_OK);
    EXPECT_EQ(below->allocs, 2);
    for (unsigned i = 0; i < 100; i++) {
        struct rt_stack a;
        struct rt_stack b;
        EXPECT_EQ(rt_stack_alloc(&pool.provider, FIBER_STACK_SIZE, &a), RT_OK);
        EXPECT_EQ(rt_stack_alloc(&pool.provider, FIBER_STACK_SIZE, &b), RT_OK);
        EXPECT(a.base != b.base);
        char *last = a.base;
        rt_stack_free(&pool.provider, &b);
        rt_stack_free(&pool.provider, &a);
        EXPECT(a.base == NULL);
        EXPECT_EQ(rt_stack_alloc(&pool.provider, FIBER_STACK_SIZE, &a), RT_OK);
        EXPECT(a.base == last);
        rt_stack_free(&pool.provider, &a);
    }
    EXPECT_EQ(below->allocs, 2);
    EXPECT_EQ(below->frees, 0);
    rt_stack_pool_fini(&pool);
    EXPECT_EQ(below->frees, 2);
    free(below);
}

/*
 * Goal: its capacity is a bound, and what is out is known.
 * Method: take all three, ask for a fourth; end it with one out; ask for another size.
 */
TEST(stack_pool_used_up_is_full)
{
    struct array_stacks *below = malloc(sizeof(*below));
    struct rt_stack idle[3];
    struct rt_stack out[3];
    struct rt_stack more = {NULL, 7};
    struct rt_stack_pool pool;
    array_init(below);
    rt_stack_pool_init(&pool, &below->provider, idle, 3, FIBER_STACK_SIZE);
    for (unsigned i = 0; i < 3; i++) {
        EXPECT_EQ(rt_stack_alloc(&pool.provider, FIBER_STACK_SIZE, &out[i]), RT_OK);
    }
    EXPECT_EQ(rt_stack_alloc(&pool.provider, FIBER_STACK_SIZE, &more), RT_E_FULL);
    EXPECT_EQ(more.size, 7);
    EXPECT_FAULT(RT_E_IN_USE, rt_stack_pool_fini(&pool));
    EXPECT_FAULT(RT_E_INVALID, (void)!rt_stack_alloc(&pool.provider, 4096, &more));
    for (unsigned i = 0; i < 3; i++) {
        rt_stack_free(&pool.provider, &out[i]);
    }
    rt_stack_pool_fini(&pool);
    free(below);
}

/* ---- Guests that go deep. -------------------------------------------------------------------- */

/* Recurses as compiled code would: a check at the head of the function. `volatile`: a frame. */
static uint64_t
descend(struct rt_guest *guest, uint64_t calls)
{
    volatile char frame[256];
    struct fiber_bed *bed = guest->store->data;
    if (!rt_guest_check(guest, 1)) {
        return 0;
    }
    char *here = __builtin_frame_address(0);
    bed->lowest = bed->lowest == NULL || here < bed->lowest ? here : bed->lowest;
    frame[0] = (char)calls;
    uint64_t below = calls > 0 ? descend(guest, calls - 1) : 0;
    return below + 1 + (uint64_t)(frame[0] != (char)calls);
}

static void
deep_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    results[0] = descend(guest, arguments[0]);
}

/*
 * Goal: a guest that recurses too deep is trapped, and nothing is overwritten.
 * Method: a recursion without end. It ends in a trap, all its frames lie above the guest's limit,
 * the host's part of the stack is left as it was, and the same stack serves the next call. Holds
 * F14.
 */
TEST(call_recursing_without_end_is_trapped)
{
    struct fiber_bed *bed = fiber_bed_new();
    char *base = bed->stacks.memory[0];
    size_t guarded = FIBER_STACK_SIZE - FIBER_GUEST_MAX - 4096;
    memset(base, 0x77, guarded);
    bed->arguments[0] = UINT64_MAX;
    fiber_bed_call(bed, deep_guest);
    EXPECT_EQ(fiber_bed_finish(bed), 1);
    EXPECT_EQ(bed->trap, RT_TRAP_STACK_OVERFLOW);
    EXPECT_EQ(bed->result, NO_RESULT);
    EXPECT(bed->lowest > base + FIBER_STACK_SIZE - FIBER_GUEST_MAX);
    EXPECT(bed->lowest < base + FIBER_STACK_SIZE - FIBER_GUEST_MAX / 2);
    for (size_t i = 0; i < guarded; i++) {
        EXPECT_EQ(base[i], 0x77);
    }
    rt_call_delete(&bed->call);
    bed->arguments[0] = 5;
    fiber_bed_call(bed, deep_guest);
    EXPECT_EQ(fiber_bed_finish(bed), 1);
    EXPECT_EQ(bed->trap, RT_TRAP_NONE);
    EXPECT_EQ(bed->result, 6);
    rt_call_delete(&bed->call);
    EXPECT_EQ(bed->stacks.allocs, 2);
    fiber_bed_free(&bed);
}

/*
 * Goal: a guest's part is smaller than the stack.
 * Method: engines that leave the host nothing. Holds F14.
 */
TEST(engine_that_leaves_the_host_no_stack_is_a_fault)
{
    struct array_stacks *stacks = malloc(sizeof(*stacks));
    array_init(stacks);
    struct rt_engine engine;
    struct rt_engine_config config = {&stacks->provider, {65536, 65536}, NULL, NULL};
    EXPECT_FAULT(RT_E_INVALID, rt_engine_init(&engine, &config));
    config.stack.guest_max = 65536 - RT_CONTEXT_STACK_MIN + 1;
    EXPECT_FAULT(RT_E_INVALID, rt_engine_init(&engine, &config));
    config.stack.guest_max -= 1;
    rt_engine_init(&engine, &config);
    rt_engine_fini(&engine);
    config.stack = (struct rt_stack_config){0, 0};
    rt_engine_init(&engine, &config);
    EXPECT_EQ(engine.config.stack.size, 128 * 1024);
    EXPECT_EQ(engine.config.stack.guest_max, 64 * 1024);
    rt_engine_fini(&engine);
    free(stacks);
}

/* ---- The guard page. ------------------------------------------------------------------------- */

/* Host code whose recursion never ends, and is not checked. */
static unsigned
fall(volatile char *above)
{
    volatile char frame[512];
    frame[0] = above[0];
    if (frame[0] == 0) {
        return 0; /* It is 1, but the compiler is not to know. */
    }
    return fall(frame) + (unsigned)frame[0];
}

static void
faller_main(void *argument)
{
    volatile char start = 1;
    (void)argument;
    (void)fall(&start);
}

static char *guarded_base;

static void
on_fault(int number, siginfo_t *info, void *unused)
{
    const char *address = info->si_addr;
    (void)unused;
    _exit(number == SIGSEGV && address >= guarded_base - RT_STACK_GUARD && address < guarded_base
                    ? 42
                    : 1);
}

/*
 * Goal: host code that overruns a stack stops at the guard page.
 * Method: in a separate process, recurse on a mapped stack until a signal comes: its address lies
 * in the page below, and the memory below that is untouched. Holds F14.
 */
TEST(stack_mapped_overrun_stops_at_its_guard_page)
{
    struct rt_stack_provider system;
    struct rt_stack stack;
    rt_stack_mmap_init(&system);
    EXPECT_EQ(rt_stack_alloc(&system, RT_STACK_SIZE, &stack), RT_OK);
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        static char handler_stack[65536];
        struct rt_context context;
        stack_t alternate = {.ss_sp = handler_stack, .ss_size = sizeof(handler_stack)};
        struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        guarded_base = stack.base;
        (void)sigaltstack(&alternate, NULL);
        (void)sigaction(SIGSEGV, &action, NULL);
        rt_context_init(&context, stack.base, stack.size, faller_main, NULL);
        (void)rt_context_resume(&context);
        _exit(2);
    }
    int status = 0;
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 42);
    rt_stack_free(&system, &stack);
}

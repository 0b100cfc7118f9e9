/*
 * fiber.c -- stacks, and switching between them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/world/fiber.h"

#include <sys/mman.h>

#include "runtime/base/assert.h"
#include "sim/world/world.h"
#include "sim/world/world_priv.h"

#if defined(__SANITIZE_ADDRESS__)
#define SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_ASAN 1
#endif
#endif
#ifdef SIM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

/* Boost.Context's assembly, declared as its C++ header does. */
struct transfer {
    void *from;
    void *data;
};
extern struct transfer jump_fcontext(void *to, void *data);
extern void *make_fcontext(void *top, size_t size, void (*fn)(struct transfer));

#define STACK_SIZE ((size_t)256 << 10)
#define GUARD_SIZE ((size_t)4096)

/* Of the process, not of a run: stacks that nobody uses, and all there are. */
#define STACKS_MAX 1024
static struct {
    char *free[STACKS_MAX];
    size_t free_count;
    char *all[STACKS_MAX];
    size_t all_count;
} pool;

static char *
stack_take(struct sim_world *world)
{
    if (pool.free_count > 0) {
        return pool.free[--pool.free_count];
    }
    char *stack = MAP_FAILED;
    if (pool.all_count < STACKS_MAX) {
        stack = mmap(NULL, GUARD_SIZE + STACK_SIZE, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    }
    if (stack == MAP_FAILED || mprotect(stack, GUARD_SIZE, PROT_NONE) != 0) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_LIMIT, world->current, 0,
                "no stack is left for another loop (%d at most)", STACKS_MAX);
    }
    pool.all[pool.all_count++] = stack;
    return stack;
}

bool
sim_fiber_guard(const void *address)
{
    for (size_t i = 0; i < pool.all_count; i++) {
        const char *stack = pool.all[i];
        if ((const char *)address >= stack && (const char *)address < stack + GUARD_SIZE) {
            return true;
        }
    }
    return false;
}

/* ---- The sanitizer wants to know about each switch. ------------------------------------------ */

#ifdef SIM_ASAN
static void
leaving_for(struct sim_fiber *fiber)
{
    __sanitizer_start_switch_fiber(&fiber->back_fake_stack, fiber->stack + GUARD_SIZE, STACK_SIZE);
}
static void
arrived_on(struct sim_fiber *fiber)
{
    __sanitizer_finish_switch_fiber(fiber->fake_stack, &fiber->back_bottom, &fiber->back_size);
}
static void
leaving_from(struct sim_fiber *fiber, bool for_good)
{
    __sanitizer_start_switch_fiber(
            for_good ? NULL : &fiber->fake_stack, fiber->back_bottom, fiber->back_size);
}
static void
back_from(struct sim_fiber *fiber)
{
    __sanitizer_finish_switch_fiber(fiber->back_fake_stack, NULL, NULL);
}
static void
clean(char *stack)
{
    ASAN_UNPOISON_MEMORY_REGION(stack + GUARD_SIZE, STACK_SIZE);
}
#else
#define leaving_for(fiber) ((void)(fiber))
#define arrived_on(fiber) ((void)(fiber))
#define leaving_from(fiber, for_good) ((void)(fiber), (void)(for_good))
#define back_from(fiber) ((void)(fiber))
#define clean(stack) ((void)(stack))
#endif

/* ---- Switching. ------------------------------------------------------------------------------ */

static void
fiber_main(struct transfer transfer)
{
    struct sim_fiber *fiber = transfer.data;
    fiber->back = transfer.from;
    arrived_on(fiber);
    fiber->fn(fiber->argument);
    fiber->finished = true;
    leaving_from(fiber, true);
    (void)jump_fcontext(fiber->back, NULL);
    rt_unreached("a finished fiber is not resumed");
}

void
sim_fiber_init(struct sim_fiber *fiber, struct sim_world *world, void (*fn)(void *argument),
        void *argument)
{
    *fiber = (struct sim_fiber){.fn = fn, .argument = argument};
    fiber->stack = stack_take(world);
    fiber->context = make_fcontext(fiber->stack + GUARD_SIZE + STACK_SIZE, STACK_SIZE, fiber_main);
    fiber->next = world->fibers;
    world->fibers = fiber;
}

void
sim_fiber_resume(struct sim_world *world, struct sim_fiber *fiber)
{
    rt_assert(world->fiber == NULL);
    rt_assert(!fiber->finished);
    world->fiber = fiber;
    leaving_for(fiber);
    struct transfer transfer = jump_fcontext(fiber->context, fiber);
    back_from(fiber);
    fiber->context = transfer.from;
    world->fiber = NULL;
    if (world->outcome.verdict != SIM_VERDICT_PASS) {
        sim__escape(world);
    }
}

void
sim_fiber_suspend(struct sim_world *world)
{
    struct sim_fiber *fiber = world->fiber;
    rt_assert(fiber != NULL);
    leaving_from(fiber, false);
    struct transfer transfer = jump_fcontext(fiber->back, NULL);
    arrived_on(fiber);
    fiber->back = transfer.from;
}

void
sim__escape(struct sim_world *world)
{
    if (world->fiber != NULL) {
        /* The fiber is left standing where it is; nobody comes back to it. */
        sim_fiber_suspend(world);
        rt_unreached("a run that has ended is not gone on with");
    }
    _longjmp(world->escape, 1);
}

void
sim__fibers_drop(struct sim_world *world)
{
    for (struct sim_fiber *fiber = world->fibers; fiber != NULL; fiber = fiber->next) {
        clean(fiber->stack);
        pool.free[pool.free_count++] = fiber->stack;
    }
    world->fibers = NULL;
    world->fiber = NULL;
}

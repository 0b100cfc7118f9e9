/*
 * wasmtime-14250.c -- a guest's thread that switches to itself.
 *
 * bytecodealliance/wasmtime PR #14250 (threads of the component model).
 *
 * The bug. A guest has several threads, each on a fiber, and an intrinsic by which the running
 * thread switches to another, named by a number. The host takes the suspended fiber of that thread
 * out of its table and resumes it. It did not check whether the number is the caller's own: that
 * fiber runs, so its table entry is empty. So a guest crashes its host.
 *
 * The fix. A thread that promotes or resumes itself is refused, which is the guest's trap:
 * thread_switch_to below.
 *
 * Here. Three threads have some pieces of work each and draw the next thread after each piece.
 * Rarely a thread draws itself. A guest that is refused continues without a switch.
 *
 * Cause: not-a-wake in table_take or thread_switch_to
 * Must end in: crash. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "runtime/fiber/fiber.h"
#include "runtime/fiber/store.h"
#include "sim/rewake.h"

#define THREADS 3u
#define PIECES 3u
#define NO_THREAD UINT32_MAX

struct guest;

struct thread {
    struct guest *guest;
    struct rt_stack stack;
    struct rt_fiber fiber;
    uint32_t number;
    uint32_t lots[PIECES]; /* The distance to the next thread. */
    uint32_t pieces;       /* Done. */
};

struct guest {
    bool broken;
    struct sim_world *world;
    struct rt_stack_provider *stacks;
    struct thread threads[THREADS];
    struct rt_fiber *table[THREADS]; /* Suspended fibers; NULL: it runs, or has ended. */
    uint32_t next;
    uint32_t refused;
};

/* ---- The host. ------------------------------------------------------------------------------- */

static struct rt_fiber *
table_take(struct guest *guest, uint32_t number)
{
    struct rt_fiber *fiber = guest->table[number];
    if (fiber == NULL) {
        abort(); /* `take().unwrap()` */
    }
    guest->table[number] = NULL;
    return fiber;
}

/* The intrinsic: suspends `self` and resumes `target`. False: refused. */
static bool
thread_switch_to(struct thread *self, uint32_t target)
{
    struct guest *guest = self->guest;
    if (!guest->broken && target == self->number) {
        return false;
    }
    (void)table_take(guest, target);
    guest->table[self->number] = &self->fiber;
    guest->next = target;
    rt_err err = rt_fiber_suspend(&self->fiber, RT_SUSPEND_USER);
    SIM_ALWAYS(err == RT_OK);
    return true;
}

/* The first thread from `number` on that has not ended; NO_THREAD: all have. */
static uint32_t
first_alive(const struct guest *guest, uint32_t number)
{
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t at = (number + i) % THREADS;
        if (guest->threads[at].pieces < PIECES) {
            return at;
        }
    }
    return NO_THREAD;
}

static void
host_main(struct sim_world *world, void *argument)
{
    struct guest *guest = argument;
    uint32_t number = 0;
    (void)table_take(guest, number);
    while (number != NO_THREAD) {
        struct thread *thread = &guest->threads[number];
        if (rt_fiber_resume(&thread->fiber)) {
            rt_stack_free(guest->stacks, &thread->stack);
            number = first_alive(guest, number);
            if (number != NO_THREAD) {
                (void)table_take(guest, number);
            }
        } else {
            number = guest->next;
        }
        sim_loop_pause(world);
    }
}

/* ---- The guest. ------------------------------------------------------------------------------ */

static void
thread_main(void *argument)
{
    struct thread *self = argument;
    struct guest *guest = self->guest;
    while (self->pieces < PIECES) {
        uint32_t lot = self->lots[self->pieces++];
        sim_work(guest->world, 10 * RT_US);
        uint32_t next = first_alive(guest, self->number + lot);
        bool may_switch =
                self->pieces < PIECES && first_alive(guest, self->number + 1) != self->number;
        if (may_switch && !thread_switch_to(self, next)) {
            guest->refused++;
        }
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
thread_init(struct guest *guest, uint32_t number)
{
    struct thread *thread = &guest->threads[number];
    thread->guest = guest;
    thread->number = number;
    for (uint32_t i = 0; i < PIECES; i++) {
        uint32_t lot = sim_pick(guest->world, 16);
        thread->lots[i] = lot == 15 ? 0 : 1 + lot % (THREADS - 1);
    }
    SIM_ALWAYS(rt_stack_alloc(guest->stacks, RT_STACK_SIZE, &thread->stack) == RT_OK);
    rt_fiber_init(&thread->fiber, &thread->stack, thread_main, thread);
    guest->table[number] = &thread->fiber;
}

static void
begin(struct sim_world *world, bool broken)
{
    struct guest *guest = sim_new(world, struct guest);
    guest->broken = broken;
    guest->world = world;
    guest->stacks = sim_engine_new(world, NULL)->config.stacks;
    for (uint32_t i = 0; i < THREADS; i++) {
        thread_init(guest, i);
    }
    (void)sim_loop_new(world, "host", host_main, guest);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_wasmtime_14250_broken, .name = "zoo/wasmtime-14250/broken", .bug = "J08",
        .reference = "bytecodealliance/wasmtime PR #14250",
        .about = "A guest's thread that switches to itself crashes its host.",
        .setup = setup_broken, .expect = SIM_VERDICT_CRASH);
SIM_SCENARIO(zoo_wasmtime_14250_fixed, .name = "zoo/wasmtime-14250/fixed",
        .about = "A guest's thread that switches to itself is refused.", .setup = setup_fixed);

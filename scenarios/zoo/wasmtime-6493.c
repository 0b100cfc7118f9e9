/*
 * wasmtime-6493.c -- a thread's chain of activations ends up with another guest's call in front.
 *
 * bytecodealliance/wasmtime#6493, #5056. (The issues state the assertion and when it fails; the
 * steps are reconstructed.)
 *
 * The bug. For backtraces and traps a thread has a chain of the guest calls on its stack: a call
 * links itself in at its begin, and removes itself at its end, where it asserts that it is the
 * first. With fibers a call may be suspended in between, and another one begin, on another stack
 * but in the same chain. When the first call ends, the second is the head.
 *
 * The fix. A fiber removes its part of the chain when it is suspended, and restores it when it is
 * resumed: guest_poll below.
 *
 * Here. Two guests of one thread compute; each yields when its fuel is used up. Short guests end
 * without a yield, and a call that begins and ends while another is suspended does no harm.
 *
 * Cause: not-a-wake in call_leave or guest_poll
 * Must end in: crash, by that assertion. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "runtime/fiber/call.h"
#include "sim/rewake.h"

#define PIECES_MAX 40u
#define PIECE 10000 /* Units of fuel: 10 us. */
#define INTERVAL 100000
#define GUESTS 2u

/* One guest call that is on a stack of the thread. */
struct activation {
    struct activation *next;
};

struct thread {
    bool broken;
    struct activation *first;
};

struct guest {
    struct rt_task task;
    struct rt_store store;
    struct rt_call call;
    struct thread *thread;
    struct activation *kept; /* Its part of the chain, while it is suspended. */
    uint64_t pieces;
};

struct state {
    struct thread thread;
    struct guest guests[GUESTS];
};

/* ---- The chain. ------------------------------------------------------------------------------ */

static void
call_enter(struct thread *thread, struct activation *activation)
{
    activation->next = thread->first;
    thread->first = activation;
}

static void
call_leave(struct thread *thread, const struct activation *activation)
{
    if (thread->first != activation) {
        abort(); /* assert!(ptr::eq(head, self)) */
    }
    thread->first = activation->next;
}

/* ---- Guests. --------------------------------------------------------------------------------- */

static void
compute(struct rt_guest *rt_guest, uint64_t pieces)
{
    for (uint64_t i = 0; i < pieces; i++) {
        if (!rt_guest_check(rt_guest, PIECE)) {
            return;
        }
    }
}

static void
computing_guest(struct rt_guest *rt_guest, const uint64_t *arguments, uint64_t *results)
{
    const struct guest *guest = rt_guest->store->data;
    struct activation activation;
    (void)arguments;
    (void)results;
    call_enter(guest->thread, &activation);
    compute(rt_guest, guest->pieces);
    call_leave(guest->thread, &activation);
}

static rt_poll
guest_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct guest *guest = rt_container_of(task, struct guest, task);
    struct thread *thread = guest->thread;
    if (thread->broken) {
        return rt_call_drive(&guest->call, cx);
    }
    struct activation *others = thread->first;
    thread->first = guest->kept;
    rt_poll answer = rt_call_drive(&guest->call, cx);
    guest->kept = thread->first;
    thread->first = others;
    return answer;
}

static void
guest_cleanup(struct rt_task *task)
{
    struct guest *guest = rt_container_of(task, struct guest, task);
    rt_call_delete(&guest->call);
    rt_store_fini(&guest->store);
}

static void
guest_init(struct guest *guest, struct rt_engine *engine, struct thread *thread, const char *name)
{
    struct rt_call_config config = {.guest = computing_guest, .name = name};
    guest->thread = thread;
    rt_store_init(&guest->store, engine, guest);
    rt_fuel_yield_interval(&guest->store, INTERVAL);
    SIM_ALWAYS(rt_call_init(&guest->call, &guest->store, &config) == RT_OK);
    rt_task_init(&guest->task, guest_poll, guest_cleanup, name);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    static const char *const names[GUESTS] = {"first guest", "second guest"};
    struct sim_rt_options options = {.task_quota_ns = RT_TASK_QUOTA_NS};
    struct sim_rt *rt = sim_rt_new(world, &options);
    struct rt_engine *engine = sim_engine_new(world, NULL);
    struct state *state = sim_new(world, struct state);
    state->thread.broken = broken;
    for (uint32_t i = 0; i < GUESTS; i++) {
        struct guest *guest = &state->guests[i];
        guest->pieces = sim_range(world, 0, PIECES_MAX);
        guest_init(guest, engine, &state->thread, names[i]);
        sim_spawn(rt, &guest->task);
    }
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

SIM_SCENARIO(zoo_wasmtime_6493_broken, .name = "zoo/wasmtime-6493/broken", .bug = "J06",
        .reference = "bytecodealliance/wasmtime#6493, #5056",
        .about = "Guests on fibers share the chain of activations of their thread.",
        .setup = setup_broken, .expect = SIM_VERDICT_CRASH);
SIM_SCENARIO(zoo_wasmtime_6493_fixed, .name = "zoo/wasmtime-6493/fixed",
        .about = "A guest on a fiber removes its part of the chain.", .setup = setup_fixed);

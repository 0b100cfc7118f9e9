/*
 * wasmtime-13269.c -- a cancellation resumes a guest that waits, but not one that has yielded.
 *
 * bytecodealliance/wasmtime#13269, fixed by PR #13443. wasmtime runs guests of the component model
 * on fibers.
 *
 * The bug. A guest can be suspended in two ways: it waits for the host, or it yields and will
 * continue by itself. A cancellation searched for waiting fibers and resumed those. One that had
 * yielded, cancellably, was skipped, and the canceller was told that it is still blocked.
 *
 * The fix. The cancellation resumes a fiber in both cases (F12). wasmtime-13269.patch removes that
 * from runtime/fiber/call.c: deleting a call resumes its guest when that is in a host function; at
 * a yield its stack is freed.
 *
 * Here. A guest owns the screen and draws a picture: it reads the sketch from the host, computes
 * for 2 ms, which takes several yields, and releases the screen. A user cancels it at some time,
 * and then waits for the screen. In the read the guest sees the cancellation; at a yield the screen
 * stays owned by a deleted guest.
 *
 * Cause: never-fired in rt_call_delete_at or painting_guest
 * Must end in: deadlock of the user. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/fiber/call.h"
#include "sim/rewake.h"

#define STROKES 200
#define STROKE 10000 /* Units of fuel: 10 us. */
#define INTERVAL 100000

struct state {
    bool taken; /* The screen. */
    struct rt_slot waiter;
    struct rt_task painter;
    struct rt_store store;
    struct rt_call call;
    struct rt_sleep_future read; /* The host's read. */
    struct rt_task user;
    struct rt_sleep pause;
    bool cancelled;
};

static bool
sketch_is_there(void *env)
{
    const struct state *state = env;
    return state->read.future.finished;
}

static void
host_read_sketch(struct rt_host_call *host)
{
    struct state *state = host->guest->store->data;
    rt_sleep_future_init(&state->read, 1 * RT_MS);
    host->continuation = (struct rt_continuation){.callback = sketch_is_there, .env = state};
    rt_store_set_pending(host->guest->store, &state->read.future);
}

static void
paint(struct rt_guest *guest)
{
    if (!rt_guest_host(guest, host_read_sketch, NULL, NULL)) {
        return;
    }
    for (uint32_t i = 0; i < STROKES; i++) {
        if (!rt_guest_check(guest, STROKE)) {
            return;
        }
    }
}

static void
painting_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    struct state *state = guest->store->data;
    (void)arguments;
    (void)results;
    state->taken = true;
    paint(guest);
    state->taken = false;
    (void)rt_slot_wake(&state->waiter);
}

static rt_poll
painter_poll(struct rt_task *task, struct rt_cx *cx)
{
    return rt_call_drive(&rt_container_of(task, struct state, painter)->call, cx);
}

static void
painter_cleanup(struct rt_task *task)
{
    struct state *state = rt_container_of(task, struct state, painter);
    rt_call_delete(&state->call);
    rt_store_fini(&state->store);
}

static rt_poll
user_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, user);
    if (!state->cancelled) {
        RT_AWAIT(rt_sleep_poll(&state->pause, cx));
        state->cancelled = true;
        rt_task_cancel(&state->painter);
    }
    if (state->taken) {
        rt_slot_replace(&state->waiter, cx, "the screen");
        return RT_PENDING;
    }
    SIM_PROGRESS();
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.task_quota_ns = RT_TASK_QUOTA_NS};
    struct sim_rt *rt = sim_rt_new(world, &options);
    struct state *state = sim_new(world, struct state);
    struct rt_call_config config = {.guest = painting_guest, .name = "painter"};
    rt_slot_init(&state->waiter);
    rt_sleep_init(&state->pause, 500 * RT_US + sim_range(world, 0, 3 * RT_MS));
    rt_store_init(&state->store, sim_engine_new(world, NULL), state);
    rt_fuel_yield_interval(&state->store, INTERVAL);
    SIM_ALWAYS(rt_call_init(&state->call, &state->store, &config) == RT_OK);
    rt_task_init(&state->painter, painter_poll, painter_cleanup, "painter");
    rt_task_init(&state->user, user_poll, NULL, "user");
    sim_spawn(rt, &state->painter);
    sim_spawn(rt, &state->user);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_wasmtime_13269_broken, .name = "zoo/wasmtime-13269/broken", .bug = "J02",
        .reference = "bytecodealliance/wasmtime#13269, PR #13443",
        .about = "A cancellation resumes a guest that waits, and not one that has yielded.",
        .setup = setup, .expect = SIM_VERDICT_DEADLOCK);
#else
SIM_SCENARIO(zoo_wasmtime_13269_fixed, .name = "zoo/wasmtime-13269/fixed",
        .about = "A cancellation resumes a guest in both cases.", .setup = setup);
#endif

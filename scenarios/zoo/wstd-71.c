/*
 * wstd-71.c -- block_on has a noop waker, and misses that its future wants another poll.
 *
 * "Designing an Async Runtime for WASI 0.2" (2024-02-29); fixed in its successor by
 * bytecodealliance/wstd#71.
 *
 * The bug. There is no executor: block_on polls its one future with a waker that does nothing, and
 * on PENDING blocks until the reactor reports an event. A future that yields, by waking itself
 * while it is polled, is PENDING and waits for no pollable. The reactor blocks on the other waits,
 * and the wake is lost.
 *
 * The fix. A waker that sets a mark, and no blocking while it is set (B1): block_on below. With it
 * comes a turn that does not block, so that a future which always yields does not keep the host
 * from being polled (B2).
 *
 * Here. (parse, fetch).join() in a race with a signal to end, which never arrives. The parser takes
 * two lines a poll, then yields. While the fetch still has pending events, each report happens to
 * poll the parser as well; if the fetch is done first, the loop blocks on the signal alone, with
 * lines left to parse.
 *
 * Cause: coalesced in parse_poll or block_on or never-stored in block_on
 * Must end in: lost-wakeup of the loop. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define LINES_A_POLL 2
#define PAGE "a page"

struct parse {
    struct rt_future future;
    uint32_t lines; /* Left. */
};

struct fetch {
    struct rt_future future;
    struct rt_input input;
    struct rt_read_to_end read;
    char text[16];
};

struct end {
    struct rt_future future;
    struct rt_pollable pollable;
    struct rt_wait wait;
};

struct state {
    bool broken;
    struct sim_rt *rt;
    struct parse parse;
    struct fetch fetch;
    struct end end;
    struct rt_join join;
    struct rt_child both[2]; /* parse and fetch */
    struct rt_race race;
    struct rt_child either[2]; /* both, and the end */
};

/* ---- A waker that sets a mark. --------------------------------------------------------------- */

static void
mark(struct rt_waker waker, const struct rt_site *await)
{
    (void)await;
    *(bool *)waker.data = true;
}

static void
mark_by_ref(const struct rt_waker *waker, const struct rt_site *await)
{
    mark(*waker, await);
}

static struct rt_waker
mark_clone(const struct rt_waker *waker, const struct rt_site *await)
{
    (void)await;
    return *waker;
}

static void
mark_drop(struct rt_waker waker, const struct rt_site *await)
{
    (void)waker;
    (void)await;
}

static const struct rt_waker_vt mark_vt = {mark_clone, mark, mark_by_ref, mark_drop};

/* ---- block_on. ------------------------------------------------------------------------------- */

static rt_poll
never_polled(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    return rt_cx_park(cx);
}

/* `woken` stays false if the waker does nothing. */
static void
block_on(struct rt_runtime *runtime, struct rt_future *future, bool broken)
{
    bool woken = false;
    struct rt_waker waker =
            broken ? rt_waker_noop() : (struct rt_waker){&mark_vt, (uintptr_t)&woken};
    struct rt_task carrier; /* Never posted: waits are listed in it. */
    rt_poll answer = RT_PENDING;
    rt_task_init(&carrier, never_polled, NULL, "block_on");
    while (answer == RT_PENDING) {
        uint32_t reported = 0;
        struct rt_cx cx;
        woken = false;
        rt_cx_init(&cx, &runtime->executor, &carrier, waker);
        answer = rt_future_poll(future, &cx);
        rt_cx_poison(&cx);
        if (answer == RT_PENDING) {
            enum rt_turn_mode mode = woken ? RT_TURN_POLL : RT_TURN_BLOCK;
            SIM_ALWAYS(rt_reactor_turn(&runtime->reactor, mode, NULL, 0, &reported) == RT_OK);
        }
    }
    rt_task_fini(&carrier);
}

/* ---- The program. ---------------------------------------------------------------------------- */

static rt_poll
parse_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct parse *parse = rt_container_of(future, struct parse, future);
    if (parse->lines <= LINES_A_POLL) {
        return RT_READY;
    }
    parse->lines -= LINES_A_POLL;
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static rt_poll
fetch_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct fetch *fetch = rt_container_of(future, struct fetch, future);
    RT_AWAIT(rt_future_poll(&fetch->read.future, cx));
    SIM_ALWAYS(fetch->read.err == RT_OK);
    SIM_ALWAYS(rt_input_drop(&fetch->input) == RT_OK);
    return RT_READY;
}

static rt_poll
end_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct end *end = rt_container_of(future, struct end, future);
    return rt_wait_for(&end->wait, &end->pollable, cx);
}

static void
end_drop(struct rt_future *future)
{
    struct end *end = rt_container_of(future, struct end, future);
    rt_wait_cancel(&end->wait);
    rt_pollable_drop(&end->pollable);
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    (void)world;
    block_on(sim_rt_runtime(state->rt), &state->race.future, state->broken);
    SIM_ALWAYS(state->race.winner == 0);
}

static void
set_up(struct sim_world *world, bool broken)
{
    struct sim_rt_options options = {.by_loop = true};
    struct state *state = sim_new(world, struct state);
    state->broken = broken;
    state->rt = sim_rt_new(world, &options);
    struct sim_host *host = sim_rt_host(state->rt);
    rt_future_init(&state->parse.future, parse_poll, NULL, "parse");
    state->parse.lines = LINES_A_POLL * (1 + sim_pick(world, 5));
    struct sim_input *page =
            sim_input_new(host, "page", PAGE, sizeof(PAGE) - 1, 3, 1 * RT_MS, 9 * RT_MS);
    rt_future_init(&state->fetch.future, fetch_poll, NULL, "fetch");
    SIM_ALWAYS(rt_input_init(&state->fetch.input, &sim_input_ops, page) == RT_OK);
    rt_read_to_end_init(
            &state->fetch.read, &state->fetch.input, state->fetch.text, sizeof(state->fetch.text));
    struct sim_source *signal = sim_source_new(host, "signal to end");
    rt_future_init(&state->end.future, end_poll, end_drop, "end");
    rt_wait_init(&state->end.wait);
    SIM_ALWAYS(sim_source_subscribe(signal, &state->end.pollable) == RT_OK);
    state->both[0].future = &state->parse.future;
    state->both[1].future = &state->fetch.future;
    rt_join_init(&state->join, state->both, 2);
    state->either[0].future = &state->join.future;
    state->either[1].future = &state->end.future;
    SIM_ALWAYS(rt_race_init(&state->race, state->either, 2) == RT_OK);
    (void)sim_loop_new(world, "block_on", loop_main, state);
}

static void
setup_broken(struct sim_world *world)
{
    set_up(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    set_up(world, false);
}

SIM_SCENARIO(zoo_wstd_71_broken, .name = "zoo/wstd-71/broken", .bug = "D27",
        .reference = "bytecodealliance/wstd#71",
        .about = "block_on with a noop waker blocks on a future that wants another poll.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);

SIM_SCENARIO(zoo_wstd_71_fixed, .name = "zoo/wstd-71/fixed",
        .about = "block_on with a waker that sets a mark polls again while it is set.",
        .setup = setup_fixed);

/*
 * mock_time.c -- a timer under the proposal's mock clock (S4): nothing at 49 ms, the timer at 50.
 *
 * InitializeMockTime, RunUntilStalled, AdvanceMockTime, RunUntilStalled; EarliestTimerExpiry in
 * between, AwakenTimersUpTo as the turn does it, NewEarliestTimer as the proposal's dispatcher
 * would override it, and the dump of blocked tasks and their waits. The test sets the clock to the
 * nanosecond, under every order of the tasks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/rewake.h"

#define NAPS 2

struct napper {
    struct rt_task task;
    struct rt_sleep sleep;
    uint64_t woke_ns;
};

struct state {
    struct sim_rt *rt;
    struct napper nappers[NAPS]; /* Of 50 and 30 ms. */
    uint64_t earliest_ns;        /* The argument of the last NewEarliestTimer, … */
    uint32_t reported;           /* … and the number of its calls. */
    bool completed;
};

static rt_poll
napper_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct napper *napper = rt_container_of(task, struct napper, task);
    RT_AWAIT(rt_sleep_poll(&napper->sleep, cx));
    napper->woke_ns = rt_cx_now(cx);
    return RT_READY;
}

static void
napper_cleanup(struct rt_task *task)
{
    rt_sleep_cancel(&rt_container_of(task, struct napper, task)->sleep);
}

static void
new_earliest_timer(void *argument, uint64_t deadline_ns)
{
    struct state *state = argument;
    state->earliest_ns = deadline_ns;
    state->reported++;
}

/* RunUntilStalled, with the check of the timers that the proposal's dispatcher contains. */
static struct rt_run_result
run_until_stalled(struct state *state)
{
    struct rt_runtime *runtime = sim_rt_runtime(state->rt);
    struct rt_run_result result;
    SIM_ALWAYS(rt_runtime_turn(runtime, RT_TURN_POLL, NULL) == RT_OK);
    SIM_ALWAYS(rt_run_until_stalled(&runtime->executor, RT_COUNT_MAX, &result) == RT_OK);
    return result;
}

static void
expect_report(struct state *state, const char *expected)
{
    char text[128];
    (void)rt_runtime_report(sim_rt_runtime(state->rt), text, sizeof(text));
    SIM_ALWAYS(strcmp(text, expected) == 0);
}

static void
test_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    struct rt_runtime *runtime = sim_rt_runtime(state->rt);
    for (int i = 0; i < NAPS; i++) {
        SIM_ALWAYS(rt_post(&runtime->executor, &state->nappers[i].task) == RT_OK);
    }
    struct rt_run_result result = run_until_stalled(state);
    /* Not "exactly": a task may be polled spuriously. */
    SIM_ALWAYS(result.polled >= NAPS && result.remaining == NAPS);
    SIM_ALWAYS(result.stall == RT_STALL_SLEEPING);
    SIM_ALWAYS(rt_runtime_next_deadline(runtime) == 30 * RT_MS);
    /* Called for the first timer, and for the other if that is earlier. */
    SIM_ALWAYS(state->earliest_ns == 30 * RT_MS && (state->reported == 1 || state->reported == 2));
    expect_report(state, "long nap: sleep\nshort nap: sleep\n");

    SIM_ALWAYS(sim_advance_to_next(world));
    SIM_ALWAYS(sim_now(world) == 30 * RT_MS);
    result = run_until_stalled(state);
    SIM_ALWAYS(result.polled >= 1 && result.remaining == 1);
    SIM_ALWAYS(rt_runtime_next_deadline(runtime) == 50 * RT_MS);
    expect_report(state, "long nap: sleep\n");

    sim_advance(world, 20 * RT_MS - 1);
    result = run_until_stalled(state);
    SIM_ALWAYS(result.remaining == 1 && result.stall == RT_STALL_SLEEPING);
    sim_advance(world, 1);
    result = run_until_stalled(state);
    SIM_ALWAYS(result.polled >= 1 && result.stall == RT_STALL_COMPLETE);
    SIM_ALWAYS(rt_runtime_next_deadline(runtime) == RT_NEVER);
    SIM_ALWAYS(!sim_advance_to_next(world));
    state->completed = true;
}

static void
setup(struct sim_world *world)
{
    struct state *state = sim_new(world, struct state);
    struct sim_rt_options options = {
            .by_loop = true,
            .on_earliest = new_earliest_timer,
            .on_earliest_argument = state,
    };
    sim_mock_time(world);
    state->rt = sim_rt_new(world, &options);
    for (int i = 0; i < NAPS; i++) {
        struct napper *napper = &state->nappers[i];
        rt_sleep_init(&napper->sleep, i == 0 ? 50 * RT_MS : 30 * RT_MS);
        rt_task_init(&napper->task, napper_poll, napper_cleanup, i == 0 ? "long nap" : "short nap");
    }
    (void)sim_loop_new(world, "test", test_main, state);
    sim_set_state(world, state);
}

static void
check(struct sim_world *world, void *argument)
{
    const struct state *state = argument;
    (void)world;
    SIM_ALWAYS(state->completed);
    SIM_ALWAYS(state->nappers[0].woke_ns == 50 * RT_MS);
    SIM_ALWAYS(state->nappers[1].woke_ns == 30 * RT_MS);
}

SIM_SCENARIO(seed4_mock_time, .name = "articles/s4/mock-time",
        .about = "A mock clock: run until stalled, advance, and a timer fires at its nanosecond.",
        .setup = setup, .check = check);

/*
 * mock_time.c -- a timer under the proposal's mock clock (S4): nothing at 49 ms, the timer at 50.
 *
 * InitializeMockTime, RunUntilStalled, AdvanceMockTime, RunUntilStalled; EarliestTimerExpiry in
 * between, AwakenTimersUpTo as the turn does it, NewEarliestTimer as the proposal's dispatcher
 * would override it, and the dump of who waits for what. The test says which nanosecond it is,
 * under every order of the tasks.
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

struct story {
    struct sim_rt *rt;
    struct napper nappers[NAPS]; /* Of 50 and 30 ms. */
    uint64_t earliest_ns;        /* What NewEarliestTimer was told last … */
    uint32_t told;               /* … and how often. */
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
    struct story *story = argument;
    story->earliest_ns = deadline_ns;
    story->told++;
}

/* RunUntilStalled, with the look at the timers that the proposal's dispatcher has inside. */
static struct rt_run_result
run_until_stalled(struct story *story)
{
    struct rt_runtime *runtime = sim_rt_runtime(story->rt);
    struct rt_run_result result;
    SIM_ALWAYS(rt_runtime_turn(runtime, RT_TURN_POLL, NULL) == RT_OK);
    SIM_ALWAYS(rt_run_until_stalled(&runtime->executor, RT_COUNT_MAX, &result) == RT_OK);
    return result;
}

static void
expect_report(struct story *story, const char *expected)
{
    char text[128];
    (void)rt_runtime_report(sim_rt_runtime(story->rt), text, sizeof(text));
    SIM_ALWAYS(strcmp(text, expected) == 0);
}

static void
test_main(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    struct rt_runtime *runtime = sim_rt_runtime(story->rt);
    for (int i = 0; i < NAPS; i++) {
        SIM_ALWAYS(rt_post(&runtime->executor, &story->nappers[i].task) == RT_OK);
    }
    struct rt_run_result result = run_until_stalled(story);
    /* Not "exactly": whoever sleeps may be polled for nothing. */
    SIM_ALWAYS(result.polled >= NAPS && result.remaining == NAPS);
    SIM_ALWAYS(result.stall == RT_STALL_SLEEPING);
    SIM_ALWAYS(rt_runtime_next_deadline(runtime) == 30 * RT_MS);
    /* Told of the first timer, and of the other when that is the earlier one. */
    SIM_ALWAYS(story->earliest_ns == 30 * RT_MS && (story->told == 1 || story->told == 2));
    expect_report(story, "long nap: sleep\nshort nap: sleep\n");

    SIM_ALWAYS(sim_advance_to_next(world));
    SIM_ALWAYS(sim_now(world) == 30 * RT_MS);
    result = run_until_stalled(story);
    SIM_ALWAYS(result.polled >= 1 && result.remaining == 1);
    SIM_ALWAYS(rt_runtime_next_deadline(runtime) == 50 * RT_MS);
    expect_report(story, "long nap: sleep\n");

    sim_advance(world, 20 * RT_MS - 1);
    result = run_until_stalled(story);
    SIM_ALWAYS(result.remaining == 1 && result.stall == RT_STALL_SLEEPING);
    sim_advance(world, 1);
    result = run_until_stalled(story);
    SIM_ALWAYS(result.polled >= 1 && result.stall == RT_STALL_COMPLETE);
    SIM_ALWAYS(rt_runtime_next_deadline(runtime) == RT_NEVER);
    SIM_ALWAYS(!sim_advance_to_next(world));
    story->completed = true;
}

static void
setup(struct sim_world *world)
{
    struct story *story = sim_new(world, struct story);
    struct sim_rt_options options = {
            .by_loop = true,
            .on_earliest = new_earliest_timer,
            .on_earliest_argument = story,
    };
    sim_mock_time(world);
    story->rt = sim_rt_new(world, &options);
    for (int i = 0; i < NAPS; i++) {
        struct napper *napper = &story->nappers[i];
        rt_sleep_init(&napper->sleep, i == 0 ? 50 * RT_MS : 30 * RT_MS);
        rt_task_init(&napper->task, napper_poll, napper_cleanup, i == 0 ? "long nap" : "short nap");
    }
    (void)sim_loop_new(world, "test", test_main, story);
    sim_set_state(world, story);
}

static void
check(struct sim_world *world, void *state)
{
    const struct story *story = state;
    (void)world;
    SIM_ALWAYS(story->completed);
    SIM_ALWAYS(story->nappers[0].woke_ns == 50 * RT_MS);
    SIM_ALWAYS(story->nappers[1].woke_ns == 30 * RT_MS);
}

SIM_SCENARIO(seed4_mock_time, .name = "articles/s4/mock-time",
        .about = "A mock clock: run until stalled, advance, and a timer fires at its nanosecond.",
        .setup = setup, .check = check);

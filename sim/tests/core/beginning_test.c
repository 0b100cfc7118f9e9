/*
 * beginning_test.c -- a run from a copy made after setup equals a run that calls setup.
 *
 * Two worlds of different fill and at different addresses make the same runs side by side, one of
 * them with checkpoints. Digests, outcomes, and the events that a strategy gets compare what setup
 * left in the arena, in the ring, in the table of actors and in the world.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/core/memory/checkpoint.h"
#include "sim/core/record/event.h"
#include "sim/tests/lab.h"

#if defined(__SANITIZE_THREAD__)
#define KEEPS false
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KEEPS false
#endif
#endif
#ifndef KEEPS
#define KEEPS true
#endif

/* ---- Scenarios. ------------------------------------------------------------------------------ */

struct counter {
    struct rt_task task;
    struct sim_world *world;
    struct sim_cell *cell;
    uint32_t left;
    bool spawns;
    struct sim_rt *rt;
};

static void counter_new(struct sim_world *world, struct sim_rt *rt, struct sim_cell *cell,
        uint32_t steps, bool spawns);

static rt_poll
counter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct counter *counter = rt_container_of(task, struct counter, task);
    sim_cell_set(counter->cell, sim_cell_get(counter->cell) + 1);
    if (counter->spawns && counter->left == 2) {
        counter_new(counter->world, counter->rt, counter->cell, 2, false);
    }
    if (--counter->left == 0) {
        return RT_READY;
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
counter_new(struct sim_world *world, struct sim_rt *rt, struct sim_cell *cell, uint32_t steps,
        bool spawns)
{
    struct counter *counter = sim_new(world, struct counter);
    rt_task_init(&counter->task, counter_poll, NULL, "counter");
    counter->world = world;
    counter->cell = cell;
    counter->left = steps;
    counter->spawns = spawns;
    counter->rt = rt;
    sim_spawn(rt, &counter->task);
}

static void
set_up_counters(struct sim_world *world, uint32_t count)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct sim_cell *cell = sim_new(world, struct sim_cell);
    sim_cell_init(world, cell, NULL, 0);
    for (uint32_t i = 0; i < count; i++) {
        counter_new(world, rt, cell, 3, i == 0);
    }
}

static void
few(struct sim_world *world)
{
    set_up_counters(world, 3);
}

/* More events at setup than a chunk has; actors at other addresses. */
static void
many(struct sim_world *world)
{
    (void)sim_alloc(world, 1000);
    for (uint32_t i = 0; i < SIM_CHUNK; i++) {
        sim_log(world, "%u", i);
    }
    set_up_counters(world, 60);
}

/* As many of them as a decision says. */
static void
drawn(struct sim_world *world)
{
    set_up_counters(world, 2 + sim_pick(world, 4));
}

static uint32_t set_up_calls;

static void
counted(struct sim_world *world)
{
    set_up_calls++;
    few(world);
}

static const struct sim_scenario scenario_few = {.name = "test/few", .setup = few};
static const struct sim_scenario scenario_many = {.name = "test/many", .setup = many};
static const struct sim_scenario scenario_drawn = {.name = "test/drawn", .setup = drawn};
static const struct sim_scenario scenario_counted = {.name = "test/counted", .setup = counted};

/* ---- Two worlds. ----------------------------------------------------------------------------- */

struct pair {
    struct lab again;
    struct lab kept;
    struct sim_checkpoints checkpoints;
};

static void
pair_init(struct pair *pair)
{
    lab_init(&pair->again, (void *)(uintptr_t)0x310000000000, 0x5a);
    lab_init(&pair->kept, NULL, 0xa5);
    sim_checkpoints_init(&pair->checkpoints, SIM_CHECKPOINTS_SIZE);
    pair->kept.world.checkpoints = &pair->checkpoints;
}

static void
pair_fini(struct pair *pair)
{
    sim_checkpoints_fini(&pair->checkpoints);
    lab_fini(&pair->again);
    lab_fini(&pair->kept);
}

/* Gets all events, and answers as `random`. */
struct listener {
    struct sim_strategy strategy;
    uint64_t heard;
    uint64_t hash;
};

static void
listener_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct listener *listener = rt_container_of(strategy, struct listener, strategy);
    listener->heard = 0;
    listener->hash = seed;
}

static uint32_t
listener_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    (void)strategy;
    return sim_choose_at_random(choice);
}

static void
listener_events(struct sim_strategy *strategy, const struct sim_event *events, uint32_t count)
{
    struct listener *listener = rt_container_of(strategy, struct listener, strategy);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t word = (uint64_t)events[i].object << 8 | events[i].kind;
        listener->hash = (listener->hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    }
    listener->heard += count;
}

static const struct sim_strategy_ops listener_ops = {
        .begin = listener_begin,
        .choose = listener_choose,
        .events = listener_events,
};

static struct sim_outcome
run(struct lab *lab, const struct sim_scenario *scenario, uint64_t seed, bool events,
        struct listener *ret)
{
    struct sim_options options;
    struct sim_outcome outcome;
    ret->strategy.ops = &listener_ops;
    sim_options_init(&options, scenario);
    sim_world_run(&lab->world, scenario, &options, seed, &ret->strategy,
            (struct sim_recording){events, false}, &outcome);
    return outcome;
}

static void
run_both(struct pair *pair, const struct sim_scenario *scenario, uint64_t seed, bool events)
{
    struct listener one;
    struct listener other;
    struct sim_outcome again = run(&pair->again, scenario, seed, events, &one);
    struct sim_outcome kept = run(&pair->kept, scenario, seed, events, &other);
    EXPECT_EQ(again.digest, kept.digest);
    EXPECT_EQ(again.verdict, kept.verdict);
    EXPECT_EQ(again.steps, kept.steps);
    EXPECT_EQ(again.events, kept.events);
    EXPECT_EQ(again.decisions, kept.decisions);
    EXPECT_EQ(again.seed, kept.seed);
    const struct sim_recorder *ours = &pair->kept.world.recorder;
    EXPECT_EQ(pair->again.world.recorder.hashes, ours->hashes);
    EXPECT(memcmp(pair->again.world.recorder.memory.hashes, ours->memory.hashes,
                   ours->hashes * sizeof(uint64_t)) == 0);
    EXPECT_EQ(one.heard, other.heard);
    EXPECT_EQ(one.hash, other.hash);
}

/* ---- Tests. ---------------------------------------------------------------------------------- */

/* Goal: it is the same run, restored or set up.
 * Method: seeds in a row, with events and without, of a short setup and of one with more events
 * than are hashed at once. A copy without a queue, an event or a hash would differ. */
TEST(runs_from_a_kept_beginning_are_the_runs_with_setup)
{
    static struct pair pair;
    pair_init(&pair);
    const struct sim_scenario *const scenarios[] = {&scenario_few, &scenario_many};
    for (uint32_t i = 0; i < 2; i++) {
        for (uint64_t seed = 1; seed <= 40; seed++) {
            run_both(&pair, scenarios[i], seed, seed % 3 != 0);
        }
    }
    /* The first two of each scenario, with events and without, call setup. */
    EXPECT_EQ(pair.checkpoints.begun, KEEPS ? 2 * (40 - 4) : 0);
    pair_fini(&pair);
}

/* Goal: runs in between do not change a beginning.
 * Method: between two runs with events, runs of others without, which fill the table of actors
 * with theirs, and a judged run of another scenario, which fills the ring. */
TEST(a_kept_beginning_outlives_runs_of_others)
{
    static struct pair pair;
    pair_init(&pair);
    for (uint64_t seed = 1; seed <= 30; seed++) {
        run_both(&pair, &scenario_many, seed, true);
        run_both(&pair, &scenario_few, seed, false);
        if (seed % 5 == 0) {
            (void)lab_judge(&pair.kept, &scenario_drawn, seed, false);
        }
    }
    EXPECT(pair.checkpoints.begun > 40 || !KEEPS);
    pair_fini(&pair);
}

/* Goal: a setup with decisions depends on the seed, and is never copied. */
TEST(a_setup_that_draws_is_called_for_each_seed)
{
    static struct pair pair;
    pair_init(&pair);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        run_both(&pair, &scenario_drawn, seed, true);
    }
    EXPECT_EQ(pair.checkpoints.begun, 0);
    pair_fini(&pair);
}

/* Goal: other options are another setup; and one that is used once is not copied.
 * Method: options change with each run, as those of a swarm. */
TEST(a_beginning_is_of_one_scenario_with_one_set_of_options)
{
    static struct pair pair;
    pair_init(&pair);
    struct sim_options options;
    struct sim_outcome outcome;
    struct listener listener = {.strategy.ops = &listener_ops};
    set_up_calls = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        sim_options_init(&options, &scenario_counted);
        options.step_ns = 100 + seed / 5;
        sim_world_run(&pair.kept.world, &scenario_counted, &options, seed, &listener.strategy,
                (struct sim_recording){true, false}, &outcome);
        EXPECT_EQ(outcome.verdict, SIM_VERDICT_PASS);
    }
    /* Seeds 1 to 4, 5 to 9, and 10. */
    EXPECT_EQ(set_up_calls, KEEPS ? 2 + 2 + 1 : 10);
    pair.checkpoints.sets_up_always = true;
    set_up_calls = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        (void)run(&pair.kept, &scenario_counted, seed, true, &listener);
    }
    EXPECT_EQ(set_up_calls, 10);
    pair_fini(&pair);
}

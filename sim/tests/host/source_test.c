/*
 * source_test.c -- events of a source: when they come, in which order, and what taking means.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/tests/host/host_lab.h"

/* What a sweep has seen. */
static struct {
    uint64_t earliest_ns;
    uint64_t latest_ns;
    uint32_t batches; /* Two events of one source in one step. */
} seen;

static void
seen_clear(void)
{
    memset(&seen, 0, sizeof seen);
    seen.earliest_ns = SIM_NEVER;
}

/* One source, and a loop that asks it after each step of anybody's. */
struct story {
    struct sim_host *host;
    struct sim_source *source;
    uint32_t events;
    uint64_t times_ns[8]; /* When the k-th was there first. */
    uint32_t expected;
};

static struct story *
story_new(struct sim_world *world)
{
    struct story *story = sim_new(world, struct story);
    story->host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    story->source = sim_source_new(story->host, "letters");
    return story;
}

static void
wait_for_events(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    struct rt_host *seam = sim_host_seam(story->host);
    struct rt_pollable pollable;
    struct rt_pollable *list[1] = {&pollable};
    GOES_WELL(sim_source_subscribe(story->source, &pollable));
    while (story->events < story->expected) {
        uint32_t index = 0;
        uint32_t ready = 0;
        GOES_WELL(seam->ops->poll(seam, list, 1, &index, &ready));
        while (sim_source_take(story->source) == RT_OK) {
            story->times_ns[story->events++] = sim_now(world);
        }
    }
    rt_pollable_drop(&pollable);
}

/* ---- Latency. -------------------------------------------------------------------------------- */

static void
latency_setup(struct sim_world *world)
{
    struct story *story = story_new(world);
    story->expected = 1;
    sim_source_event_in(story->source, 2 * MS, 7 * MS);
    sim_set_state(world, story);
    (void)sim_loop_new(world, "reader", wait_for_events, story);
}

static void
latency_check(struct sim_world *world, void *state)
{
    (void)world;
    const struct story *story = state;
    uint64_t at_ns = story->times_ns[0];
    seen.earliest_ns = at_ns < seen.earliest_ns ? at_ns : seen.earliest_ns;
    seen.latest_ns = at_ns > seen.latest_ns ? at_ns : seen.latest_ns;
}

static const struct sim_scenario latency = {.name = "test/latency",
        .about = "One event.",
        .setup = latency_setup,
        .check = latency_check};

/* No slow steps: what is measured is the host's own time. */
static void
run_unstretched(const struct sim_scenario *scenario, uint64_t seeds, bool plain)
{
    struct lab lab;
    struct sim_options options;
    lab_init(&lab, NULL, 0xa5);
    sim_options_init(&options, scenario);
    options.slow_one_in = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        EXPECT_STR(host_lab_run(&lab, scenario, &options, seed, plain).message, "");
    }
    lab_fini(&lab);
}

/* What reading an event costs in steps, at most. */
#define READING_NS 2000u

TEST(event_comes_within_its_latency_and_dully_at_once)
{
    seen_clear();
    run_unstretched(&latency, 1, true);
    EXPECT(seen.earliest_ns >= 2 * MS);
    EXPECT(seen.latest_ns <= 2 * MS + READING_NS);
    seen_clear();
    run_unstretched(&latency, 100, false);
    EXPECT(seen.earliest_ns >= 2 * MS);
    EXPECT(seen.latest_ns >= 7 * MS);
    EXPECT(seen.latest_ns <= 7 * MS + READING_NS);
}

TEST(event_under_hostile_comes_late_by_ten_milliseconds_at_most)
{
    struct sim_scenario scenario = latency;
    scenario.profile = SIM_PROFILE_HOSTILE;
    seen_clear();
    run_unstretched(&scenario, 300, false);
    EXPECT(seen.earliest_ns >= 2 * MS);
    EXPECT(seen.latest_ns > 7 * MS + READING_NS);
    EXPECT(seen.latest_ns <= 17 * MS + READING_NS);
}

/* ---- Order. ---------------------------------------------------------------------------------- */

static void
order_setup(struct sim_world *world)
{
    struct story *story = story_new(world);
    story->expected = 3;
    sim_source_event_in(story->source, 5 * MS, 8 * MS);
    sim_source_event_in(story->source, 1 * MS, 1 * MS);
    sim_source_event_in(story->source, 9 * MS, 9 * MS);
    sim_set_state(world, story);
    (void)sim_loop_new(world, "reader", wait_for_events, story);
}

static void
order_check(struct sim_world *world, void *state)
{
    (void)world;
    const struct story *story = state;
    EXPECT_EQ(story->events, 3);
    EXPECT(story->times_ns[0] >= 5 * MS);
    EXPECT(story->times_ns[1] >= story->times_ns[0]);
    EXPECT(story->times_ns[2] >= 9 * MS);
}

static const struct sim_scenario ordered = {.name = "test/order",
        .about = "The second event has a shorter latency than the first.",
        .setup = order_setup,
        .check = order_check};

TEST(event_never_overtakes_an_earlier_one_of_its_source)
{
    struct sim_scenario scenario = ordered;
    host_lab_pass(&scenario, 50);
    scenario.profile = SIM_PROFILE_HOSTILE;
    host_lab_pass(&scenario, 50);
}

/* The most READY events in one step of the last run. */
static uint32_t
most_in_a_step(const struct lab *lab)
{
    const struct sim_recorder *recorder = &lab->world.recorder;
    uint32_t most = 0;
    uint32_t here = 0;
    for (uint64_t i = sim_recorder_first(recorder); i < recorder->count; i++) {
        const struct sim_event *event = sim_recorder_event(recorder, i);
        here = event->kind == SIM_EVENT_STEP ? 0 : here + (event->kind == SIM_EVENT_READY);
        most = here > most ? here : most;
    }
    return most;
}

TEST(events_come_in_batches_under_hostile_and_one_a_step_else)
{
    struct sim_scenario scenario = ordered;
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    for (uint64_t seed = 1; seed <= 30; seed++) {
        (void)lab_run(&lab, &scenario, seed, false);
        EXPECT_EQ(most_in_a_step(&lab), 1);
    }
    scenario.profile = SIM_PROFILE_HOSTILE;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        (void)lab_run(&lab, &scenario, seed, false);
        seen.batches += most_in_a_step(&lab) > 1;
    }
    EXPECT(seen.batches > 0);
    lab_fini(&lab);
}

/* ---- On its way it is nowhere. --------------------------------------------------------------- */

static void
watch_it_come(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    struct rt_pollable pollable;
    GOES_WELL(sim_source_subscribe(story->source, &pollable));
    sim_source_event_in(story->source, MS, MS);
    while (sim_source_events(story->source) == 0) {
        EXPECT(!rt_pollable_ready(&pollable));
        REFUSES(sim_source_take(story->source), RT_E_AGAIN);
        sim_work(world, MS / 8);
        SIM_PROGRESS();
        sim_loop_pause(world);
    }
    EXPECT(sim_now(world) >= MS);
    EXPECT(rt_pollable_ready(&pollable));
    rt_pollable_drop(&pollable);
}

static void
watch_setup(struct sim_world *world)
{
    struct story *story = story_new(world);
    sim_host_undivided(story->host); /* What several calls in a row say is compared. */
    (void)sim_loop_new(world, "watcher", watch_it_come, story);
}

/* Goal: a decision of the host is never blamed on the runtime.
 * Method: while an event is due but its source has not been picked, the loop asks in every way
 * there is. */
TEST(event_on_its_way_is_seen_by_nobody)
{
    struct sim_scenario scenario = {
            .name = "test/watch", .about = "Watches an event come.", .setup = watch_setup};
    host_lab_pass(&scenario, 50);
    scenario.profile = SIM_PROFILE_HOSTILE;
    host_lab_pass(&scenario, 50);
}

/* ---- Taking. --------------------------------------------------------------------------------- */

static void
take_setup(struct sim_world *world)
{
    struct story *story = story_new(world);
    REFUSES(sim_source_take(story->source), RT_E_AGAIN);
    sim_source_event(story->source);
    sim_source_event(story->source);
    EXPECT_EQ(sim_source_events(story->source), 2);
    GOES_WELL(sim_source_take(story->source));
    GOES_WELL(sim_source_take(story->source));
    REFUSES(sim_source_take(story->source), RT_E_AGAIN);
    REFUSES(sim_source_take(story->source), RT_E_AGAIN);
    EXPECT_EQ(SIM_OBJECT_KIND(sim_source_object(story->source)), RT_OBJECT_SOURCE);
    world->over = true; /* The story is told. */
}

/* Goal: the judge sees a move in CONSUME, so "not yet" must not say it. */
TEST(take_consumes_one_event_and_again_consumes_nothing)
{
    static const struct sim_scenario scenario = {
            .name = "test/take", .about = "Takes two events.", .setup = take_setup};
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    EXPECT_STR(lab_run(&lab, &scenario, 1, true).message, "");
    EXPECT_EQ(host_lab_count(&lab, RT_PROBE_CONSUME, 0), 2);
    EXPECT_EQ(host_lab_count(&lab, SIM_EVENT_READY, 0), 2);
    EXPECT_EQ(host_lab_count(&lab, SIM_EVENT_UNREADY, 0), 1);
    lab_fini(&lab);
}

/* ---- Dropping. ------------------------------------------------------------------------------- */

static void
drop_and_wait(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    sim_source_event_in(story->source, MS, MS);
    sim_source_event_in(story->source, 2 * MS, 2 * MS);
    GOES_WELL(sim_source_drop(story->source));
    sim_sleep(world, 5 * MS);
    EXPECT_EQ(sim_source_events(story->source), 0);
}

static void
drop_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "dropper", drop_and_wait, story_new(world));
}

TEST(dropped_source_receives_nothing_any_more)
{
    static const struct sim_scenario scenario = {
            .name = "test/drop", .about = "Drops a source.", .setup = drop_setup};
    host_lab_pass(&scenario, 20);
}

static void
use_dropped(struct sim_world *world, void *argument)
{
    (void)world;
    struct story *story = argument;
    GOES_WELL(sim_source_drop(story->source));
    REFUSES(sim_source_take(story->source), RT_E_AGAIN); /* Never gets so far. */
}

static void
use_dropped_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "user", use_dropped, story_new(world));
}

TEST(use_of_a_dropped_source_is_a_broken_contract)
{
    static const struct sim_scenario scenario = {
            .name = "test/use", .about = "Uses what is dropped.", .setup = use_dropped_setup};
    host_lab_expect(&scenario, 3, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST);
}

/* ---- Fault: the clock steps. ----------------------------------------------------------------- */

static void
suspend_setup(struct sim_world *world)
{
    struct story *story = story_new(world);
    story->expected = 6;
    for (uint32_t i = 0; i < story->expected; i++) {
        sim_source_event_in(story->source, 100, 100);
    }
    sim_set_state(world, story);
    (void)sim_loop_new(world, "reader", wait_for_events, story);
}

static void
suspend_check(struct sim_world *world, void *state)
{
    (void)state;
    uint64_t now_ns = sim_now(world);
    seen.latest_ns = now_ns > seen.latest_ns ? now_ns : seen.latest_ns;
}

TEST(clock_jumps_ahead_only_under_fault_clock)
{
    struct sim_scenario scenario = {.name = "test/suspend",
            .about = "Six events, at once.",
            .setup = suspend_setup,
            .check = suspend_check};
    seen_clear();
    run_unstretched(&scenario, 30, false);
    EXPECT(seen.latest_ns < MS);
    scenario.survives = SIM_FAULT_CLOCK;
    run_unstretched(&scenario, 30, false);
    EXPECT(seen.latest_ns >= MS);
}

/*
 * source_test.c -- events of a source: time and order of arrival, and taking them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/tests/host/host_lab.h"

/* Counts over a sweep. */
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

/* One source, and a loop that checks it after each step of any actor. */
struct fixture {
    struct sim_host *host;
    struct sim_source *source;
    uint32_t events;
    uint64_t times_ns[8]; /* When the k-th event was first seen. */
    uint32_t expected;
};

static struct fixture *
fixture_new(struct sim_world *world)
{
    struct fixture *fixture = sim_new(world, struct fixture);
    fixture->host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    fixture->source = sim_source_new(fixture->host, "letters");
    return fixture;
}

static void
wait_for_events(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    struct rt_host *seam = sim_host_seam(fixture->host);
    struct rt_pollable pollable;
    struct rt_pollable *list[1] = {&pollable};
    EXPECT_OK(sim_source_subscribe(fixture->source, &pollable));
    while (fixture->events < fixture->expected) {
        uint32_t index = 0;
        uint32_t ready = 0;
        EXPECT_OK(seam->ops->poll(seam, list, 1, &index, &ready));
        while (sim_source_take(fixture->source) == RT_OK) {
            fixture->times_ns[fixture->events++] = sim_now(world);
        }
    }
    rt_pollable_drop(&pollable);
}

/* ---- Latency. -------------------------------------------------------------------------------- */

static void
latency_setup(struct sim_world *world)
{
    struct fixture *fixture = fixture_new(world);
    fixture->expected = 1;
    sim_source_event_in(fixture->source, 2 * MS, 7 * MS);
    sim_set_state(world, fixture);
    (void)sim_loop_new(world, "reader", wait_for_events, fixture);
}

static void
latency_check(struct sim_world *world, void *state)
{
    (void)world;
    const struct fixture *fixture = state;
    uint64_t at_ns = fixture->times_ns[0];
    seen.earliest_ns = at_ns < seen.earliest_ns ? at_ns : seen.earliest_ns;
    seen.latest_ns = at_ns > seen.latest_ns ? at_ns : seen.latest_ns;
}

static const struct sim_scenario latency = {.name = "test/latency",
        .about = "One event.",
        .setup = latency_setup,
        .check = latency_check};

/* No slow steps: only the host's time is measured. */
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

TEST(event_arrives_within_its_latency_and_at_the_minimum_by_default)
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

TEST(event_under_hostile_is_late_by_ten_milliseconds_at_most)
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
    struct fixture *fixture = fixture_new(world);
    fixture->expected = 3;
    sim_source_event_in(fixture->source, 5 * MS, 8 * MS);
    sim_source_event_in(fixture->source, 1 * MS, 1 * MS);
    sim_source_event_in(fixture->source, 9 * MS, 9 * MS);
    sim_set_state(world, fixture);
    (void)sim_loop_new(world, "reader", wait_for_events, fixture);
}

static void
order_check(struct sim_world *world, void *state)
{
    (void)world;
    const struct fixture *fixture = state;
    EXPECT_EQ(fixture->events, 3);
    EXPECT(fixture->times_ns[0] >= 5 * MS);
    EXPECT(fixture->times_ns[1] >= fixture->times_ns[0]);
    EXPECT(fixture->times_ns[2] >= 9 * MS);
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

TEST(events_arrive_in_batches_under_hostile_and_one_a_step_else)
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

/* ---- In flight it is not visible. ------------------------------------------------------------ */

static void
watch_it_come(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    struct rt_pollable pollable;
    EXPECT_OK(sim_source_subscribe(fixture->source, &pollable));
    sim_source_event_in(fixture->source, MS, MS);
    while (sim_source_events(fixture->source) == 0) {
        EXPECT(!rt_pollable_ready(&pollable));
        REFUSES(sim_source_take(fixture->source), RT_E_AGAIN);
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
    struct fixture *fixture = fixture_new(world);
    sim_host_undivided(fixture->host); /* The results of several calls in a row are compared. */
    (void)sim_loop_new(world, "watcher", watch_it_come, fixture);
}

/* Goal: the runtime is not held responsible for decisions of the host.
 * Method: while an event is due but its source has not been picked, the loop checks in every way.
 */
TEST(event_in_flight_is_not_visible)
{
    struct sim_scenario scenario = {
            .name = "test/watch", .about = "Watches an event arrive.", .setup = watch_setup};
    host_lab_pass(&scenario, 50);
    scenario.profile = SIM_PROFILE_HOSTILE;
    host_lab_pass(&scenario, 50);
}

/* ---- Taking. --------------------------------------------------------------------------------- */

static void
take_setup(struct sim_world *world)
{
    struct fixture *fixture = fixture_new(world);
    REFUSES(sim_source_take(fixture->source), RT_E_AGAIN);
    sim_source_event(fixture->source);
    sim_source_event(fixture->source);
    EXPECT_EQ(sim_source_events(fixture->source), 2);
    EXPECT_OK(sim_source_take(fixture->source));
    EXPECT_OK(sim_source_take(fixture->source));
    REFUSES(sim_source_take(fixture->source), RT_E_AGAIN);
    REFUSES(sim_source_take(fixture->source), RT_E_AGAIN);
    EXPECT_EQ(SIM_OBJECT_KIND(sim_source_object(fixture->source)), RT_OBJECT_SOURCE);
    world->over = true;
}

/* Goal: CONSUME is progress for the judge, so RT_E_AGAIN must not record it. */
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
    struct fixture *fixture = argument;
    sim_source_event_in(fixture->source, MS, MS);
    sim_source_event_in(fixture->source, 2 * MS, 2 * MS);
    EXPECT_OK(sim_source_drop(fixture->source));
    sim_sleep(world, 5 * MS);
    EXPECT_EQ(sim_source_events(fixture->source), 0);
}

static void
drop_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "dropper", drop_and_wait, fixture_new(world));
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
    struct fixture *fixture = argument;
    EXPECT_OK(sim_source_drop(fixture->source));
    REFUSES(sim_source_take(fixture->source), RT_E_AGAIN); /* Not reached. */
}

static void
use_dropped_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "user", use_dropped, fixture_new(world));
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
    struct fixture *fixture = fixture_new(world);
    fixture->expected = 6;
    for (uint32_t i = 0; i < fixture->expected; i++) {
        sim_source_event_in(fixture->source, 100, 100);
    }
    sim_set_state(world, fixture);
    (void)sim_loop_new(world, "reader", wait_for_events, fixture);
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

/*
 * host_misuse_test.c -- misuse of the seam by a loop, and faults of the host.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/host/host_fixture.h"
#include "sim/tests/host/host_lab.h"

/* Counts over all runs of a sweep. */
static struct {
    uint32_t again;
    uint32_t full;
} seen;

/* ---- Misuse. --------------------------------------------------------------------------------- */

static void
dropped_under_a_poll(struct sim_world *world, void *argument)
{
    struct host_fixture *fixture = argument;
    sim_sleep(world, MS);
    rt_pollable_drop(&fixture->pollables[0]);
    sim_source_event(fixture->sources[1]);
}

static void
poll_two(struct sim_world *world, void *argument)
{
    (void)world;
    struct host_fixture *fixture = argument;
    host_fixture_subscribe_all(fixture);
    host_fixture_poll(fixture, "01");
}

static void
dropped_setup(struct sim_world *world)
{
    struct host_fixture *fixture = host_fixture_new(world);
    (void)sim_loop_new(world, "loop", poll_two, fixture);
    (void)sim_loop_new(world, "dropper", dropped_under_a_poll, fixture);
}

TEST(pollable_dropped_while_a_poll_waits_for_it_is_a_broken_contract)
{
    static const struct sim_scenario scenario = {
            .name = "test/dropped", .about = "Dropped too early.", .setup = dropped_setup};
    host_lab_expect(&scenario, 20, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST);
}

static void
move_a_pollable(struct sim_world *world, void *argument)
{
    (void)world;
    struct host_fixture *fixture = argument;
    host_fixture_subscribe_all(fixture);
    struct rt_pollable moved = fixture->pollables[0];
    (void)rt_pollable_ready(&moved);
}

static void
move_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", move_a_pollable, host_fixture_new(world));
}

TEST(pollable_that_was_moved_is_a_broken_contract)
{
    static const struct sim_scenario scenario = {
            .name = "test/moved", .about = "A pollable is pinned.", .setup = move_setup};
    host_lab_expect(&scenario, 2, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST);
}

static void
use_an_old_handle(struct sim_world *world, void *argument)
{
    (void)world;
    struct host_fixture *fixture = argument;
    EXPECT_OK(sim_source_subscribe(fixture->sources[0], &fixture->pollables[0]));
    struct rt_pollable old = fixture->pollables[0];
    rt_pollable_drop(&fixture->pollables[0]);
    EXPECT_OK(sim_source_subscribe(fixture->sources[1], &fixture->pollables[0]));
    EXPECT(fixture->pollables[0].handle != old.handle);
    fixture->pollables[0].handle = old.handle;
    (void)rt_pollable_ready(&fixture->pollables[0]);
}

static void
old_handle_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", use_an_old_handle, host_fixture_new(world));
}

TEST(handle_of_a_dropped_pollable_stays_wrong_after_reuse)
{
    static const struct sim_scenario scenario = {
            .name = "test/stale", .about = "An old handle.", .setup = old_handle_setup};
    host_lab_expect(&scenario, 2, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST);
}

/* ---- Spurious readiness. --------------------------------------------------------------------- */

static void
trust_the_report(struct sim_world *world, void *argument)
{
    (void)world;
    struct host_fixture *fixture = argument;
    host_fixture_subscribe_all(fixture);
    uint32_t left[3] = {4, 4, 4};
    for (uint32_t i = 0; i < 3; i++) {
        sim_source_event_in(fixture->sources[i], 1 * MS, 2 * MS);
    }
    while (left[0] + left[1] + left[2] > 0) {
        host_fixture_poll(fixture, "012");
        for (uint32_t k = 0; k < fixture->ready; k++) {
            uint32_t i = fixture->indices[k];
            if (sim_source_take(fixture->sources[i]) != RT_OK) {
                seen.again++;
            } else if (--left[i] > 0) {
                sim_source_event_in(fixture->sources[i], 1 * MS, 2 * MS);
            }
        }
    }
    host_fixture_drop_all(fixture);
}

static void
trust_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", trust_the_report, host_fixture_new(world));
}

TEST(spurious_report_under_hostile_only_and_take_returns_again)
{
    struct sim_scenario scenario = {
            .name = "test/trust", .about = "Takes what is reported.", .setup = trust_setup};
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&scenario, 40);
    EXPECT_EQ(seen.again, 0);
    scenario.profile = SIM_PROFILE_HOSTILE;
    host_lab_pass(&scenario, 40);
    EXPECT(seen.again > 0);
}

/* ---- Starvation and leaks. ------------------------------------------------------------------- */

static void
look_away(struct sim_world *world, struct host_fixture *fixture, bool look)
{
    host_fixture_subscribe_all(fixture);
    sim_source_event(fixture->sources[0]);
    sim_source_event_in(fixture->sources[1], 50000, 50000);
    host_fixture_poll(fixture, "01");
    for (uint32_t i = 0; i < 4000; i++) {
        (void)fixture->seam->ops->now(fixture->seam);
        SIM_PROGRESS();
        if (look) {
            (void)rt_pollable_ready(&fixture->pollables[1]);
        }
        sim_loop_pause(world);
    }
    host_fixture_drop_all(fixture);
}

static void
never_look(struct sim_world *world, void *argument)
{
    look_away(world, argument, false);
}

static void
keep_looking(struct sim_world *world, void *argument)
{
    look_away(world, argument, true);
}

static void
never_look_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", never_look, host_fixture_new(world));
}

static void
keep_looking_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", keep_looking, host_fixture_new(world));
}

TEST(source_waited_for_and_never_checked_is_starvation)
{
    static const struct sim_scenario scenario = {
            .name = "test/away", .about = "Looks away.", .setup = never_look_setup};
    host_lab_expect(&scenario, 3, SIM_VERDICT_STARVATION, SIM_ORACLE_HOST);
}

TEST(source_checked_but_not_taken_is_no_starvation)
{
    static const struct sim_scenario scenario = {
            .name = "test/look", .about = "Looks, does not take.", .setup = keep_looking_setup};
    host_lab_pass(&scenario, 3);
}

/* Steps of the loop before it checks; another actor takes all steps that it can. */
static uint32_t away_steps;
static uint32_t busy; /* That one. */

static void
look_late(struct sim_world *world, void *argument)
{
    struct host_fixture *fixture = argument;
    host_fixture_subscribe_all(fixture);
    sim_source_event(fixture->sources[0]);
    sim_source_event_in(fixture->sources[1], 1000, 1000);
    host_fixture_poll(fixture, "01");
    for (uint32_t i = 0; i < away_steps; i++) {
        (void)fixture->seam->ops->now(fixture->seam);
        sim_loop_pause(world);
    }
    host_fixture_poll(fixture, "01");
    host_fixture_drop_all(fixture);
}

static void
be_busy(struct sim_world *world, void *argument)
{
    (void)argument;
    for (uint32_t i = 0; i < 4000; i++) {
        SIM_PROGRESS();
        sim_loop_pause(world);
    }
}

static void
look_late_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", look_late, host_fixture_new(world));
    busy = sim_loop_actor(sim_loop_new(world, "busy", be_busy, NULL))->index;
}

/* The busy actor continues until fairness stops it; all else is 0. */
static uint32_t
hold_back(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    (void)strategy;
    for (uint32_t i = 0; choice->kind == SIM_KIND_RUN && i < choice->n; i++) {
        struct sim_alternative alternative;
        choice->describe(choice, i, &alternative);
        if (alternative.actor == busy) {
            return i;
        }
    }
    return 0;
}

static enum sim_verdict
look_after(uint32_t steps)
{
    static const struct sim_scenario scenario = {
            .name = "test/late", .about = "Looks late.", .setup = look_late_setup};
    struct lab lab;
    struct sim_options options;
    lab_init(&lab, NULL, 0xa5);
    sim_options_init(&options, &scenario);
    options.starvation_steps = 160;
    options.fair_steps = 100;
    away_steps = steps;
    static const struct sim_strategy_ops ops = {.repeats = true, .choose = hold_back};
    struct sim_strategy strategy = {&ops};
    struct sim_outcome outcome;
    sim_world_run(&lab.world, &scenario, &options, 1, &strategy,
            (struct sim_recording){.events = true, .texts = true}, &outcome);
    EXPECT(outcome.steps > 3 * options.starvation_steps);
    lab_fini(&lab);
    return (enum sim_verdict)outcome.verdict;
}

/*
 * Goal: a loop that the strategy delays starves nothing; one that takes steps without a check does.
 * Method: the other takes some hundred steps for each of the loop's, so a source is ready for far
 * longer than the limit of 160 before the loop has taken as many.
 */
TEST(source_not_checked_by_a_delayed_loop_is_no_starvation)
{
    EXPECT_EQ(look_after(150), SIM_VERDICT_PASS);
    EXPECT_EQ(look_after(200), SIM_VERDICT_STARVATION);
}

/* A task that subscribes and returns. */
struct forgetful {
    struct rt_task task;
    struct rt_pollable pollable;
    struct sim_source *source;
    bool clock;
    bool drops;
};

static rt_poll
forgetful_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)cx;
    struct forgetful *forgetful = rt_container_of(task, struct forgetful, task);
    if (forgetful->clock) {
        struct sim_world *world = sim_world_current;
        struct sim_host *host = world->state;
        EXPECT_OK(rt_subscribe_duration(sim_host_seam(host), 5 * MS, &forgetful->pollable));
    } else {
        EXPECT_OK(sim_source_subscribe(forgetful->source, &forgetful->pollable));
    }
    if (forgetful->drops) {
        rt_pollable_drop(&forgetful->pollable);
    }
    return RT_READY;
}

static void
forget(struct sim_world *world, bool clock, bool drops)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct forgetful *forgetful = sim_new(world, struct forgetful);
    forgetful->source = sim_source_new(sim_rt_host(rt), "letter");
    forgetful->clock = clock;
    forgetful->drops = drops;
    sim_set_state(world, sim_rt_host(rt));
    rt_task_init(&forgetful->task, forgetful_poll, NULL, "forgetful");
    sim_spawn(rt, &forgetful->task);
}

static void
forget_source_setup(struct sim_world *world)
{
    forget(world, false, false);
}

static void
forget_clock_setup(struct sim_world *world)
{
    forget(world, true, false);
}

static void
forget_nothing_setup(struct sim_world *world)
{
    forget(world, false, true);
}

TEST(pollable_of_a_task_never_dropped_is_a_leak)
{
    struct sim_scenario scenario = {
            .name = "test/leak", .about = "Forgets a pollable.", .setup = forget_source_setup};
    host_lab_expect(&scenario, 3, SIM_VERDICT_LEAK, SIM_ORACLE_BALANCE);
    scenario.setup = forget_clock_setup;
    host_lab_expect(&scenario, 3, SIM_VERDICT_LEAK, SIM_ORACLE_BALANCE);
    scenario.setup = forget_nothing_setup;
    host_lab_pass(&scenario, 3);
}

/* ---- Faults. --------------------------------------------------------------------------------- */

static void
subscribe_stubbornly(struct sim_world *world, void *argument)
{
    (void)world;
    struct host_fixture *fixture = argument;
    for (uint32_t i = 0; i < 50; i++) {
        rt_err err = sim_source_subscribe(fixture->sources[0], &fixture->pollables[0]);
        if (err == RT_OK) {
            rt_pollable_drop(&fixture->pollables[0]);
        } else {
            EXPECT_STR(rt_err_name(err), "RT_E_FULL");
            seen.full++;
        }
    }
}

static void
stubborn_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", subscribe_stubbornly, host_fixture_new(world));
}

TEST(subscribe_is_refused_only_under_fault_capacity)
{
    struct sim_scenario scenario = {
            .name = "test/full", .about = "Subscribes often.", .setup = stubborn_setup};
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&scenario, 10);
    EXPECT_EQ(seen.full, 0);
    scenario.survives = SIM_FAULT_CAPACITY;
    host_lab_pass(&scenario, 10);
    EXPECT(seen.full > 0);
}

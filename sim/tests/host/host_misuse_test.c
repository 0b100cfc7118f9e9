/*
 * host_misuse_test.c -- what a loop does wrong at the seam, and what the host may do to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/host/host_lab.h"
#include "sim/tests/host/host_story.h"

/* What a sweep has seen, over all of its runs. */
static struct {
    uint32_t again;
    uint32_t full;
} seen;

/* ---- Misuse. --------------------------------------------------------------------------------- */

static void
dropped_under_a_poll(struct sim_world *world, void *argument)
{
    struct host_story *story = argument;
    sim_sleep(world, MS);
    rt_pollable_drop(&story->pollables[0]);
    sim_source_event(story->sources[1]);
}

static void
poll_two(struct sim_world *world, void *argument)
{
    (void)world;
    struct host_story *story = argument;
    host_story_subscribe_all(story);
    host_story_poll(story, "01");
}

static void
dropped_setup(struct sim_world *world)
{
    struct host_story *story = host_story_new(world);
    (void)sim_loop_new(world, "loop", poll_two, story);
    (void)sim_loop_new(world, "dropper", dropped_under_a_poll, story);
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
    struct host_story *story = argument;
    host_story_subscribe_all(story);
    struct rt_pollable moved = story->pollables[0];
    (void)rt_pollable_ready(&moved);
}

static void
move_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", move_a_pollable, host_story_new(world));
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
    struct host_story *story = argument;
    GOES_WELL(sim_source_subscribe(story->sources[0], &story->pollables[0]));
    struct rt_pollable old = story->pollables[0];
    rt_pollable_drop(&story->pollables[0]);
    GOES_WELL(sim_source_subscribe(story->sources[1], &story->pollables[0]));
    EXPECT(story->pollables[0].handle != old.handle);
    story->pollables[0].handle = old.handle;
    (void)rt_pollable_ready(&story->pollables[0]);
}

static void
old_handle_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", use_an_old_handle, host_story_new(world));
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
    struct host_story *story = argument;
    host_story_subscribe_all(story);
    uint32_t left[3] = {4, 4, 4};
    for (uint32_t i = 0; i < 3; i++) {
        sim_source_event_in(story->sources[i], 1 * MS, 2 * MS);
    }
    while (left[0] + left[1] + left[2] > 0) {
        host_story_poll(story, "012");
        for (uint32_t k = 0; k < story->ready; k++) {
            uint32_t i = story->indices[k];
            if (sim_source_take(story->sources[i]) != RT_OK) {
                seen.again++;
            } else if (--left[i] > 0) {
                sim_source_event_in(story->sources[i], 1 * MS, 2 * MS);
            }
        }
    }
    host_story_drop_all(story);
}

static void
trust_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", trust_the_report, host_story_new(world));
}

TEST(report_for_nothing_comes_under_hostile_only_and_the_call_says_again)
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

/* ---- Not looking, not giving back. ----------------------------------------------------------- */

static void
look_away(struct sim_world *world, struct host_story *story, bool look)
{
    host_story_subscribe_all(story);
    sim_source_event(story->sources[0]);
    sim_source_event_in(story->sources[1], 50000, 50000);
    host_story_poll(story, "01");
    for (uint32_t i = 0; i < 4000; i++) {
        (void)story->seam->ops->now(story->seam);
        SIM_PROGRESS();
        if (look) {
            (void)rt_pollable_ready(&story->pollables[1]);
        }
        sim_loop_pause(world);
    }
    host_story_drop_all(story);
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
    (void)sim_loop_new(world, "loop", never_look, host_story_new(world));
}

static void
keep_looking_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", keep_looking, host_story_new(world));
}

TEST(source_waited_for_and_never_looked_at_is_starvation)
{
    static const struct sim_scenario scenario = {
            .name = "test/away", .about = "Looks away.", .setup = never_look_setup};
    host_lab_expect(&scenario, 3, SIM_VERDICT_STARVATION, SIM_ORACLE_HOST);
}

TEST(source_looked_at_but_not_taken_is_no_starvation)
{
    static const struct sim_scenario scenario = {
            .name = "test/look", .about = "Looks, does not take.", .setup = keep_looking_setup};
    host_lab_pass(&scenario, 3);
}

/* Steps of the loop before it looks; another one would take all steps if it were let. */
static uint32_t away_steps;
static uint32_t busy; /* That one. */

static void
look_late(struct sim_world *world, void *argument)
{
    struct host_story *story = argument;
    host_story_subscribe_all(story);
    sim_source_event(story->sources[0]);
    sim_source_event_in(story->sources[1], 1000, 1000);
    host_story_poll(story, "01");
    for (uint32_t i = 0; i < away_steps; i++) {
        (void)story->seam->ops->now(story->seam);
        sim_loop_pause(world);
    }
    host_story_poll(story, "01");
    host_story_drop_all(story);
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
    (void)sim_loop_new(world, "loop", look_late, host_story_new(world));
    busy = sim_loop_actor(sim_loop_new(world, "busy", be_busy, NULL))->index;
}

/* Whoever is busy goes on, until fairness stops him; all else is 0. */
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
    static const struct sim_strategy_ops ops = {.name = "hold-back",
            .about = "One actor's steps.",
            .repeats = true,
            .choose = hold_back};
    struct sim_strategy strategy = {&ops};
    struct sim_outcome outcome;
    sim_world_run(&lab.world, &scenario, &options, 1, &strategy,
            (struct sim_recording){.events = true, .texts = true}, &outcome);
    EXPECT(outcome.steps > 3 * options.starvation_steps);
    lab_fini(&lab);
    return (enum sim_verdict)outcome.verdict;
}

/*
 * Goal: a loop that the strategy keeps from its steps starves nothing; one that has its steps, and
 * does not look, does.
 * Method: the other takes some hundred steps for each of the loop's, so something is ready for far
 * longer than the limit of 160 before the loop has taken as many.
 */
TEST(source_not_looked_at_by_a_loop_that_is_held_back_is_no_starvation)
{
    EXPECT_EQ(look_after(150), SIM_VERDICT_PASS);
    EXPECT_EQ(look_after(200), SIM_VERDICT_STARVATION);
}

/* A task that subscribes and leaves. */
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
        GOES_WELL(rt_subscribe_duration(sim_host_seam(host), 5 * MS, &forgetful->pollable));
    } else {
        GOES_WELL(sim_source_subscribe(forgetful->source, &forgetful->pollable));
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
    struct host_story *story = argument;
    for (uint32_t i = 0; i < 50; i++) {
        rt_err err = sim_source_subscribe(story->sources[0], &story->pollables[0]);
        if (err == RT_OK) {
            rt_pollable_drop(&story->pollables[0]);
        } else {
            EXPECT_STR(rt_err_name(err), "RT_E_FULL");
            seen.full++;
        }
    }
}

static void
stubborn_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", subscribe_stubbornly, host_story_new(world));
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

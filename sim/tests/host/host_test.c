/*
 * host_test.c -- the seam of the fake host: what `poll` and `ready` promise (P3-P10, M15).
 *
 * The file opens with the smallest story: a loop polls one source until its event
 * has come. A loop here is a bare one that calls the vtable, as somebody's own
 * runtime would.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/host/host_lab.h"
#include "sim/tests/host/host_story.h"

/* What a sweep has seen, over all of its runs. */
static struct {
    uint32_t partial;  /* Polls that left a ready one out. */
    uint32_t disorder; /* Polls whose answer was not ascending. */
    uint32_t shy;      /* Zero durations that were not ready at once. */
} seen;

/* ---- Blocking. ------------------------------------------------------------------------------- */

static void
one_event(struct sim_world *world, void *argument)
{
    struct host_story *story = argument;
    host_story_subscribe_all(story);
    sim_source_event_in(story->sources[1], 5 * MS, 9 * MS);
    host_story_poll(story, "012");
    EXPECT_EQ(story->ready, 1);
    EXPECT_EQ(story->indices[0], 1);
    EXPECT(sim_now(world) >= 5 * MS);
    GOES_WELL(sim_source_take(story->sources[1]));
    host_story_drop_all(story);
}

static void
one_event_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", one_event, host_story_new(world));
}

static const struct sim_scenario one_event_story = {.name = "test/one-event",
        .about = "A loop waits for one of three sources.",
        .setup = one_event_setup};

/* Holds P4. */
TEST(poll_blocks_until_a_source_is_ready_and_names_it)
{
    host_lab_pass(&one_event_story, 50);
}

TEST(blocked_poll_tells_what_it_waits_for)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    struct sim_outcome outcome = lab_run(&lab, &one_event_story, 1, true);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_PASS);
    EXPECT_EQ(host_lab_count(&lab, SIM_EVENT_BLOCK, 0), 1);
    EXPECT_EQ(host_lab_count(&lab, SIM_EVENT_UNBLOCK, 0), 1);
    EXPECT_EQ(host_lab_count(&lab, SIM_EVENT_REPORT, 0), 1);
    EXPECT_EQ(host_lab_count(&lab, SIM_EVENT_SUBSCRIBE, 0), 3);
    EXPECT_EQ(host_lab_count(&lab, SIM_EVENT_UNSUBSCRIBE, 0), 3);
    EXPECT_EQ(host_lab_count(&lab, RT_PROBE_CONSUME, 0), 1);
    lab_fini(&lab);
}

static void
nobody_comes(struct sim_world *world, void *argument)
{
    (void)world;
    struct host_story *story = argument;
    host_story_subscribe_all(story);
    host_story_poll(story, "0");
}

static void
nobody_comes_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", nobody_comes, host_story_new(world));
}

TEST(poll_for_what_never_comes_is_a_deadlock)
{
    static const struct sim_scenario scenario = {
            .name = "test/nobody", .about = "Nothing comes.", .setup = nobody_comes_setup};
    host_lab_expect(&scenario, 20, SIM_VERDICT_DEADLOCK, SIM_ORACLE_STALL);
}

static void
block_in_setup(struct sim_world *world)
{
    struct host_story *story = host_story_new(world);
    host_story_subscribe_all(story);
    host_story_poll(story, "01");
}

TEST(poll_that_would_block_outside_a_loop_is_a_broken_contract)
{
    static const struct sim_scenario scenario = {
            .name = "test/no-loop", .about = "Blocks nowhere.", .setup = block_in_setup};
    host_lab_expect(&scenario, 5, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST);
}

/* ---- Empty lists. ---------------------------------------------------------------------------- */

static void
empty_list(struct sim_world *world, void *argument)
{
    (void)world;
    struct host_story *story = argument;
    REFUSES(story->seam->ops->poll(story->seam, NULL, 0, story->indices, &story->ready),
            RT_E_EMPTY_POLL);
}

static void
empty_list_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", empty_list, host_story_new(world));
}

/* Holds P3. */
TEST(poll_of_an_empty_list_traps_but_not_with_descriptors)
{
    struct sim_scenario scenario = {
            .name = "test/empty", .about = "Polls nothing.", .setup = empty_list_setup};
    host_lab_expect(&scenario, 5, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST);
    scenario.profile = SIM_PROFILE_HOSTILE;
    host_lab_expect(&scenario, 5, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST);
    scenario.profile = SIM_PROFILE_FD;
    host_lab_pass(&scenario, 5);
}

/* ---- What is reported. ----------------------------------------------------------------------- */

static void
twice_in_the_list(struct sim_world *world, void *argument)
{
    (void)world;
    struct host_story *story = argument;
    host_story_subscribe_all(story);
    sim_source_event(story->sources[0]);
    host_story_poll(story, "010");
    EXPECT_EQ(story->ready, 2);
    EXPECT_EQ(story->indices[0], 0);
    EXPECT_EQ(story->indices[1], 2);
    host_story_drop_all(story);
}

static void
twice_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", twice_in_the_list, host_story_new(world));
}

/* Holds P5. */
TEST(pollable_twice_in_the_list_is_reported_twice_in_ascending_order)
{
    static const struct sim_scenario scenario = {
            .name = "test/twice", .about = "One pollable in two places.", .setup = twice_setup};
    host_lab_pass(&scenario, 0);
}

/* Looks at an answer to a poll of three ready sources, and marks who was reported. */
static void
tally(const struct host_story *story, uint32_t *unreported)
{
    seen.partial += story->ready < 3;
    for (uint32_t i = 0; i < 3; i++) {
        unreported[i]++;
    }
    for (uint32_t i = 0; i < story->ready; i++) {
        seen.disorder += i > 0 && story->indices[i] < story->indices[i - 1];
        unreported[story->indices[i]] = 0;
    }
}

static void
all_ready(struct sim_world *world, void *argument)
{
    (void)world;
    struct host_story *story = argument;
    uint32_t unreported[3] = {0, 0, 0};
    host_story_subscribe_all(story);
    for (uint32_t i = 0; i < 3; i++) {
        sim_source_event(story->sources[i]);
    }
    for (uint32_t turn = 0; turn < 40; turn++) {
        host_story_poll(story, "012");
        tally(story, unreported);
        for (uint32_t i = 0; i < 3; i++) {
            EXPECT(unreported[i] <= 6);
        }
    }
    host_story_drop_all(story);
}

static void
all_ready_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", all_ready, host_story_new(world));
}

/* Always the last alternative of what is reported, everything else default: the nastiest host. */
static uint32_t
nasty_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    (void)strategy;
    return choice->kind == SIM_KIND_SUBSET ? 1 : 0;
}

/* Holds P6. */
TEST(poll_reports_some_in_any_order_and_leaves_nobody_out_for_long)
{
    static const struct sim_scenario scenario = {
            .name = "test/all-ready", .about = "Three are ready.", .setup = all_ready_setup};
    static const struct sim_strategy_ops nasty_ops = {.name = "nasty", .choose = nasty_choose};
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&scenario, 0);
    EXPECT_EQ(seen.partial, 0);
    EXPECT_EQ(seen.disorder, 0);
    host_lab_pass(&scenario, 30);
    EXPECT(seen.partial > 0);
    EXPECT(seen.disorder > 0);
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    struct sim_strategy nasty = {&nasty_ops};
    struct sim_options options;
    struct sim_outcome outcome;
    sim_options_init(&options, &scenario);
    sim_world_run(&lab.world, &scenario, &options, 1, &nasty,
            (struct sim_recording){.events = true, .texts = true}, &outcome);
    EXPECT_STR(outcome.message, "");
    lab_fini(&lab);
}

/* ---- Asking. --------------------------------------------------------------------------------- */

static void
ask_often(struct sim_world *world, void *argument)
{
    (void)world;
    struct host_story *story = argument;
    host_story_subscribe_all(story);
    sim_source_event(story->sources[0]);
    for (uint32_t i = 0; i < 10; i++) {
        EXPECT(rt_pollable_ready(&story->pollables[0]));
        EXPECT(!rt_pollable_ready(&story->pollables[1]));
    }
    EXPECT_EQ(sim_source_events(story->sources[0]), 1);
    host_story_poll(story, "01");
    EXPECT_EQ(story->ready, 1);
    EXPECT_EQ(story->indices[0], 0);
    host_story_drop_all(story);
}

static void
ask_often_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", ask_often, host_story_new(world));
}

/* Holds P7. */
TEST(ready_asked_often_changes_nothing)
{
    static const struct sim_scenario scenario = {
            .name = "test/ask", .about = "Asks often.", .setup = ask_often_setup};
    host_lab_pass(&scenario, 20);
}

static void
many_events(struct sim_world *world, void *argument)
{
    (void)world;
    struct host_story *story = argument;
    host_story_subscribe_all(story);
    for (uint32_t i = 0; i < 5; i++) {
        sim_source_event_in(story->sources[0], 0, 3 * MS);
        host_story_poll(story, "0");
        EXPECT(rt_pollable_ready(&story->pollables[0]));
        host_story_poll(story, "0"); /* Level: it is told again until the event is taken. */
        GOES_WELL(sim_source_take(story->sources[0]));
        EXPECT(!rt_pollable_ready(&story->pollables[0]));
    }
    host_story_drop_all(story);
}

static void
many_events_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", many_events, host_story_new(world));
}

/* Holds P8. */
TEST(pollable_serves_many_events_and_is_level_triggered)
{
    static const struct sim_scenario scenario = {.name = "test/level",
            .about = "One pollable, five events.",
            .setup = many_events_setup};
    host_lab_pass(&scenario, 30);
}

static void
children(struct sim_world *world, void *argument)
{
    (void)world;
    struct host_story *story = argument;
    host_story_subscribe_all(story);
    struct rt_pollable second;
    GOES_WELL(sim_source_subscribe(story->sources[0], &second));
    REFUSES(sim_source_drop(story->sources[0]), RT_E_HAS_CHILDREN);
    rt_pollable_drop(&second);
    REFUSES(sim_source_drop(story->sources[0]), RT_E_HAS_CHILDREN);
    host_story_drop_all(story);
    GOES_WELL(sim_source_drop(story->sources[0]));
}

static void
children_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", children, host_story_new(world));
}

/* Holds P9. */
TEST(source_is_not_dropped_before_its_pollables)
{
    static const struct sim_scenario scenario = {
            .name = "test/children", .about = "Two children.", .setup = children_setup};
    host_lab_pass(&scenario, 5);
}

/* ---- The clock. ------------------------------------------------------------------------------ */

static void
zero_duration(struct sim_world *world, void *argument)
{
    struct host_story *story = argument;
    for (uint32_t i = 0; i < 20; i++) {
        struct rt_pollable zero;
        struct rt_pollable past;
        sim_loop_pause(world);
        GOES_WELL(rt_subscribe_duration(story->seam, 0, &zero));
        GOES_WELL(rt_subscribe_instant(story->seam, 1, &past));
        seen.shy += !rt_pollable_ready(&zero);
        (void)rt_pollable_ready(&past);
        EXPECT(rt_pollable_ready(&zero));
        EXPECT(rt_pollable_ready(&past));
        rt_pollable_drop(&zero);
        rt_pollable_drop(&past);
    }
}

static void
zero_duration_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", zero_duration, host_story_new(world));
}

/* Holds P10, M15. */
TEST(past_instant_is_ready_at_the_second_look_at_the_latest)
{
    struct sim_scenario scenario = {
            .name = "test/zero", .about = "Zero durations.", .setup = zero_duration_setup};
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&scenario, 0);
    EXPECT_EQ(seen.shy, 0);
    host_lab_pass(&scenario, 20);
    EXPECT(seen.shy > 0);
    memset(&seen, 0, sizeof seen);
    scenario.profile = SIM_PROFILE_FD;
    host_lab_pass(&scenario, 20);
    EXPECT_EQ(seen.shy, 0);
}

static void
busy_poll(struct sim_world *world, void *argument)
{
    (void)world;
    struct host_story *story = argument;
    GOES_WELL(rt_subscribe_duration(story->seam, 0, &story->pollables[0]));
    GOES_WELL(sim_source_subscribe(story->sources[1], &story->pollables[1]));
    sim_source_event_in(story->sources[1], 20000, 20000);
    bool reported = false;
    for (uint32_t i = 0; i < 500 && !reported; i++) {
        host_story_poll(story, "01");
        for (uint32_t k = 0; k < story->ready; k++) {
            reported = reported || story->indices[k] == 1;
        }
    }
    EXPECT(reported);
    rt_pollable_drop(&story->pollables[0]);
    rt_pollable_drop(&story->pollables[1]);
}

static void
busy_poll_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", busy_poll, host_story_new(world));
}

/* Holds P10. */
TEST(zero_duration_in_a_busy_poll_starves_no_source)
{
    static const struct sim_scenario scenario = {
            .name = "test/busy", .about = "A poll that never blocks.", .setup = busy_poll_setup};
    host_lab_pass(&scenario, 50);
}

static void
many_deadlines(struct sim_world *world, void *argument)
{
    struct host_story *story = argument;
    uint64_t before_ns = 0;
    for (uint32_t i = 0; i < 20; i++) {
        struct rt_pollable *list[1] = {&story->pollables[0]};
        uint64_t deadline_ns = sim_now(world) + sim_range(world, 1, 10 * MS);
        GOES_WELL(rt_subscribe_instant(story->seam, deadline_ns, list[0]));
        EXPECT(!rt_pollable_ready(list[0]) || sim_now(world) >= deadline_ns);
        GOES_WELL(story->seam->ops->poll(story->seam, list, 1, story->indices, &story->ready));
        uint64_t now_ns = story->seam->ops->now(story->seam);
        EXPECT(now_ns >= deadline_ns);
        EXPECT(now_ns >= before_ns);
        before_ns = now_ns;
        rt_pollable_drop(list[0]);
    }
}

static void
many_deadlines_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", many_deadlines, host_story_new(world));
    (void)sim_loop_new(world, "other", many_deadlines, host_story_new(world));
}

/* Holds M15. */
TEST(clock_never_goes_back_and_no_deadline_comes_early)
{
    static const struct sim_scenario scenario = {.name = "test/deadlines",
            .about = "Two loops with deadlines.",
            .setup = many_deadlines_setup,
            .profile = SIM_PROFILE_HOSTILE};
    host_lab_pass(&scenario, 50);
}

/* ---- Notify. --------------------------------------------------------------------------------- */

static void
wait_for_notify(struct sim_world *world, void *argument)
{
    struct host_story *story = argument;
    struct rt_pollable *list[1] = {&story->pollables[0]};
    GOES_WELL(rt_host_subscribe(story->seam, RT_SUBSCRIBE_NOTIFY, 0, list[0]));
    GOES_WELL(story->seam->ops->poll(story->seam, list, 1, story->indices, &story->ready));
    EXPECT_EQ(story->ready, 1);
    EXPECT(sim_now(world) >= 2 * MS);
    EXPECT(!rt_pollable_ready(list[0])); /* Taken by its report. */
    rt_pollable_drop(list[0]);
}

static void
notify_twice(struct sim_world *world, void *argument)
{
    struct host_story *story = argument;
    sim_sleep(world, 2 * MS);
    rt_host_notify(story->seam);
    rt_host_notify(story->seam);
}

static void
notify_setup(struct sim_world *world)
{
    struct host_story *story = host_story_new(world);
    sim_host_undivided(story->host); /* Two notifications in a row are one. */
    (void)sim_loop_new(world, "loop", wait_for_notify, story);
    (void)sim_loop_new(world, "notifier", notify_twice, story);
}

TEST(notify_unblocks_a_poll_and_many_count_as_one)
{
    static const struct sim_scenario scenario = {
            .name = "test/notify", .about = "Somebody notifies.", .setup = notify_setup};
    host_lab_pass(&scenario, 50);
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    EXPECT_STR(lab_run(&lab, &scenario, 1, true).message, "");
    EXPECT_EQ(host_lab_count(&lab, SIM_EVENT_READY, 0), 1);
    lab_fini(&lab);
}

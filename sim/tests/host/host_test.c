/*
 * host_test.c -- the seam of the fake host: what `poll` and `ready` promise (P3-P10, M15).
 *
 * The file opens with the smallest story: a loop polls one source until its event
 * has come. A loop here is a bare one that calls the vtable, as somebody's own
 * runtime would.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/tests/host/host_lab.h"

/* What the loops of this file work with. */
struct story {
    struct sim_host *host;
    struct rt_host *seam;
    struct sim_source *sources[3];
    struct rt_pollable pollables[3];
    uint32_t ready;
    uint32_t indices[8];
};

/* What a sweep has seen, over all of its runs. */
static struct {
    uint32_t partial;  /* Polls that left a ready one out. */
    uint32_t disorder; /* Polls whose answer was not ascending. */
    uint32_t shy;
    uint32_t again;
    uint32_t full;
} seen;

static struct story *
story_new(struct sim_world *world)
{
    static const char *const names[3] = {"a", "b", "c"};
    struct story *story = sim_new(world, struct story);
    story->host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    story->seam = sim_host_seam(story->host);
    for (uint32_t i = 0; i < 3; i++) {
        story->sources[i] = sim_source_new(story->host, names[i]);
    }
    return story;
}

static void
subscribe_all(struct story *story)
{
    for (uint32_t i = 0; i < 3; i++) {
        GOES_WELL(sim_source_subscribe(story->sources[i], &story->pollables[i]));
    }
}

static void
drop_all(struct story *story)
{
    for (uint32_t i = 0; i < 3; i++) {
        rt_pollable_drop(&story->pollables[i]);
    }
}

/* Polls the given places of story->pollables. */
static void
poll_places(struct story *story, const char *places)
{
    struct rt_pollable *list[8];
    uint32_t count = (uint32_t)strlen(places);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = &story->pollables[places[i] - '0'];
    }
    GOES_WELL(story->seam->ops->poll(story->seam, list, count, story->indices, &story->ready));
    EXPECT(story->ready >= 1);
    EXPECT(story->ready <= count);
    for (uint32_t i = 0; i < story->ready; i++) {
        EXPECT(story->indices[i] < count);
    }
}

/* ---- Blocking. ------------------------------------------------------------------------------- */

static void
one_event(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    subscribe_all(story);
    sim_source_event_in(story->sources[1], 5 * MS, 9 * MS);
    poll_places(story, "012");
    EXPECT_EQ(story->ready, 1);
    EXPECT_EQ(story->indices[0], 1);
    EXPECT(sim_now(world) >= 5 * MS);
    GOES_WELL(sim_source_take(story->sources[1]));
    drop_all(story);
}

static void
one_event_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", one_event, story_new(world));
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
    struct story *story = argument;
    subscribe_all(story);
    poll_places(story, "0");
}

static void
nobody_comes_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", nobody_comes, story_new(world));
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
    struct story *story = story_new(world);
    subscribe_all(story);
    poll_places(story, "01");
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
    struct story *story = argument;
    REFUSES(story->seam->ops->poll(story->seam, NULL, 0, story->indices, &story->ready),
            RT_E_EMPTY_POLL);
}

static void
empty_list_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", empty_list, story_new(world));
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
    struct story *story = argument;
    subscribe_all(story);
    sim_source_event(story->sources[0]);
    poll_places(story, "010");
    EXPECT_EQ(story->ready, 2);
    EXPECT_EQ(story->indices[0], 0);
    EXPECT_EQ(story->indices[1], 2);
    drop_all(story);
}

static void
twice_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", twice_in_the_list, story_new(world));
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
tally(const struct story *story, uint32_t *unreported)
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
    struct story *story = argument;
    uint32_t unreported[3] = {0, 0, 0};
    subscribe_all(story);
    for (uint32_t i = 0; i < 3; i++) {
        sim_source_event(story->sources[i]);
    }
    for (uint32_t turn = 0; turn < 40; turn++) {
        poll_places(story, "012");
        tally(story, unreported);
        for (uint32_t i = 0; i < 3; i++) {
            EXPECT(unreported[i] <= 6);
        }
    }
    drop_all(story);
}

static void
all_ready_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", all_ready, story_new(world));
}

/* Always the last alternative of what is reported, everything else dull: the nastiest host. */
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
    struct story *story = argument;
    subscribe_all(story);
    sim_source_event(story->sources[0]);
    for (uint32_t i = 0; i < 10; i++) {
        EXPECT(rt_pollable_ready(&story->pollables[0]));
        EXPECT(!rt_pollable_ready(&story->pollables[1]));
    }
    EXPECT_EQ(sim_source_events(story->sources[0]), 1);
    poll_places(story, "01");
    EXPECT_EQ(story->ready, 1);
    EXPECT_EQ(story->indices[0], 0);
    drop_all(story);
}

static void
ask_often_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", ask_often, story_new(world));
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
    struct story *story = argument;
    subscribe_all(story);
    for (uint32_t i = 0; i < 5; i++) {
        sim_source_event_in(story->sources[0], 0, 3 * MS);
        poll_places(story, "0");
        EXPECT(rt_pollable_ready(&story->pollables[0]));
        poll_places(story, "0"); /* Level: it is told again until the event is taken. */
        GOES_WELL(sim_source_take(story->sources[0]));
        EXPECT(!rt_pollable_ready(&story->pollables[0]));
    }
    drop_all(story);
}

static void
many_events_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", many_events, story_new(world));
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
    struct story *story = argument;
    subscribe_all(story);
    struct rt_pollable second;
    GOES_WELL(sim_source_subscribe(story->sources[0], &second));
    REFUSES(sim_source_drop(story->sources[0]), RT_E_HAS_CHILDREN);
    rt_pollable_drop(&second);
    REFUSES(sim_source_drop(story->sources[0]), RT_E_HAS_CHILDREN);
    drop_all(story);
    GOES_WELL(sim_source_drop(story->sources[0]));
}

static void
children_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", children, story_new(world));
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
    struct story *story = argument;
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
    (void)sim_loop_new(world, "loop", zero_duration, story_new(world));
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
    struct story *story = argument;
    GOES_WELL(rt_subscribe_duration(story->seam, 0, &story->pollables[0]));
    GOES_WELL(sim_source_subscribe(story->sources[1], &story->pollables[1]));
    sim_source_event_in(story->sources[1], 20000, 20000);
    bool reported = false;
    for (uint32_t i = 0; i < 500 && !reported; i++) {
        poll_places(story, "01");
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
    (void)sim_loop_new(world, "loop", busy_poll, story_new(world));
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
    struct story *story = argument;
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
    (void)sim_loop_new(world, "loop", many_deadlines, story_new(world));
    (void)sim_loop_new(world, "other", many_deadlines, story_new(world));
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
    struct story *story = argument;
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
    struct story *story = argument;
    sim_sleep(world, 2 * MS);
    rt_host_notify(story->seam);
    rt_host_notify(story->seam);
}

static void
notify_setup(struct sim_world *world)
{
    struct story *story = story_new(world);
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

/* ---- Misuse. --------------------------------------------------------------------------------- */

static void
dropped_under_a_poll(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    sim_sleep(world, MS);
    rt_pollable_drop(&story->pollables[0]);
    sim_source_event(story->sources[1]);
}

static void
poll_two(struct sim_world *world, void *argument)
{
    (void)world;
    struct story *story = argument;
    subscribe_all(story);
    poll_places(story, "01");
}

static void
dropped_setup(struct sim_world *world)
{
    struct story *story = story_new(world);
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
    struct story *story = argument;
    subscribe_all(story);
    struct rt_pollable moved = story->pollables[0];
    (void)rt_pollable_ready(&moved);
}

static void
move_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", move_a_pollable, story_new(world));
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
    struct story *story = argument;
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
    (void)sim_loop_new(world, "loop", use_an_old_handle, story_new(world));
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
    struct story *story = argument;
    subscribe_all(story);
    uint32_t left[3] = {4, 4, 4};
    for (uint32_t i = 0; i < 3; i++) {
        sim_source_event_in(story->sources[i], 1 * MS, 2 * MS);
    }
    while (left[0] + left[1] + left[2] > 0) {
        poll_places(story, "012");
        for (uint32_t k = 0; k < story->ready; k++) {
            uint32_t i = story->indices[k];
            if (sim_source_take(story->sources[i]) != RT_OK) {
                seen.again++;
            } else if (--left[i] > 0) {
                sim_source_event_in(story->sources[i], 1 * MS, 2 * MS);
            }
        }
    }
    drop_all(story);
}

static void
trust_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", trust_the_report, story_new(world));
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
look_away(struct sim_world *world, struct story *story, bool look)
{
    subscribe_all(story);
    sim_source_event(story->sources[0]);
    sim_source_event_in(story->sources[1], 50000, 50000);
    poll_places(story, "01");
    for (uint32_t i = 0; i < 4000; i++) {
        (void)story->seam->ops->now(story->seam);
        SIM_PROGRESS();
        if (look) {
            (void)rt_pollable_ready(&story->pollables[1]);
        }
        sim_loop_pause(world);
    }
    drop_all(story);
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
    (void)sim_loop_new(world, "loop", never_look, story_new(world));
}

static void
keep_looking_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", keep_looking, story_new(world));
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
    struct story *story = argument;
    subscribe_all(story);
    sim_source_event(story->sources[0]);
    sim_source_event_in(story->sources[1], 1000, 1000);
    poll_places(story, "01");
    for (uint32_t i = 0; i < away_steps; i++) {
        (void)story->seam->ops->now(story->seam);
        sim_loop_pause(world);
    }
    poll_places(story, "01");
    drop_all(story);
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
    (void)sim_loop_new(world, "loop", look_late, story_new(world));
    busy = sim_loop_actor(sim_loop_new(world, "busy", be_busy, NULL))->index;
}

/* Whoever is busy goes on, until fairness stops him; all else is dull. */
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
 * Goal: a loop that the strategy keeps from its steps starves nobody; one that has its steps, and
 * does not look, does.
 * Method: the other takes some hundred steps for each of the loop's. After eight of its own
 * something was ready for far longer than the limit of 160, and the loop had no tenth part of them.
 */
TEST(source_not_looked_at_by_a_loop_that_is_held_back_is_no_starvation)
{
    EXPECT_EQ(look_after(8), SIM_VERDICT_PASS);
    EXPECT_EQ(look_after(30), SIM_VERDICT_STARVATION);
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

/* ---- Our runtime on it. ---------------------------------------------------------------------- */

/* A task that takes events as they come: some from a source, in between it waits for the clock. */
struct taker {
    struct rt_task task;
    struct sim_source *source;
    struct rt_host *seam;
    struct rt_pollable pollable;
    struct rt_pollable clock;
    struct rt_wait wait;
    uint32_t left;
    bool resting;
};

static rt_poll
taker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct taker *taker = rt_container_of(task, struct taker, task);
    while (taker->left > 0) {
        if (taker->resting) {
            if (rt_wait_for(&taker->wait, &taker->clock, cx) == RT_PENDING) {
                return RT_PENDING;
            }
            rt_pollable_drop(&taker->clock);
            taker->resting = false;
        }
        if (rt_wait_for(&taker->wait, &taker->pollable, cx) == RT_PENDING) {
            return RT_PENDING;
        }
        if (sim_source_take(taker->source) == RT_OK && --taker->left > 0) {
            sim_source_event_in(taker->source, 0, MS);
            GOES_WELL(rt_subscribe_duration(taker->seam, taker->left % 2 * MS, &taker->clock));
            taker->resting = true;
        }
    }
    rt_pollable_drop(&taker->pollable);
    return RT_READY;
}

static void
spawn_takers(struct sim_rt *rt)
{
    for (uint32_t i = 0; i < 3; i++) {
        struct taker *taker = sim_new(sim_world_current, struct taker);
        taker->seam = sim_host_seam(sim_rt_host(rt));
        taker->source = sim_source_new(sim_rt_host(rt), "letters");
        taker->left = 6;
        rt_wait_init(&taker->wait);
        GOES_WELL(sim_source_subscribe(taker->source, &taker->pollable));
        sim_source_event_in(taker->source, 0, MS);
        rt_task_init(&taker->task, taker_poll, NULL, "taker");
        sim_spawn(rt, &taker->task);
    }
}

static void
takers_setup(struct sim_world *world)
{
    spawn_takers(sim_rt_new(world, NULL));
}

static void
run_takers(struct sim_world *world, void *argument)
{
    (void)world;
    struct sim_rt *rt = argument;
    spawn_takers(rt);
    GOES_WELL(rt_run_to_completion(sim_rt_runtime(rt)));
}

static void
looped_takers_setup(struct sim_world *world)
{
    static const struct sim_rt_options options = {.by_loop = true};
    (void)sim_loop_new(world, "main", run_takers, sim_rt_new(world, &options));
}

TEST(our_runtime_driven_by_the_world_survives_every_profile)
{
    struct sim_scenario scenario = {
            .name = "test/takers", .about = "Three tasks take events.", .setup = takers_setup};
    host_lab_pass(&scenario, 60);
    scenario.profile = SIM_PROFILE_HOSTILE;
    host_lab_pass(&scenario, 60);
    scenario.profile = SIM_PROFILE_FD;
    host_lab_pass(&scenario, 60);
}

TEST(our_runtime_in_a_loop_of_its_own_survives_every_profile)
{
    struct sim_scenario scenario = {.name = "test/looped-takers",
            .about = "Three tasks take events, and the loop is the runtime's.",
            .setup = looped_takers_setup};
    host_lab_pass(&scenario, 60);
    scenario.profile = SIM_PROFILE_HOSTILE;
    host_lab_pass(&scenario, 60);
    scenario.profile = SIM_PROFILE_FD;
    host_lab_pass(&scenario, 60);
}

/* Goal: what the host decides is never blamed on the runtime.
 * Method: most runs have an audited quiescence; a late event that its reader could already take
 * there would be called a late wake-up. */
TEST(host_that_is_late_is_not_blamed_on_the_runtime)
{
    struct sim_scenario scenario = {.name = "test/takers",
            .about = "Three tasks take events.",
            .setup = takers_setup,
            .profile = SIM_PROFILE_HOSTILE};
    struct lab lab;
    struct sim_options options;
    uint32_t audited = 0;
    lab_init(&lab, NULL, 0xa5);
    sim_options_init(&options, &scenario);
    options.audit_one_in = 4;
    for (uint64_t seed = 0; seed < 40; seed++) {
        scenario.setup = seed % 2 == 0 ? takers_setup : looped_takers_setup;
        struct sim_outcome outcome = lab_judge_with(&lab, &scenario, &options, seed, false);
        ck_assert_msg(outcome.verdict == SIM_VERDICT_PASS, "seed %llu: %s",
                (unsigned long long)seed, outcome.message);
        audited += outcome.audited;
    }
    EXPECT(audited > 10);
    lab_fini(&lab);
}

/* Goal: the host draws nothing from where things lie in memory.
 * Method: one seed in two arenas, at other addresses and with other fill bytes. */
TEST(host_in_two_arenas_makes_the_same_run)
{
    struct sim_scenario scenario = {.name = "test/takers",
            .about = "Three tasks take events.",
            .setup = takers_setup,
            .profile = SIM_PROFILE_HOSTILE};
    struct lab one;
    struct lab two;
    lab_init(&one, NULL, 0xa5);
    lab_init(&two, NULL, 0x5a);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t digest = lab_run(&one, &scenario, seed, false).digest;
        EXPECT(digest != 0);
        EXPECT_EQ(lab_run(&two, &scenario, seed, false).digest, digest);
    }
    lab_fini(&one);
    lab_fini(&two);
}

/* ---- Faults. --------------------------------------------------------------------------------- */

static void
subscribe_stubbornly(struct sim_world *world, void *argument)
{
    (void)world;
    struct story *story = argument;
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
    (void)sim_loop_new(world, "loop", subscribe_stubbornly, story_new(world));
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

/*
 * host_test.c -- the seam of the fake host: what `poll` and `ready` promise (P3-P10, M15).
 *
 * The file begins with the smallest scenario: a loop polls one source until its event
 * has arrived. The loops here call the vtable directly, as a user's runtime would.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/host/host_fixture.h"
#include "sim/tests/host/host_lab.h"

/* Counts over all runs of a sweep. */
static struct {
    uint32_t partial;  /* Polls that left a ready one out. */
    uint32_t disorder; /* Polls whose result was not ascending. */
    uint32_t unready;  /* Zero durations that were not ready at once. */
} seen;

/* ---- Blocking. ------------------------------------------------------------------------------- */

static void
one_event(struct sim_world *world, void *argument)
{
    struct host_fixture *fixture = argument;
    host_fixture_subscribe_all(fixture);
    sim_source_event_in(fixture->sources[1], 5 * MS, 9 * MS);
    host_fixture_poll(fixture, "012");
    EXPECT_EQ(fixture->ready, 1);
    EXPECT_EQ(fixture->indices[0], 1);
    EXPECT(sim_now(world) >= 5 * MS);
    EXPECT_OK(sim_source_take(fixture->sources[1]));
    host_fixture_drop_all(fixture);
}

static void
one_event_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", one_event, host_fixture_new(world));
}

static const struct sim_scenario one_event_scenario = {.name = "test/one-event",
        .about = "A loop waits for one of three sources.",
        .setup = one_event_setup};

/* Holds P4. */
TEST(poll_blocks_until_a_source_is_ready_and_names_it)
{
    host_lab_pass(&one_event_scenario, 50);
}

TEST(blocked_poll_reports_what_it_waits_for)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    struct sim_outcome outcome = lab_run(&lab, &one_event_scenario, 1, true);
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
never_ready(struct sim_world *world, void *argument)
{
    (void)world;
    struct host_fixture *fixture = argument;
    host_fixture_subscribe_all(fixture);
    host_fixture_poll(fixture, "0");
}

static void
never_ready_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", never_ready, host_fixture_new(world));
}

TEST(poll_for_a_source_that_is_never_ready_is_a_deadlock)
{
    static const struct sim_scenario scenario = {
            .name = "test/never", .about = "No event arrives.", .setup = never_ready_setup};
    host_lab_expect(&scenario, 20, SIM_VERDICT_DEADLOCK, SIM_ORACLE_STALL);
}

static void
block_in_setup(struct sim_world *world)
{
    struct host_fixture *fixture = host_fixture_new(world);
    host_fixture_subscribe_all(fixture);
    host_fixture_poll(fixture, "01");
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
    struct host_fixture *fixture = argument;
    REFUSES(fixture->seam->ops->poll(fixture->seam, NULL, 0, fixture->indices, &fixture->ready),
            RT_E_EMPTY_POLL);
}

static void
empty_list_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", empty_list, host_fixture_new(world));
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
    struct host_fixture *fixture = argument;
    host_fixture_subscribe_all(fixture);
    sim_source_event(fixture->sources[0]);
    host_fixture_poll(fixture, "010");
    EXPECT_EQ(fixture->ready, 2);
    EXPECT_EQ(fixture->indices[0], 0);
    EXPECT_EQ(fixture->indices[1], 2);
    host_fixture_drop_all(fixture);
}

static void
twice_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", twice_in_the_list, host_fixture_new(world));
}

/* Holds P5. */
TEST(pollable_twice_in_the_list_is_reported_twice_in_ascending_order)
{
    static const struct sim_scenario scenario = {
            .name = "test/twice", .about = "One pollable in two places.", .setup = twice_setup};
    host_lab_pass(&scenario, 0);
}

/* Checks the result of a poll of three ready sources, and marks which were reported. */
static void
tally(const struct host_fixture *fixture, uint32_t *unreported)
{
    seen.partial += fixture->ready < 3;
    for (uint32_t i = 0; i < 3; i++) {
        unreported[i]++;
    }
    for (uint32_t i = 0; i < fixture->ready; i++) {
        seen.disorder += i > 0 && fixture->indices[i] < fixture->indices[i - 1];
        unreported[fixture->indices[i]] = 0;
    }
}

static void
all_ready(struct sim_world *world, void *argument)
{
    (void)world;
    struct host_fixture *fixture = argument;
    uint32_t unreported[3] = {0, 0, 0};
    host_fixture_subscribe_all(fixture);
    for (uint32_t i = 0; i < 3; i++) {
        sim_source_event(fixture->sources[i]);
    }
    for (uint32_t turn = 0; turn < 40; turn++) {
        host_fixture_poll(fixture, "012");
        tally(fixture, unreported);
        for (uint32_t i = 0; i < 3; i++) {
            EXPECT(unreported[i] <= 6);
        }
    }
    host_fixture_drop_all(fixture);
}

static void
all_ready_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", all_ready, host_fixture_new(world));
}

/* Always the last alternative of SUBSET and ORDER, else 0. */
static uint32_t
nasty_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    (void)strategy;
    return choice->kind == SIM_KIND_SUBSET ? 1 : 0;
}

/* Holds P6. */
TEST(poll_reports_some_in_any_order_and_leaves_none_out_for_long)
{
    static const struct sim_scenario scenario = {
            .name = "test/all-ready", .about = "Three are ready.", .setup = all_ready_setup};
    static const struct sim_strategy_ops nasty_ops = {.choose = nasty_choose};
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
    struct host_fixture *fixture = argument;
    host_fixture_subscribe_all(fixture);
    sim_source_event(fixture->sources[0]);
    for (uint32_t i = 0; i < 10; i++) {
        EXPECT(rt_pollable_ready(&fixture->pollables[0]));
        EXPECT(!rt_pollable_ready(&fixture->pollables[1]));
    }
    EXPECT_EQ(sim_source_events(fixture->sources[0]), 1);
    host_fixture_poll(fixture, "01");
    EXPECT_EQ(fixture->ready, 1);
    EXPECT_EQ(fixture->indices[0], 0);
    host_fixture_drop_all(fixture);
}

static void
ask_often_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", ask_often, host_fixture_new(world));
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
    struct host_fixture *fixture = argument;
    host_fixture_subscribe_all(fixture);
    for (uint32_t i = 0; i < 5; i++) {
        sim_source_event_in(fixture->sources[0], 0, 3 * MS);
        host_fixture_poll(fixture, "0");
        EXPECT(rt_pollable_ready(&fixture->pollables[0]));
        host_fixture_poll(fixture, "0"); /* Level: it is reported until the event is taken. */
        EXPECT_OK(sim_source_take(fixture->sources[0]));
        EXPECT(!rt_pollable_ready(&fixture->pollables[0]));
    }
    host_fixture_drop_all(fixture);
}

static void
many_events_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", many_events, host_fixture_new(world));
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
    struct host_fixture *fixture = argument;
    host_fixture_subscribe_all(fixture);
    struct rt_pollable second;
    EXPECT_OK(sim_source_subscribe(fixture->sources[0], &second));
    REFUSES(sim_source_drop(fixture->sources[0]), RT_E_HAS_CHILDREN);
    rt_pollable_drop(&second);
    REFUSES(sim_source_drop(fixture->sources[0]), RT_E_HAS_CHILDREN);
    host_fixture_drop_all(fixture);
    EXPECT_OK(sim_source_drop(fixture->sources[0]));
}

static void
children_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", children, host_fixture_new(world));
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
    struct host_fixture *fixture = argument;
    for (uint32_t i = 0; i < 20; i++) {
        struct rt_pollable zero;
        struct rt_pollable past;
        sim_loop_pause(world);
        EXPECT_OK(rt_subscribe_duration(fixture->seam, 0, &zero));
        EXPECT_OK(rt_subscribe_instant(fixture->seam, 1, &past));
        seen.unready += !rt_pollable_ready(&zero);
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
    (void)sim_loop_new(world, "loop", zero_duration, host_fixture_new(world));
}

/* Holds P10, M15. */
TEST(past_instant_is_ready_at_the_second_check_at_the_latest)
{
    struct sim_scenario scenario = {
            .name = "test/zero", .about = "Zero durations.", .setup = zero_duration_setup};
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&scenario, 0);
    EXPECT_EQ(seen.unready, 0);
    host_lab_pass(&scenario, 20);
    EXPECT(seen.unready > 0);
    memset(&seen, 0, sizeof seen);
    scenario.profile = SIM_PROFILE_FD;
    host_lab_pass(&scenario, 20);
    EXPECT_EQ(seen.unready, 0);
}

static void
busy_poll(struct sim_world *world, void *argument)
{
    (void)world;
    struct host_fixture *fixture = argument;
    EXPECT_OK(rt_subscribe_duration(fixture->seam, 0, &fixture->pollables[0]));
    EXPECT_OK(sim_source_subscribe(fixture->sources[1], &fixture->pollables[1]));
    sim_source_event_in(fixture->sources[1], 20000, 20000);
    bool reported = false;
    for (uint32_t i = 0; i < 500 && !reported; i++) {
        host_fixture_poll(fixture, "01");
        for (uint32_t k = 0; k < fixture->ready; k++) {
            reported = reported || fixture->indices[k] == 1;
        }
    }
    EXPECT(reported);
    rt_pollable_drop(&fixture->pollables[0]);
    rt_pollable_drop(&fixture->pollables[1]);
}

static void
busy_poll_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", busy_poll, host_fixture_new(world));
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
    struct host_fixture *fixture = argument;
    uint64_t before_ns = 0;
    for (uint32_t i = 0; i < 20; i++) {
        struct rt_pollable *list[1] = {&fixture->pollables[0]};
        uint64_t deadline_ns = sim_now(world) + sim_range(world, 1, 10 * MS);
        EXPECT_OK(rt_subscribe_instant(fixture->seam, deadline_ns, list[0]));
        EXPECT(!rt_pollable_ready(list[0]) || sim_now(world) >= deadline_ns);
        EXPECT_OK(fixture->seam->ops->poll(
                fixture->seam, list, 1, fixture->indices, &fixture->ready));
        uint64_t now_ns = fixture->seam->ops->now(fixture->seam);
        EXPECT(now_ns >= deadline_ns);
        EXPECT(now_ns >= before_ns);
        before_ns = now_ns;
        rt_pollable_drop(list[0]);
    }
}

static void
many_deadlines_setup(struct sim_world *world)
{
    (void)sim_loop_new(world, "loop", many_deadlines, host_fixture_new(world));
    (void)sim_loop_new(world, "other", many_deadlines, host_fixture_new(world));
}

/* Holds M15. */
TEST(clock_never_goes_back_and_no_deadline_is_early)
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
    struct host_fixture *fixture = argument;
    struct rt_pollable *list[1] = {&fixture->pollables[0]};
    EXPECT_OK(rt_host_subscribe(fixture->seam, RT_SUBSCRIBE_NOTIFY, 0, list[0]));
    EXPECT_OK(fixture->seam->ops->poll(fixture->seam, list, 1, fixture->indices, &fixture->ready));
    EXPECT_EQ(fixture->ready, 1);
    EXPECT(sim_now(world) >= 2 * MS);
    EXPECT(!rt_pollable_ready(list[0])); /* Taken by its report. */
    rt_pollable_drop(list[0]);
}

static void
notify_twice(struct sim_world *world, void *argument)
{
    struct host_fixture *fixture = argument;
    sim_sleep(world, 2 * MS);
    rt_host_notify(fixture->seam);
    rt_host_notify(fixture->seam);
}

static void
notify_setup(struct sim_world *world)
{
    struct host_fixture *fixture = host_fixture_new(world);
    sim_host_undivided(fixture->host); /* Two notifications in a row are one. */
    (void)sim_loop_new(world, "loop", wait_for_notify, fixture);
    (void)sim_loop_new(world, "notifier", notify_twice, fixture);
}

TEST(notify_unblocks_a_poll_and_many_count_as_one)
{
    static const struct sim_scenario scenario = {
            .name = "test/notify", .about = "Another loop notifies.", .setup = notify_setup};
    host_lab_pass(&scenario, 50);
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    EXPECT_STR(lab_run(&lab, &scenario, 1, true).message, "");
    EXPECT_EQ(host_lab_count(&lab, SIM_EVENT_READY, 0), 1);
    lab_fini(&lab);
}

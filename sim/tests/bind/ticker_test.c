/*
 * ticker_test.c -- a game in the simulated world: polls, actors, and audits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/lab.h"

#define TICKS 40
#define LISTENERS 3

struct listener {
    struct rt_activity activity;
    uint32_t polls;
    uint32_t marks;
};

struct stage {
    struct sim_ticker *game;
    struct listener listeners[LISTENERS];
    uint32_t ticks;
    uint32_t actors; /* Once all have been polled. */
};

static rt_poll
listener_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    rt_container_of(activity, struct listener, activity)->polls++;
    return rt_cx_park(cx);
}

/* Marks some of them, each time in another order. */
static bool
update(struct sim_world *world, void *argument)
{
    struct stage *stage = argument;
    struct rt_ticker *ticker = sim_ticker_ticker(stage->game);
    if (stage->ticks == 1) {
        stage->actors = world->actor_count;
    }
    for (uint32_t i = 0; i < LISTENERS && stage->ticks > 0; i++) {
        struct listener *listener = &stage->listeners[(i + stage->ticks) % LISTENERS];
        if (sim_pick(world, 3) != 0 && rt_mark_ready(ticker, listener->activity.id)) {
            listener->marks++;
        }
    }
    return stage->ticks++ < TICKS;
}

static void
setup(struct sim_world *world)
{
    static const char *const names[LISTENERS] = {"one", "two", "three"};
    struct stage *stage = sim_new(world, struct stage);
    struct sim_ticker_options options = {.update = update, .argument = stage};
    stage->game = sim_ticker_new(world, &options);
    for (uint32_t i = 0; i < LISTENERS; i++) {
        rt_activity_init(&stage->listeners[i].activity, listener_poll, NULL, names[i]);
        sim_ticker_spawn(stage->game, &stage->listeners[i].activity);
    }
    sim_set_state(world, stage);
}

/* Marks of the last tick are not polled any more. */
static void
check(struct sim_world *world, void *state)
{
    const struct stage *stage = state;
    for (uint32_t i = 0; i < LISTENERS; i++) {
        const struct listener *listener = &stage->listeners[i];
        SIM_ALWAYS(listener->polls <= listener->marks + 1);
        SIM_ALWAYS(listener->polls >= listener->marks);
    }
    SIM_ALWAYS(world->actor_count == stage->actors);
    SIM_ALWAYS(rt_ticker_idle(sim_ticker_ticker(stage->game)));
}

static const struct sim_scenario listeners = {
        .name = "test/listeners", .setup = setup, .check = check, .about = ""};

/*
 * Holds G7, T13. Goal: a parked activity is polled for its marks only, and remains the same actor.
 * Method: every suspension is perturbed; several park and return in any order, so that they get
 * each other's entries in the executor.
 */
TEST(ticker_parked_activity_is_polled_for_its_marks_only)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    struct sim_options options;
    sim_options_init(&options, &listeners);
    options.spurious_one_in = 1;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct sim_outcome outcome = lab_judge_with(&lab, &listeners, &options, seed, false);
        ck_assert_msg(outcome.verdict == SIM_VERDICT_PASS, "%s", outcome.message);
    }
    lab_fini(&lab);
}

static void
check_all_gone(struct sim_world *world, void *state)
{
    const struct stage *stage = state;
    (void)world;
    for (uint32_t i = 0; i < LISTENERS; i++) {
        SIM_ALWAYS(stage->listeners[i].polls == 1);
        SIM_ALWAYS(stage->listeners[i].activity.task.end == RT_TASK_CANCELLED);
    }
}

static const struct sim_scenario doomed = {.name = "test/doomed",
        .setup = setup,
        .check = check_all_gone,
        .about = "",
        .survives = SIM_FAULT_CANCEL};

/* Holds T15, G10: the fault finds a task that is parked, too. */
TEST(ticker_parked_activity_may_be_cancelled_there)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    struct sim_options options;
    sim_options_init(&options, &doomed);
    options.fault_one_in = 1;
    struct sim_outcome outcome = lab_judge_with(&lab, &doomed, &options, 1, false);
    ck_assert_msg(outcome.verdict == SIM_VERDICT_PASS, "%s", outcome.message);
    lab_fini(&lab);
}

static const char *
always_wrong(void *argument)
{
    (void)argument;
    return "it contradicts itself";
}

static void
setup_wrong(struct sim_world *world)
{
    setup(world);
    sim_audit_add(world, "primitive", always_wrong, NULL);
}

static const struct sim_scenario wrong = {
        .name = "test/wrong", .setup = setup_wrong, .check = check, .about = ""};

/* A game never stalls: its primitives are audited at the quiescences that are audited. */
TEST(ticker_primitives_are_audited_while_the_game_runs)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    struct sim_options options;
    sim_options_init(&options, &wrong);
    options.audit_one_in = 1;
    struct sim_outcome outcome = lab_judge_with(&lab, &wrong, &options, 1, false);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_CONTRACT);
    EXPECT_EQ(outcome.oracle, SIM_ORACLE_PRIMITIVE_AUDIT);
    lab_fini(&lab);
}

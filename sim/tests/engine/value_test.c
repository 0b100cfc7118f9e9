/*
 * value_test.c -- numbers that are drawn: by their values, and one for another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/engine/shrink/shrink.h"
#include "sim/rewake.h"

#define NUMBERS_MAX 4u

struct drawer {
    struct rt_task task;
    struct sim_world *world;
};

/* What the test draws, and when that fails. */
static struct {
    uint64_t hi[NUMBERS_MAX];
    uint32_t count;
    bool (*fails)(const uint64_t *drawn);
} rule;

static rt_poll
drawer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct sim_world *world = rt_container_of(task, struct drawer, task)->world;
    uint64_t drawn[NUMBERS_MAX] = {0};
    (void)cx;
    for (uint32_t i = 0; i < rule.count; i++) {
        drawn[i] = sim_range(world, 0, rule.hi[i]);
    }
    SIM_ALWAYS(!rule.fails(drawn));
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct drawer *drawer = sim_new(world, struct drawer);
    drawer->world = world;
    rt_task_init(&drawer->task, drawer_poll, NULL, "drawer");
    sim_spawn(sim_rt_new(world, NULL), &drawer->task);
}

static const struct sim_scenario scenario = {
        .name = "test/values", .about = "A test.", .setup = setup};

/* Shrinks the first failing run, of the seeds up to 20,000, that has at least `least` deviations;
 * returns how many are left. */
static uint32_t
shrink(uint32_t least)
{
    struct sim_options options;
    struct sim_single single;
    struct sim_deviation entries[64];
    struct sim_tape tape = {entries, 0, 64};
    struct sim_outcome failure = {0};
    struct sim_shrunk shrunk;
    sim_single_init(&single, NULL, &sim_shared_for_candidates, 300);
    sim_options_init(&options, &scenario);
    options.spurious_one_in = 0;
    for (uint64_t seed = 1; seed <= 20000 && tape.count == 0; seed++) {
        const struct sim_run_spec candidate = {
                .scenario = &scenario, .options = options, .seed = seed, .how = SIM_HOW_RANDOM};
        const struct sim_outcome *outcome = sim_single_run(&single, &candidate);
        if (outcome->verdict == SIM_VERDICT_INVARIANT && outcome->deviations >= least &&
                outcome->deviations <= 64) {
            struct sim_tape found = sim_single_deviations(&single);
            memcpy(entries, found.entries, found.count * sizeof(*entries));
            tape.count = found.count;
            failure = *outcome;
        }
    }
    EXPECT(tape.count >= least);
    const struct sim_shrink_plan plan = {.spec.scenario = &scenario,
            .spec.options = options,
            .spec.tape = &tape,
            .failure = &failure,
            .replays_max = SIM_SHRINK_REPLAYS_MAX,
            .deadline_ms = UINT64_MAX,
            .spec.hang_ms = 300};
    sim_shrink(&plan, &shrunk);
    EXPECT_EQ(shrunk.end, SIM_SHRINK_MINIMAL);
    uint32_t left = shrunk.to.deviations;
    sim_shrunk_done(&shrunk);
    sim_single_fini(&single);
    return left;
}

static bool
large_then_two(const uint64_t *drawn)
{
    return drawn[0] >= 700000 && drawn[1] == 2;
}

/*
 * Goal: a large number goes to a value that is one choice, and what is drawn after it in the same
 * stream stays what it is.
 * Method: the first must be large, in which form it is many choices; the second must stay 2.
 */
TEST(shrink_number_is_replaced_whole_and_what_follows_moves_up)
{
    rule.hi[0] = 1000000;
    rule.hi[1] = 3;
    rule.count = 2;
    rule.fails = large_then_two;
    EXPECT_EQ(shrink(8), 2);
}

static bool
far_apart(const uint64_t *drawn)
{
    return drawn[0] > 1000 && drawn[0] < 999000 && drawn[0] - drawn[1] == 500;
}

/* Two numbers that hang together are moved by the same amount; neither can be lowered alone. The
 * baseline number in the middle costs one, and the other some halves. */
TEST(shrink_two_numbers_are_moved_together)
{
    rule.hi[0] = 2000;
    rule.hi[1] = 1500;
    rule.count = 2;
    rule.fails = far_apart;
    EXPECT(shrink(10) <= 4);
}

/* The one end is (2, 3), the other (0, 4): from there to here no number alone goes, and no two by
 * the same amount. */
static bool
one_for_another(const uint64_t *drawn)
{
    return (drawn[0] == 2 && drawn[1] == 3) || (drawn[0] == 0 && drawn[1] == 4);
}

TEST(shrink_trades_a_number_for_another)
{
    rule.hi[0] = 3;
    rule.hi[1] = 4;
    rule.count = 2;
    rule.fails = one_for_another;
    EXPECT_EQ(shrink(2), 1);
}

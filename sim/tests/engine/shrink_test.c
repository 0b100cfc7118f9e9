/*
 * shrink_test.c -- the shrinker against trees whose minimum is known, because all of it was tried.
 *
 * Two tasks pick digits and take turns. Whether a run fails is a rule made at random: some digits
 * that must be large enough, some turns that must come in an order. A tape of such a failure has
 * few deviations, so every subset of it can be run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/shrink/shrink.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/engine/shrink/shrink_priv.h"
#include "sim/rewake.h"

#define TASKS 2u
#define POLLS 3u
#define ATOMS_MAX 6u
#define CLAUSES_MAX 3u
#define TAPE_MAX 11u

/* One condition: the digit that `task` picks at poll `nth` is at least `digit`; or, with digit 0,
 * that poll comes before poll `other` of the other task. */
struct atom {
    uint32_t task;
    uint32_t nth;
    uint32_t digit;
    uint32_t other;
};

/* It fails when all atoms of one clause hold. */
static struct rule {
    struct atom atoms[CLAUSES_MAX][ATOMS_MAX];
    uint32_t lengths[CLAUSES_MAX];
    uint32_t clauses;
    enum { ENDS_IN_CHECK, ENDS_IN_CRASH, ENDS_IN_HANG, ENDS_ANYHOW } end;
} rule;

struct game;

struct player {
    struct rt_task task;
    struct game *game;
    uint32_t number;
    uint32_t polls;
    uint32_t digits[POLLS];
    uint32_t turns[POLLS]; /* When each poll came. */
};

struct game {
    struct sim_world *world;
    struct player players[TASKS];
    uint32_t turns;
    uint32_t done;
};

static bool
holds(const struct game *game, const struct atom *atom)
{
    const struct player *player = &game->players[atom->task];
    const struct player *other = &game->players[1 - atom->task];
    return atom->digit > 0 ? player->digits[atom->nth] >= atom->digit
                           : player->turns[atom->nth] < other->turns[atom->other];
}

static bool
fails(const struct game *game)
{
    for (uint32_t i = 0; i < rule.clauses; i++) {
        bool all = true;
        for (uint32_t k = 0; k < rule.lengths[i]; k++) {
            all = all && holds(game, &rule.atoms[i][k]);
        }
        if (all) {
            return true;
        }
    }
    return false;
}

/* The first player's first digit says how, where the rule does not. */
static void
end_badly(const struct game *game)
{
    volatile bool for_ever = rule.end == ENDS_IN_HANG;
    if (rule.end == ENDS_IN_CRASH || (rule.end == ENDS_ANYHOW && game->players[0].digits[0] == 1)) {
        abort();
    }
    while (for_ever) {
    }
    if (rule.end == ENDS_ANYHOW && game->players[0].digits[0] == 2) {
        SIM_ALWAYS(game->players[0].digits[0] != 2);
    }
    SIM_ALWAYS(!"the rule");
}

static rt_poll
player_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    struct game *game = player->game;
    player->turns[player->polls] = game->turns++;
    player->digits[player->polls++] = sim_pick(game->world, 3);
    if (player->polls < POLLS) {
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    if (++game->done == TASKS && fails(game)) {
        end_badly(game);
    }
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct game *game = sim_new(world, struct game);
    game->world = world;
    for (uint32_t i = 0; i < TASKS; i++) {
        struct player *player = &game->players[i];
        player->game = game;
        player->number = i;
        rt_task_init(&player->task, player_poll, NULL, i == 0 ? "white" : "black");
        sim_spawn(rt, &player->task);
    }
}

static const struct sim_scenario scenario = {
        .name = "test/shrink", .about = "A test.", .setup = setup};

/* ---- Failing runs. --------------------------------------------------------------------------- */

static uint32_t
draw(uint64_t *state, uint32_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % n;
}

static void
make_rule(uint64_t number)
{
    uint64_t state = number;
    rule.clauses = 1 + draw(&state, CLAUSES_MAX);
    for (uint32_t i = 0; i < rule.clauses; i++) {
        rule.lengths[i] = 1 + draw(&state, 4);
        for (uint32_t k = 0; k < rule.lengths[i]; k++) {
            rule.atoms[i][k] = (struct atom){.task = draw(&state, TASKS),
                    .nth = draw(&state, POLLS),
                    .digit = draw(&state, 3),
                    .other = draw(&state, POLLS)};
        }
    }
}

struct test {
    struct sim_single single;
    struct sim_options options;
    struct sim_deviation entries[64];
    struct sim_tape tape;
    struct sim_outcome failure;
};

static const struct sim_outcome *
fly(struct test *test, enum sim_how how, uint64_t seed, const struct sim_tape *tape)
{
    const struct sim_run_spec candidate = {.scenario = &scenario,
            .options = test->options,
            .seed = seed,
            .how = (uint32_t)how,
            .tape = tape};
    const struct sim_outcome *outcome = sim_single_run(&test->single, &candidate);
    EXPECT(outcome != NULL);
    return outcome;
}

/* A failing run with at least `least` deviations and at most TAPE_MAX, of seeds up to 400. */
static bool
find_failure(struct test *test, uint32_t least)
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        const struct sim_outcome *outcome = fly(test, SIM_HOW_RANDOM, seed, NULL);
        if (outcome->verdict != SIM_VERDICT_PASS && outcome->deviations <= TAPE_MAX &&
                outcome->deviations >= least) {
            struct sim_tape done = sim_single_deviations(&test->single);
            memcpy(test->entries, done.entries, done.count * sizeof(*done.entries));
            test->tape = (struct sim_tape){test->entries, done.count, 64};
            test->failure = *outcome;
            return true;
        }
    }
    return false;
}

static void
begin(struct test *test, uint64_t number)
{
    make_rule(number);
    sim_single_init(&test->single, NULL, &sim_shared_for_candidates, 300);
    sim_options_init(&test->options, &scenario);
    test->options.spurious_one_in = 0;
}

static struct sim_shrink_plan
plan_of(const struct test *test)
{
    return (struct sim_shrink_plan){.spec.scenario = &scenario,
            .spec.options = test->options,
            .spec.tape = &test->tape,
            .failure = &test->failure,
            .replays_max = SIM_SHRINK_REPLAYS_MAX,
            .deadline_ms = UINT64_MAX,
            .spec.hang_ms = 300};
}

/* The fewest deviations of any subset of the tape that fails in the same way. */
static uint32_t
fewest(struct test *test)
{
    uint32_t best = test->tape.count;
    for (uint32_t subset = 0; subset < 1u << test->tape.count; subset++) {
        struct sim_deviation entries[TAPE_MAX];
        struct sim_tape part = {entries, 0, TAPE_MAX};
        for (uint32_t i = 0; i < test->tape.count; i++) {
            if ((subset >> i & 1) != 0) {
                entries[part.count++] = test->entries[i];
            }
        }
        if (part.count < best &&
                sim_outcome_same(fly(test, SIM_HOW_LENIENT, 0, &part), &test->failure)) {
            uint32_t count = sim_single_outcome(&test->single)->deviations;
            best = count < best ? count : best;
        }
    }
    return best;
}

/*
 * Goal: what comes out is the smallest there is, or one more.
 * Method: random rules; each subset of a failing tape is run. Most must be hit exactly.
 */
TEST(shrink_finds_the_minimum_or_one_more)
{
    uint32_t tried = 0;
    uint32_t exact = 0;
    for (uint64_t number = 1; tried < 12 && number < 60; number++) {
        struct test test;
        struct sim_shrunk shrunk;
        begin(&test, number);
        if (find_failure(&test, 6)) {
            const struct sim_shrink_plan plan = plan_of(&test);
            sim_shrink(&plan, &shrunk);
            EXPECT_EQ(shrunk.end, SIM_SHRINK_MINIMAL);
            uint32_t least = fewest(&test);
            EXPECT(shrunk.to.deviations <= least + 1);
            exact += shrunk.to.deviations <= least;
            tried++;
            sim_shrunk_done(&shrunk);
        }
        sim_single_fini(&test.single);
    }
    EXPECT_EQ(tried, 12);
    EXPECT(exact >= 10);
}

/* Verdict, oracle and site stay, and the tape is the run's own: strict, from an empty past. */
TEST(shrink_keeps_the_failure_and_its_tape_is_strict)
{
    uint32_t tried = 0;
    for (uint64_t number = 1; tried < 6 && number < 60; number++) {
        struct test test;
        struct sim_shrunk shrunk;
        begin(&test, number);
        rule.end = ENDS_ANYHOW;
        if (find_failure(&test, 4)) {
            const struct sim_shrink_plan plan = plan_of(&test);
            sim_shrink(&plan, &shrunk);
            EXPECT(sim_shrunk_holds(&shrunk));
            const struct sim_outcome *alone = sim_single_outcome(&shrunk.alone);
            EXPECT(sim_outcome_same(alone, &test.failure));
            EXPECT(sim_shrink_key_compare(&shrunk.to, &shrunk.from) <= 0);
            EXPECT_EQ(alone->deviations, shrunk.tape.count);
            EXPECT_EQ(shrunk.to.deviations, shrunk.tape.count);
            const struct sim_outcome *again = fly(&test, SIM_HOW_STRICT, 77, &shrunk.tape);
            EXPECT(sim_single_mismatch(&test.single) == NULL);
            EXPECT(again->digest == alone->digest);
            tried++;
            sim_shrunk_done(&shrunk);
        }
        sim_single_fini(&test.single);
    }
    EXPECT_EQ(tried, 6);
}

/* One rule for the tests below, of which a run with many deviations fails. */
static void
begin_simple(struct test *test, int end)
{
    begin(test, 1);
    rule.clauses = 1;
    rule.lengths[0] = 2;
    rule.atoms[0][0] = (struct atom){.task = 0, .nth = 1, .digit = 1};
    rule.atoms[0][1] = (struct atom){.task = 1, .nth = 1, .other = 1};
    rule.end = end;
    EXPECT(find_failure(test, 5));
}

/* Two things are needed: a digit, the smallest that is enough, and one turn taken early. */
TEST(shrink_result_of_a_simple_rule_is_as_expected)
{
    struct test test;
    struct sim_shrunk shrunk;
    begin_simple(&test, ENDS_IN_CHECK);
    const struct sim_shrink_plan plan = plan_of(&test);
    sim_shrink(&plan, &shrunk);
    EXPECT_EQ(shrunk.end, SIM_SHRINK_MINIMAL);
    EXPECT_EQ(shrunk.to.deviations, 2);
    EXPECT_EQ(shrunk.to.preemptions, 1);
    for (uint32_t i = 0; i < shrunk.tape.count; i++) {
        EXPECT_EQ(shrunk.tape.entries[i].index, 1);
    }
    EXPECT_EQ(sim_single_outcome(&shrunk.alone)->seed, SIM_SHRINK_SEED);
    sim_shrunk_done(&shrunk);
    sim_single_fini(&test.single);
}

/* What is the smallest already stays as it is. */
TEST(shrink_of_a_shrunk_run_changes_nothing)
{
    struct test test;
    struct sim_shrunk shrunk;
    struct sim_shrunk again;
    begin_simple(&test, ENDS_IN_CHECK);
    struct sim_shrink_plan plan = plan_of(&test);
    sim_shrink(&plan, &shrunk);
    plan.spec.tape = &shrunk.tape;
    plan.spec.options = shrunk.options;
    sim_shrink(&plan, &again);
    EXPECT(sim_shrink_key_compare(&shrunk.to, &again.from) == 0);
    EXPECT(sim_shrink_key_compare(&shrunk.to, &again.to) == 0);
    EXPECT_EQ(again.tape.count, shrunk.tape.count);
    EXPECT(memcmp(again.tape.entries, shrunk.tape.entries,
                   again.tape.count * sizeof(struct sim_deviation)) == 0);
    sim_shrunk_done(&again);
    sim_shrunk_done(&shrunk);
    sim_single_fini(&test.single);
}

/* A crash costs a process each time, a hang patience; both are shrunk. */
TEST(shrink_of_a_crash_and_of_a_hang)
{
    for (int end = ENDS_IN_CRASH; end <= ENDS_IN_HANG; end++) {
        struct test test;
        struct sim_shrunk shrunk;
        begin_simple(&test, end);
        struct sim_shrink_plan plan = plan_of(&test);
        plan.spec.hang_ms = end == ENDS_IN_HANG ? 60 : 300;
        sim_shrink(&plan, &shrunk);
        EXPECT(sim_shrunk_holds(&shrunk));
        EXPECT_EQ(shrunk.to.deviations, 2);
        sim_shrunk_done(&shrunk);
        sim_single_fini(&test.single);
    }
}

/* Each limit ends it, and what there is then still holds. */
TEST(shrink_stops_at_its_limits)
{
    static const volatile sig_atomic_t interrupted = 1;
    struct test test;
    struct sim_shrunk shrunk;
    begin_simple(&test, ENDS_IN_CHECK);
    struct sim_shrink_plan plan = plan_of(&test);
    plan.replays_max = 3;
    sim_shrink(&plan, &shrunk);
    EXPECT_EQ(shrunk.end, SIM_SHRINK_REPLAYS);
    EXPECT_EQ(shrunk.replays, 3);
    EXPECT(sim_outcome_same(sim_single_outcome(&shrunk.alone), &test.failure));
    sim_shrunk_done(&shrunk);
    plan = plan_of(&test);
    plan.deadline_ms = 1;
    sim_shrink(&plan, &shrunk);
    EXPECT_EQ(shrunk.end, SIM_SHRINK_TIME);
    EXPECT_EQ(shrunk.to.deviations, test.tape.count);
    sim_shrunk_done(&shrunk);
    plan = plan_of(&test);
    plan.interrupted = &interrupted;
    sim_shrink(&plan, &shrunk);
    EXPECT_EQ(shrunk.end, SIM_SHRINK_INTERRUPTED);
    sim_shrunk_done(&shrunk);
    sim_single_fini(&test.single);
}

/* A tape that is not that of the failure is not shrunk to something else. */
TEST(shrink_refuses_a_tape_that_does_not_fail)
{
    struct test test;
    struct sim_shrunk shrunk;
    begin_simple(&test, ENDS_IN_CHECK);
    const struct sim_shrink_plan plan = plan_of(&test);
    test.tape.count = 0;
    sim_shrink(&plan, &shrunk);
    EXPECT_EQ(shrunk.end, SIM_SHRINK_NOT_AGAIN);
    EXPECT(!sim_shrunk_holds(&shrunk));
    sim_shrunk_done(&shrunk);
    sim_single_fini(&test.single);
}

/* Masks and frequencies go back to their defaults; what is the user's stays. */
TEST(shrink_puts_options_back_that_are_drawn)
{
    struct test test;
    struct sim_shrunk shrunk;
    struct sim_options usual;
    begin_simple(&test, ENDS_IN_CHECK);
    test.options.faults = SIM_FAULT_CANCEL;
    test.options.fault_one_in = 4000;
    test.options.late_one_in = 3;
    test.options.step_ns = 50;
    EXPECT(find_failure(&test, 4));
    const struct sim_shrink_plan plan = plan_of(&test);
    sim_shrink(&plan, &shrunk);
    EXPECT(sim_shrunk_holds(&shrunk));
    EXPECT_EQ(shrunk.from.options, 4);
    EXPECT_EQ(shrunk.to.options, 0);
    sim_options_init(&usual, &scenario);
    EXPECT_EQ(shrunk.options.faults, usual.faults);
    EXPECT_EQ(shrunk.options.late_one_in, usual.late_one_in);
    EXPECT_EQ(shrunk.options.step_ns, 50);
    sim_shrunk_done(&shrunk);
    sim_single_fini(&test.single);
}

/* The key, part by part: a later part decides only where all before it are the same. */
TEST(shrink_key_is_compared_from_left_to_right)
{
    const struct sim_shrink_key base = {5, 5, 5, 5, 5, 5, 5, 5};
    struct sim_shrink_key more = base;
    EXPECT_EQ(sim_shrink_key_compare(&base, &base), 0);
    more.steps = 6;
    EXPECT(sim_shrink_key_compare(&base, &more) < 0);
    more.sim_ns = 4;
    EXPECT(sim_shrink_key_compare(&base, &more) > 0);
    more.blocks = 6;
    EXPECT(sim_shrink_key_compare(&base, &more) < 0);
    more.deviations = 4;
    EXPECT(sim_shrink_key_compare(&base, &more) > 0);
    more.preemptions = 6;
    EXPECT(sim_shrink_key_compare(&base, &more) < 0);
    more.actors = 4;
    EXPECT(sim_shrink_key_compare(&base, &more) > 0);
    more.faults = 6;
    EXPECT(sim_shrink_key_compare(&base, &more) < 0);
    more.options = 4;
    EXPECT(sim_shrink_key_compare(&base, &more) > 0);
}

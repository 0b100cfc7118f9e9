/*
 * sampling_test.c -- pct, pos and rf: their promises, on small trees.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/search/rf.h"
#include "sim/tests/search/search_lab.h"

static void
set_script(const char *one, const char *two, const char *three)
{
    script[0] = one;
    script[1] = two;
    script[2] = three;
    script[3] = NULL;
}

/* How many of `runs` runs had exactly the order `wanted` of all polls. */
static uint32_t
count_order(const char *strategy, const char *wanted, uint32_t runs)
{
    struct search_lab lab;
    char text[SCRIPT_POLLS + 1];
    uint32_t met = 0;
    search_lab_init(&lab, strategy);
    search_lab_school(&lab, &script_scenario, 1, 32);
    for (uint32_t i = 0; i < runs; i++) {
        (void)search_lab_run(&lab, &script_scenario, 1000 + i, false);
        script_order('*', text);
        met += strcmp(text, wanted) == 0;
    }
    search_lab_fini(&lab);
    return met;
}

/*
 * Goal: a bug of depth d is met with probability at least 1 / (n k^(d-1)).
 * Method: 2 tasks, 8 polls in all: 7 choices at most. Depth 1: the second task is first. Depth 2:
 * it runs right after the i-th poll of the first, for each i. Of 4,000 runs with d = 2 at
 * least 4,000 / 14 must meet each of these, which an even walk does in 4,000 / 2^i only.
 */
TEST(pct_meets_bugs_as_often_as_promised)
{
    static const char *const orders[] = {
            "01000000", "00100000", "00010000", "00001000", "00000100", "00000010"};
    const uint32_t runs = 4000;
    set_script(".......", ".", NULL);
    EXPECT(count_order("pct:d=1", "10000000", runs) >= runs / 2 - 200);
    for (uint32_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
        EXPECT(count_order("pct:d=2", orders[i], runs) >= runs / 14);
    }
}

/* The race for cell a: in how many of `runs` runs task 1 wrote it before task 0. */
static uint32_t
count_wins(const char *strategy, uint32_t runs)
{
    struct search_lab lab;
    char text[SCRIPT_POLLS + 1];
    uint32_t won = 0;
    search_lab_init(&lab, strategy);
    search_lab_school(&lab, &script_scenario, 1, 32);
    for (uint32_t i = 0; i < runs; i++) {
        (void)search_lab_run(&lab, &script_scenario, 1000 + i, false);
        script_order('a', text);
        won += text[0] == '1';
    }
    search_lab_fini(&lab);
    return won;
}

/*
 * Goal: the order of two racing steps does not depend on the number of independent steps before
 * each; an even walk lets the shorter one win nearly always.
 * Method: task 0 has 6 other polls before it writes a, task 1 none. Task 1's priority stays
 * until the race, so task 0 has to draw 6 higher ones, then to win: once in 8 runs. A walk that
 * draws both each time lets it win once in 128.
 */
TEST(pos_race_is_open_whatever_comes_before_it)
{
    const uint32_t runs = 2000;
    set_script(".,bBcCa", "a", NULL);
    uint32_t of_pos = count_wins("pos", runs);
    uint32_t of_random = count_wins("random", runs);
    EXPECT(of_random > runs / 100 * 98);
    EXPECT(of_pos > runs / 100 * 80);
    EXPECT(of_pos < runs / 100 * 93);
}

/* A constraint, in how many runs it was drawn, and kept. */
struct tally {
    uint32_t write;
    uint32_t read;
    bool negative;
    uint32_t drawn;
    uint32_t satisfied;
};

#define TALLIES 64u

static void
count_constraint(struct tally tallies[TALLIES], uint32_t *count, const struct sim_constraint *one)
{
    uint32_t at = 0;
    while (at < *count && (tallies[at].write != one->write || tallies[at].read != one->read ||
                                  tallies[at].negative != one->negative)) {
        at++;
    }
    ck_assert_uint_lt(at, TALLIES);
    if (at == *count) {
        tallies[(*count)++] = (struct tally){one->write, one->read, one->negative, 0, 0};
    }
    tallies[at].drawn++;
    tallies[at].satisfied += one->satisfied;
}

/* What differs between the constraints of a run and those of its parent. */
enum change { NOTHING, MORE, LESS, WRITER, NEGATION, SOMETHING_ELSE, CHANGED };

static bool
same_pair(const struct sim_constraint *a, const struct sim_corpus_pair *b)
{
    return a->write == b->write && a->read == b->read && a->negative == (b->negative != 0);
}

static enum change
change_of(const struct sim_strategy *strategy, const struct sim_corpus_set *parent)
{
    struct sim_constraint now[SIM_CONSTRAINTS_MAX];
    uint32_t count = sim_rf_constraints(strategy, now);
    uint32_t kept = 0;
    const struct sim_constraint *other = NULL;
    const struct sim_corpus_pair *was = NULL;
    for (uint32_t i = 0; i < count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < parent->count && !found; k++) {
            found = same_pair(&now[i], &parent->constraints[k]);
        }
        kept += found;
        other = found ? other : &now[i];
    }
    for (uint32_t k = 0; k < parent->count; k++) {
        bool found = false;
        for (uint32_t i = 0; i < count && !found; i++) {
            found = same_pair(&now[i], &parent->constraints[k]);
        }
        was = found ? was : &parent->constraints[k];
    }
    if (count == parent->count + 1 && kept == parent->count) {
        return MORE;
    }
    if (count + 1 == parent->count && kept == count) {
        return LESS;
    }
    if (count != parent->count || kept + 1 < count || other == NULL || was == NULL) {
        return kept == count && count == parent->count ? NOTHING : SOMETHING_ELSE;
    }
    bool negated = other->negative != (was->negative != 0);
    return other->read == was->read && other->write == was->write && negated ? NEGATION
           : other->read == was->read && !negated                            ? WRITER
                                                                             : SOMETHING_ELSE;
}

/*
 * Goal: a run that inherits constraints changes one of them, in each of the four ways.
 * Method: the constraints of a run are a parent; those of 300 runs after it are compared with it.
 */
TEST(rf_changes_one_of_the_constraints_that_it_inherits)
{
    struct search_lab lab;
    uint32_t seen[CHANGED] = {0};
    struct sim_constraint first[SIM_CONSTRAINTS_MAX];
    struct sim_corpus_set parent = {.count = 1};
    set_script("ababab", "A.B.A", "b.a.B");
    search_lab_init(&lab, "rf:n=1");
    search_lab_school(&lab, &script_scenario, 1, 64);
    (void)search_lab_run(&lab, &script_scenario, 1, false);
    EXPECT_EQ(sim_rf_constraints(lab.strategy, first), 1);
    parent.constraints[0] =
            (struct sim_corpus_pair){first[0].write, first[0].read, first[0].negative};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        sim_rf_begin_with(lab.strategy, seed, &parent);
        seen[change_of(lab.strategy, &parent)]++;
    }
    for (uint32_t change = MORE; change <= NEGATION; change++) {
        EXPECT(seen[change] > 20);
    }
    EXPECT_EQ(seen[SOMETHING_ELSE], 0);
    search_lab_fini(&lab);
}

/*
 * Goal: a constraint that can be kept is kept in nine of ten runs.
 * Method: two cells, written and read by three tasks among steps that do nothing: "B reads what b
 * wrote", "B reads the initial value", the same of A, and their negations. All eight can be kept,
 * independently; each must be satisfied in 90 % of the runs that drew it.
 */
TEST(rf_keeps_its_constraint)
{
    struct tally tallies[TALLIES];
    struct search_lab lab;
    uint32_t count = 0;
    set_script("a,.b", "A.B,a", ",bA.");
    search_lab_init(&lab, "rf:n=1");
    search_lab_school(&lab, &script_scenario, 1, 64);
    for (uint32_t i = 0; i < 2000; i++) {
        struct sim_constraint constraints[SIM_CONSTRAINTS_MAX];
        (void)search_lab_run(&lab, &script_scenario, 1000 + i, false);
        ck_assert_uint_eq(sim_rf_constraints(lab.strategy, constraints), 1);
        count_constraint(tallies, &count, &constraints[0]);
    }
    EXPECT_EQ(count, 8);
    for (uint32_t i = 0; i < count; i++) {
        EXPECT(tallies[i].satisfied * 10 >= tallies[i].drawn * 9);
    }
    search_lab_fini(&lab);
}

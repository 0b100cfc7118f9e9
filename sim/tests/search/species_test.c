/*
 * species_test.c -- counting species, and what follows from the counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/test.h"
#include "sim/search/cover/species.h"

#define CAPACITY 64u

static struct sim_species_entry entries[CAPACITY];
static struct sim_species_entry others[CAPACITY];

static uint64_t
number(uint64_t i)
{
    return i * UINT64_C(0x9e3779b97f4a7c15) + 17;
}

/* Field by field: what lies between them is anything. */
static bool
same_census(const struct sim_census *a, const struct sim_census *b)
{
    return a->runs == b->runs && a->seen == b->seen && a->once == b->once && a->twice == b->twice &&
           a->level == b->level;
}

/* Goal: the estimates are those of the books.
 * Method: known answers by hand: 5 species in 10 runs, 3 of them once and 1 twice. Good-Turing
 * 3/10; Chao1 5 + 3*2/(2*2) = 6.5, cut to 6. */
TEST(species_estimates_are_the_known_answers)
{
    struct sim_species species;
    sim_species_init(&species, entries, CAPACITY);
    struct sim_census census = sim_species_census(&species);
    EXPECT_EQ(sim_census_unseen_ppm(&census), 1000000);
    EXPECT_EQ(sim_census_chao1(&census), 0);
    static const uint64_t runs[] = {1, 1, 1, 2, 5};
    for (uint32_t i = 0; i < 5; i++) {
        sim_species_note(&species, number(i), runs[i]);
    }
    census = sim_species_census(&species);
    EXPECT_EQ(census.runs, 10);
    EXPECT_EQ(census.seen, 5);
    EXPECT_EQ(census.once, 3);
    EXPECT_EQ(census.twice, 1);
    EXPECT_EQ(sim_census_unseen_ppm(&census), 300000);
    EXPECT_EQ(sim_census_chao1(&census), 6);
    /* All seen often: nothing is left, and nothing is estimated. */
    for (uint32_t i = 0; i < 5; i++) {
        sim_species_note(&species, number(i), 10);
    }
    census = sim_species_census(&species);
    EXPECT_EQ(sim_census_unseen_ppm(&census), 0);
    EXPECT_EQ(sim_census_chao1(&census), 5);
    /* 1,000 once, 10 twice: 1,010 + 1000*999/22. */
    const struct sim_census many = {.runs = 1020, .seen = 1010, .once = 1000, .twice = 10};
    EXPECT_EQ(sim_census_chao1(&many), 1010 + 45409);
}

/* Goal: more species than the capacity are estimated, and none that is kept is lost.
 * Method: 10,000 species in 64 places, each noted twice, in two orders: the same census, within a
 * third of the truth; a kept one's count is exact. */
TEST(species_beyond_its_memory_are_sampled)
{
    struct sim_species species;
    sim_species_init(&species, entries, CAPACITY);
    for (uint64_t i = 0; i < 20000; i++) {
        sim_species_note(&species, number(i % 10000), 1);
    }
    struct sim_census census = sim_species_census(&species);
    EXPECT(census.level > 0);
    EXPECT_EQ(census.runs, 20000);
    EXPECT_EQ(census.once, 0);
    EXPECT_EQ(census.twice, census.seen);
    EXPECT(census.seen > 6600 && census.seen < 13400);

    struct sim_species other;
    sim_species_init(&other, others, CAPACITY);
    for (uint64_t i = 10000; i > 0; i--) {
        sim_species_note(&other, number(i - 1), 2);
    }
    struct sim_census same = sim_species_census(&other);
    EXPECT(same_census(&same, &census));
}

/* Goal: what is counted apart and merged is what is counted together. */
TEST(species_merge_is_counting_together)
{
    struct sim_species one;
    struct sim_species two;
    sim_species_init(&one, entries, CAPACITY);
    sim_species_init(&two, others, CAPACITY);
    for (uint64_t i = 0; i < 3000; i++) {
        sim_species_note(i % 3 == 0 ? &one : &two, number(i % 700), 1);
    }
    sim_species_merge(&one, &two);
    struct sim_census apart = sim_species_census(&one);
    sim_species_clear(&two);
    for (uint64_t i = 0; i < 3000; i++) {
        sim_species_note(&two, number(i % 700), 1);
    }
    struct sim_census together = sim_species_census(&two);
    EXPECT(same_census(&apart, &together));
}

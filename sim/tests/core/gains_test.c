/*
 * gains_test.c -- the gains of two replays, compared.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/record/gains.h"

#include <stdlib.h>

#include "sim/tests/lab.h"

static struct sim_gains *
gains_new(void)
{
    return calloc(1, sizeof(struct sim_gains));
}

static void
add(struct sim_gains *gains, uint32_t kind, uint32_t of, uint64_t at_ns)
{
    const struct sim_gain gain = {.kind = kind, .of = of, .at_ns = at_ns, .amount = 1};
    sim_gains_add(gains, &gain);
}

/* A permit of `amount` from object 7, taken by actor 3 in step 5. */
static void
take(struct sim_gains *gains, uint64_t amount)
{
    const struct sim_gain gain = {
            .kind = SIM_GAIN_CONSUMED, .of = 7, .amount = amount, .step = 5, .actor = 3};
    sim_gains_add(gains, &gain);
}

TEST(gains_a_permit_given_back_in_the_same_poll_is_none)
{
    struct sim_gains *gains = gains_new();
    take(gains, 2);
    sim_gains_put_back(gains, 7, 1, 5, 3);
    EXPECT_EQ(gains->count, 1);
    sim_gains_put_back(gains, 7, 1, 5, 3);
    EXPECT_EQ(gains->count, 0);
    free(gains);
}

TEST(gains_a_permit_given_back_elsewhere_stays_one)
{
    struct sim_gains *gains = gains_new();
    take(gains, 1);
    sim_gains_put_back(gains, 8, 1, 5, 3); /* Another object, … */
    sim_gains_put_back(gains, 7, 1, 6, 3); /* … a later step, … */
    sim_gains_put_back(gains, 7, 1, 5, 4); /* … another actor. */
    EXPECT_EQ(gains->count, 1);
    free(gains);
}

TEST(gains_are_more_by_kind_and_object)
{
    struct sim_gains *with = gains_new();
    struct sim_gains *without = gains_new();
    EXPECT(!sim_gains_more(with, without));
    add(with, SIM_GAIN_CONSUMED, 1, 10);
    EXPECT(sim_gains_more(with, without));
    add(without, SIM_GAIN_CONSUMED, 2, 10);
    add(without, SIM_GAIN_COMPLETED, 1, 10);
    EXPECT(sim_gains_more(with, without));
    add(without, SIM_GAIN_CONSUMED, 1, 90);
    EXPECT(!sim_gains_more(with, without));
    add(with, SIM_GAIN_CONSUMED, 1, 20);
    EXPECT(sim_gains_more(with, without));
    free(with);
    free(without);
}

TEST(gains_are_earlier_by_more_than_the_slack)
{
    struct sim_gains *with = gains_new();
    struct sim_gains *without = gains_new();
    add(with, SIM_GAIN_COMPLETED, 1, 100);
    add(without, SIM_GAIN_COMPLETED, 1, 150);
    EXPECT(sim_gains_earlier(with, without, 49, SIM_GAIN_COMPLETED, 1));
    EXPECT(!sim_gains_earlier(with, without, 50, SIM_GAIN_COMPLETED, 1));
    EXPECT(!sim_gains_earlier(with, without, 0, SIM_GAIN_COMPLETED, 2));
    EXPECT(!sim_gains_earlier(without, with, 0, SIM_GAIN_COMPLETED, 1));
    free(with);
    free(without);
}

/* Matched from the last one backwards: one more at the beginning makes no other earlier. */
TEST(gains_are_matched_from_the_last_one_backwards)
{
    struct sim_gains *with = gains_new();
    struct sim_gains *without = gains_new();
    add(with, SIM_GAIN_CONSUMED, 1, 10);
    add(with, SIM_GAIN_CONSUMED, 1, 100);
    add(without, SIM_GAIN_CONSUMED, 1, 100);
    EXPECT(!sim_gains_earlier(with, without, 0, SIM_GAIN_CONSUMED, 1));
    free(with);
    free(without);
}

/* A replay with fewer gains has none that is earlier. */
TEST(gains_of_which_some_are_lost_are_not_earlier)
{
    struct sim_gains *with = gains_new();
    struct sim_gains *without = gains_new();
    add(with, SIM_GAIN_CONSUMED, 1, 10);
    add(without, SIM_GAIN_CONSUMED, 1, 10);
    add(without, SIM_GAIN_CONSUMED, 1, 400);
    EXPECT(!sim_gains_earlier(with, without, 0, SIM_GAIN_CONSUMED, 1));
    free(with);
    free(without);
}

TEST(gains_beyond_the_journal_set_full)
{
    struct sim_gains *gains = gains_new();
    for (uint32_t i = 0; i < SIM_GAINS_MAX; i++) {
        add(gains, SIM_GAIN_CONSUMED, i, i);
    }
    EXPECT(!gains->full);
    add(gains, SIM_GAIN_CONSUMED, 0, 0);
    EXPECT(gains->full);
    EXPECT_EQ(gains->count, SIM_GAINS_MAX);
    sim_gains_clear(gains);
    EXPECT(!gains->full);
    free(gains);
}

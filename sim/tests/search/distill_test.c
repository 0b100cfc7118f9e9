/*
 * distill_test.c -- few runs that cover what many cover.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/test.h"
#include "sim/search/cover/distill.h"

/* Goal: greedy, earlier first, and complete.
 * Method: the largest set is first, then of two that add two each the earlier; one that adds
 * nothing is left out. */
TEST(distill_takes_the_run_that_adds_most)
{
    static const uint64_t a[] = {1, 2};
    static const uint64_t b[] = {3, 4, 5};
    static const uint64_t c[] = {1, 2, 3, 6};
    static const uint64_t d[] = {4, 5};
    static const uint64_t e[] = {7};
    const struct sim_cover_set sets[] = {{a, 2}, {b, 3}, {c, 4}, {d, 2}, {e, 1}, {NULL, 0}};
    struct sim_taken taken[6];
    EXPECT_EQ(sim_distill(sets, 6, taken), 3);
    EXPECT_EQ(taken[0].set, 2);
    EXPECT_EQ(taken[0].adds, 4);
    EXPECT_EQ(taken[1].set, 1);
    EXPECT_EQ(taken[1].adds, 2);
    EXPECT_EQ(taken[2].set, 4);
    EXPECT_EQ(taken[2].covered, 7);
    EXPECT_EQ(sim_distill(sets, 0, taken), 0);
}

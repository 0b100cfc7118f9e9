/*
 * uniform_test.c -- urw and surw: what they say is equally probable is so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "sim/tests/search/search_lab.h"

#define ORDERS_MAX 128u

/* Orders that were met, and how often. */
struct orders {
    char texts[ORDERS_MAX][SCRIPT_POLLS + 1];
    uint32_t counts[ORDERS_MAX];
    uint32_t count;
};

static void
meet(struct orders *orders, const char *text)
{
    for (uint32_t i = 0; i < orders->count; i++) {
        if (strcmp(orders->texts[i], text) == 0) {
            orders->counts[i]++;
            return;
        }
    }
    ck_assert_uint_lt(orders->count, ORDERS_MAX);
    (void)snprintf(orders->texts[orders->count], SCRIPT_POLLS + 1, "%s", text);
    orders->counts[orders->count++] = 1;
}

static void
set_script(const char *one, const char *two, const char *three)
{
    script[0] = one;
    script[1] = two;
    script[2] = three;
    script[3] = NULL;
}

/* `runs` runs after 64 that teach; counts the orders in which `cell` was touched. */
static void
sample(const char *strategy, char cell, uint32_t runs, struct orders *orders)
{
    struct search_lab lab;
    char text[SCRIPT_POLLS + 1];
    memset(orders, 0, sizeof(*orders));
    search_lab_init(&lab, strategy);
    search_lab_school(&lab, &script_scenario, 1, 64);
    for (uint32_t i = 0; i < runs; i++) {
        (void)search_lab_run(&lab, &script_scenario, 1000 + i, false);
        script_order(cell, text);
        meet(orders, text);
    }
    search_lab_fini(&lab);
}

/*
 * Goal: each interleaving has the same probability, however uneven the tasks are.
 * Method: 6 steps and 2 interleave in 28 ways; chi-square over 14,000 runs. An even choice at each
 * step would meet some of them 60 times as often as others.
 */
TEST(urw_interleavings_are_equally_probable)
{
    static struct orders orders;
    set_script("......", "..", NULL);
    sample("urw", '*', 14000, &orders);
    EXPECT_EQ(orders.count, 28);
    /* 27 degrees of freedom: above 49.6 once in 200. */
    EXPECT(chi_square(orders.counts, orders.count) < 49600);
}

/*
 * Goal: the same for the touches of one object, whatever else the tasks do, before and between.
 * Method: 2, 1 and 2 touches among other steps, in an order of 30; chi-square over 15,000 runs.
 */
TEST(surw_orders_of_one_object_are_equally_probable)
{
    static struct orders orders;
    set_script("a,A.", ",a", ".A,a");
    sample("surw", 'a', 15000, &orders);
    EXPECT_EQ(orders.count, 30);
    /* 29 degrees of freedom: above 52.3 once in 200. */
    EXPECT(chi_square(orders.counts, orders.count) < 52300);
}

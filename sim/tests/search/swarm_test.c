/*
 * swarm_test.c -- options that a seed draws.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/swarm.h"

#include <string.h>

#include "runtime/tests/test.h"
#include "sim/core/scenario.h"

#define SEEDS 20000u

static const struct sim_param params[] = {{"tasks", "how many", 4, 1, 9}, {0}};
static const struct sim_scenario scenario = {
        .name = "test/swarm", .params = params, .survives = SIM_FAULT_NET | SIM_FAULT_EINTR};

static struct sim_options
drawn(uint64_t seed, uint32_t given)
{
    struct sim_options options;
    sim_options_init(&options, &scenario);
    sim_swarm_draw(seed, &scenario, &options, given, &options);
    return options;
}

static bool
is_declared(const struct sim_options *options)
{
    struct sim_options usual;
    sim_options_init(&usual, &scenario);
    return memcmp(&usual, options, sizeof(usual)) == 0;
}

/* `count` of SEEDS is `share` in 1,000, give or take a fortieth of all. */
static bool
is_about(uint32_t count, uint32_t share)
{
    uint32_t wanted = SEEDS / 1000 * share;
    return count > wanted - SEEDS / 40 && count < wanted + SEEDS / 40;
}

/* Goal: half of the runs are as they were declared, and each frequency is met at its rate. */
TEST(swarm_draws_each_rate_as_often_as_it_says)
{
    uint32_t declared = 0;
    uint32_t late[65] = {0};
    uint32_t fault_free = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct sim_options options = drawn(seed, 0);
        declared += is_declared(&options);
        EXPECT(options.spurious_one_in <= 128);
        late[options.spurious_one_in < 64 ? options.spurious_one_in : 64]++;
        fault_free += options.fault_free_after != 0;
        bool barrage = options.fault_one_in != 0 && options.fault_one_in < 32;
        EXPECT(!barrage || (options.fault_free_after >= 64 && options.fault_free_after <= 2048));
    }
    EXPECT(is_about(declared, 500));
    EXPECT(is_about(late[32], 600));
    EXPECT(is_about(late[0], 100));
    EXPECT(is_about(late[64], 100));
    EXPECT(is_about(late[8], 100));
    EXPECT(is_about(late[2], 100));
    EXPECT(is_about(fault_free, 470)); /* Half of (3/5)^4, and all of the rest, of half. */
}

/* Goal: a scenario is not blamed for faults that it never claimed to survive. */
TEST(swarm_permits_no_fault_that_is_not_in_force)
{
    uint32_t off = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct sim_options options = drawn(seed, 0);
        if (options.faults != SIM_FAULT_FROM_SCENARIO) {
            EXPECT_EQ(options.faults & ~scenario.survives, 0);
            off += (options.faults & SIM_FAULT_NET) == 0;
        }
    }
    EXPECT(is_about(off, 250));
}

/* Goal: what was given stays; parameters are the user's; all that is drawn may be set. */
TEST(swarm_touches_neither_what_was_given_nor_parameters)
{
    uint32_t given = 1u << SIM_OPTION_late_one_in | 1u << SIM_OPTION_faults;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct sim_options options = drawn(seed, given);
        EXPECT_EQ(options.late_one_in, sim_option_default(SIM_OPTION_late_one_in));
        EXPECT_EQ(options.faults, SIM_FAULT_FROM_SCENARIO);
        EXPECT_EQ(options.params[0], 4);
        for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
            EXPECT(sim_option_valid(i, sim_option_get(&options, i)));
        }
        struct sim_options other = drawn(seed, 0);
        EXPECT_EQ(options.spurious_one_in, other.spurious_one_in);
    }
}

/* Goal: the reader sees what is different, in the words of the command line. */
TEST(swarm_says_what_it_has_drawn)
{
    struct sim_options usual;
    struct sim_options options;
    struct sim_page page;
    sim_page_init(&page, false);
    sim_options_init(&usual, &scenario);
    options = usual;
    sim_page_clear(&page);
    sim_swarm_text(&page, &scenario, &usual, &options);
    EXPECT_STR(sim_page_text(&page), "");
    options.late_one_in = 2;
    options.faults = SIM_FAULT_EINTR;
    sim_page_clear(&page);
    sim_swarm_text(&page, &scenario, &usual, &options);
    EXPECT_STR(sim_page_text(&page), "late_one_in=2, faults off: net");
    options.late_one_in = usual.late_one_in;
    options.faults = 0;
    sim_page_clear(&page);
    sim_swarm_text(&page, &scenario, &usual, &options);
    EXPECT_STR(sim_page_text(&page), "faults off: eintr net");
    sim_page_fini(&page);
}

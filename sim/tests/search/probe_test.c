/*
 * probe_test.c -- keys are found again, with and without a limit on places.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/base/probe.h"

#include "runtime/tests/test.h"

#define BITS 4u
#define KEYS (1u << BITS)

TEST(probe_finds_what_was_set)
{
    struct sim_key keys[KEYS] = {{0, 0}};
    for (uint32_t key = 0; key < KEYS - 1; key++) {
        uint32_t place = sim_probe_all(keys, BITS, 7, key * 1000);
        EXPECT(place < KEYS);
        EXPECT(sim_probe_set(keys, place, 7, key * 1000));
    }
    for (uint32_t key = 0; key < KEYS - 1; key++) {
        uint32_t place = sim_probe_all(keys, BITS, 7, key * 1000);
        EXPECT_EQ(keys[place].key, key * 1000);
        EXPECT(!sim_probe_set(keys, place, 7, key * 1000));
    }
    uint32_t missing = sim_probe_all(keys, BITS, 7, 999);
    EXPECT_EQ(keys[missing].stamp, 0);
    uint32_t empty = sim_probe_all(keys, BITS, 8, 999); /* Another stamp: all are free. */
    EXPECT_EQ(empty, sim_probe_start(BITS, 999));
}

TEST(probe_gives_up_after_so_many_places)
{
    struct sim_key keys[KEYS] = {{0, 0}};
    uint32_t start = sim_probe_start(BITS, 5);
    for (uint32_t i = 0; i < 3; i++) {
        (void)sim_probe_set(keys, (start + i) % KEYS, 1, 100 + i);
    }
    EXPECT_EQ(sim_probe(keys, BITS, 3, 1, 5), UINT32_MAX);
    EXPECT_EQ(sim_probe(keys, BITS, 4, 1, 5), (start + 3) % KEYS);
}

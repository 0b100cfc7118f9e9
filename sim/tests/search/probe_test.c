/*
 * probe_test.c -- keys are found again, with and without a limit on places.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/base/probe.h"

#include "runtime/tests/test.h"

#define BITS 4u
#define PLACES (1u << BITS)

struct entry {
    struct sim_key key;
    uint32_t value;
};

static uint32_t
place_of(const struct entry *entries, uint32_t stamp, uint32_t key)
{
    return sim_probe_all(entries, sizeof(*entries), BITS, stamp, key);
}

TEST(probe_finds_what_was_set)
{
    struct entry entries[PLACES] = {{{0, 0}, 0}};
    for (uint32_t i = 0; i < PLACES - 1; i++) {
        uint32_t place = place_of(entries, 7, i * 1000);
        EXPECT(place < PLACES);
        EXPECT_EQ(entries[place].key.stamp, 0);
        entries[place] = (struct entry){{i * 1000, 7}, i};
    }
    for (uint32_t i = 0; i < PLACES - 1; i++) {
        EXPECT_EQ(entries[place_of(entries, 7, i * 1000)].value, i);
    }
    EXPECT_EQ(entries[place_of(entries, 7, 999)].key.stamp, 0);
    EXPECT_EQ(place_of(entries, 8, 999), sim_probe_start(BITS, 999)); /* All are free. */
}

TEST(probe_ends_after_so_many_places)
{
    struct entry entries[PLACES] = {{{0, 0}, 0}};
    uint32_t start = sim_probe_start(BITS, 5);
    for (uint32_t i = 0; i < 3; i++) {
        entries[(start + i) % PLACES].key = (struct sim_key){100 + i, 1};
    }
    EXPECT_EQ(sim_probe(entries, sizeof(*entries), BITS, 3, 1, 5), UINT32_MAX);
    EXPECT_EQ(sim_probe(entries, sizeof(*entries), BITS, 4, 1, 5), (start + 3) % PLACES);
}

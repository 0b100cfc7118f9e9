/*
 * shared_test.c -- a run that writes over the results is found by their checksum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/worker/shared.h"

#include <string.h>

#include "sim/tests/lab.h"

#define RUNS 3u

static struct sim_shared *
shared_with_runs(void)
{
    struct sim_shared *shared = sim_shared_new(&sim_shared_for_candidates);
    EXPECT(shared != NULL);
    shared->job = (struct sim_job){.spec.seed = 7, .count = RUNS + 1};
    sim_shared_begin(shared);
    for (uint32_t i = 0; i < RUNS; i++) {
        const struct sim_outcome outcome = {.seed = 7 + i, .steps = 12, .digest = 0x1234567 + i};
        sim_shared_add(shared, &outcome, 0);
        EXPECT(sim_shared_checksums_match(shared, true));
    }
    return shared;
}

static uint8_t *
bytes_of(struct sim_shared *shared)
{
    return (uint8_t *)&shared->results[shared->which];
}

/* Goal: no bit of them is outside of the checksum. Method: flip each. */
TEST(shared_every_bit_of_the_results_is_summed)
{
    struct sim_shared *shared = shared_with_runs();
    for (size_t i = 0; i < sizeof(struct sim_results) * 8; i++) {
        bytes_of(shared)[i / 8] ^= (uint8_t)(1u << i % 8);
        EXPECT(!sim_shared_checksums_match(shared, false));
        bytes_of(shared)[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    EXPECT(sim_shared_checksums_match(shared, true));
    sim_shared_free(&shared, &sim_shared_for_candidates);
}

/* The commonest wild write: memory filled with one byte, also all of it. */
TEST(shared_results_filled_with_any_byte_do_not_sum_up)
{
    struct sim_shared *shared = shared_with_runs();
    const struct sim_results results = *sim_shared_results(shared);
    for (uint32_t byte = 0; byte < 256; byte++) {
        for (size_t from = 0; from < sizeof(results); from += 8) {
            memset(bytes_of(shared) + from, (int)byte, sizeof(results) - from);
            EXPECT(!sim_shared_checksums_match(shared, false));
            memcpy(bytes_of(shared), &results, sizeof(results));
        }
    }
    sim_shared_free(&shared, &sim_shared_for_candidates);
}

static void
add(struct sim_shared *shared, size_t word, uint64_t change)
{
    uint64_t value;
    memcpy(&value, bytes_of(shared) + word * sizeof(value), sizeof(value));
    value += change;
    memcpy(bytes_of(shared) + word * sizeof(value), &value, sizeof(value));
}

/* Counters that go up and down do not make up for each other. */
TEST(shared_two_small_changes_of_the_results_do_not_cancel)
{
    struct sim_shared *shared = shared_with_runs();
    const size_t words = sizeof(struct sim_results) / sizeof(uint64_t);
    for (size_t i = 0; i < words * words * 16; i++) {
        const size_t one = i / 16 / words;
        const size_t other = i / 16 % words;
        const uint64_t up = 1 + i % 4;
        const uint64_t down = 1 + i / 4 % 4;
        if (one != other) {
            add(shared, one, up);
            add(shared, other, 0 - down);
            EXPECT(!sim_shared_checksums_match(shared, false));
            add(shared, one, 0 - up);
            add(shared, other, down);
        }
    }
    EXPECT(sim_shared_checksums_match(shared, true));
    sim_shared_free(&shared, &sim_shared_for_candidates);
}

/*
 * shared_test.c -- a run that writes over the results is found by their checksum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/worker/shared.h"

#include <string.h>

#include "sim/tests/lab.h"

#define RUNS 3u

struct mapping {
    struct sim_shared *shared;
    struct sim_shared_parts parts;
};

static struct mapping
mapping_with_runs(void)
{
    struct mapping mapping;
    mapping.shared = sim_shared_new(&sim_shared_for_candidates, &mapping.parts);
    EXPECT(mapping.shared != NULL);
    mapping.shared->job = (struct sim_job){.spec.seed = 7, .count = RUNS + 1, .keep_all = true};
    sim_shared_begin(mapping.shared);
    for (uint32_t i = 0; i < RUNS; i++) {
        const struct sim_outcome outcome = {.seed = 7 + i, .steps = 12, .digest = 0x1234567 + i};
        sim_shared_add(mapping.shared, &outcome, 0);
    }
    return mapping;
}

static bool
is_valid(struct mapping *mapping)
{
    struct sim_job job;
    memcpy(&job, &mapping->shared->job, sizeof(job));
    return sim_shared_is_valid(mapping->shared, &mapping->parts, &job);
}

static uint8_t *
bytes_of(struct mapping *mapping)
{
    return (uint8_t *)mapping->shared->results;
}

/* Goal: no bit of them is outside of the checksum. Method: flip each. */
TEST(shared_every_bit_of_the_results_is_summed)
{
    struct mapping mapping = mapping_with_runs();
    for (size_t i = 0; i < RUNS * sizeof(struct sim_run_result) * 8; i++) {
        bytes_of(&mapping)[i / 8] ^= (uint8_t)(1u << i % 8);
        EXPECT(!is_valid(&mapping));
        bytes_of(&mapping)[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    EXPECT(is_valid(&mapping));
    sim_shared_free(&mapping.shared, &mapping.parts);
}

/* The commonest wild write: memory filled with one byte, also all of it. */
TEST(shared_results_filled_with_any_byte_do_not_sum_up)
{
    struct mapping mapping = mapping_with_runs();
    struct sim_run_result results[RUNS];
    memcpy(results, mapping.shared->results, sizeof(results));
    for (uint32_t byte = 0; byte < 256; byte++) {
        for (size_t from = 0; from < sizeof(results); from += 8) {
            memset(bytes_of(&mapping) + from, (int)byte, sizeof(results) - from);
            EXPECT(!is_valid(&mapping));
            memcpy(bytes_of(&mapping), results, sizeof(results));
        }
    }
    sim_shared_free(&mapping.shared, &mapping.parts);
}

static void
add(struct mapping *mapping, size_t word, uint64_t change)
{
    uint64_t value;
    memcpy(&value, bytes_of(mapping) + word * sizeof(value), sizeof(value));
    value += change;
    memcpy(bytes_of(mapping) + word * sizeof(value), &value, sizeof(value));
}

/* Counters that go up and down do not make up for each other. */
TEST(shared_two_small_changes_of_the_results_do_not_cancel)
{
    struct mapping mapping = mapping_with_runs();
    const size_t words = RUNS * sizeof(struct sim_run_result) / sizeof(uint64_t);
    for (size_t i = 0; i < words * words * 16; i++) {
        const size_t one = i / 16 / words;
        const size_t other = i / 16 % words;
        const uint64_t up = 1 + i % 4;
        const uint64_t down = 1 + i / 4 % 4;
        if (one != other) {
            add(&mapping, one, up);
            add(&mapping, other, 0 - down);
            EXPECT(!is_valid(&mapping));
            add(&mapping, one, 0 - up);
            add(&mapping, other, down);
        }
    }
    EXPECT(is_valid(&mapping));
    sim_shared_free(&mapping.shared, &mapping.parts);
}

/*
 * distill.h -- few runs that cover what many cover.
 *
 * The smallest such set is hard to find (set cover). The greedy one repeatedly takes the run that
 * adds most, and is at most ln(n) + 1 times as large (Chvatal 1979). Ties go to the earlier run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What one run covers: ids of coverage points (element.h), each once. Borrowed. */
struct sim_cover_set {
    const uint64_t *ids;
    uint32_t count;
};

/* A run that was taken. */
struct sim_taken {
    uint32_t set;     /* Its place in the array. */
    uint32_t adds;    /* Points that those before it do not cover. */
    uint32_t covered; /* With it. */
};

/*
 * Fills `ret` (of `count` entries) with the sets that together cover what all do, in order, and
 * returns how many. Cold: it allocates, and aborts when out of memory.
 */
uint32_t sim_distill(const struct sim_cover_set *sets, uint32_t count, struct sim_taken *ret);

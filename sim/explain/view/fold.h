/*
 * fold.h -- where rows begin to repeat: one rule for the columns and for the ledger.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdint.h>

/*
 * How many rows after the first *ret_period from `start` on repeat them, in whole periods, before
 * `limit`; 0: too few to be worth a fold. Two rows are alike where `likeness` is the same number;
 * `rows` is what it is called with. The shortest period is taken, of at most 16 rows.
 */
uint32_t sim_fold_find(uint64_t (*likeness)(const void *rows, uint32_t row), const void *rows,
        uint32_t start, uint32_t limit, uint32_t *ret_period);

/* Adds `word` to the number that says how a row looks. */
static inline uint64_t
sim_fold_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 32;
}

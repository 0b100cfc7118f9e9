/*
 * fold.c -- finding the period of rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/view/fold.h"

#define PERIOD_MAX 16u
#define FOLD_MIN 6u /* Rows that a fold must save. */

uint32_t
sim_fold_find(uint64_t (*likeness)(const void *rows, uint32_t row), const void *rows,
        uint32_t start, uint32_t limit, uint32_t *ret_period)
{
    for (uint32_t period = 1; period <= PERIOD_MAX && start + period < limit; period++) {
        uint32_t i = start;
        while (i + period < limit && likeness(rows, i) == likeness(rows, i + period)) {
            i++;
        }
        uint32_t again = (i - start) / period * period;
        if (again >= 2 * period && again >= FOLD_MIN) {
            *ret_period = period;
            return again;
        }
    }
    return 0;
}

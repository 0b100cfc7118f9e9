/*
 * rf.h -- what a run of `rf` wanted, for tests and reports.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_STRATEGY_RF_H
#define SIM_STRATEGY_RF_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/decide/choice.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_CONSTRAINTS_MAX 4u

/* "Line `read` finds what line `write` left", or, when negative, that it does not. */
struct sim_constraint {
    uint32_t write;     /* 0: nobody has written. */
    uint32_t read;      /* A line, or the place of a sleeper (learn/states.h). */
    uint64_t resources; /* Bits of those that both lines touch. */
    bool negative;
    bool held; /* It came about in this run. */
};

/* Constraints of the run that `strategy`, which is an `rf`, has begun last; returns how many. */
uint32_t sim_rf_constraints(
        const struct sim_strategy *strategy, struct sim_constraint ret[SIM_CONSTRAINTS_MAX]);

#ifdef __cplusplus
}
#endif
#endif

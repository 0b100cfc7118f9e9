/*
 * rf.h -- what a run of `rf` wanted, for tests and reports.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_RF_H
#define SIM_SEARCH_RF_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/core/choice.h"
#include "sim/search/learn/corpus.h"
#include "sim/search/learn/facts.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_CONSTRAINTS_MAX SIM_CORPUS_WISHES

/* "Line `read` finds what line `write` left", or, when negative, that it does not. */
struct sim_constraint {
    uint32_t write;     /* 0: nobody has written. */
    uint32_t read;      /* A line, or the place of a blocked task (search/learn/states.h). */
    uint64_t resources; /* Bits of those that both lines touch. */
    bool negative;
    bool held; /* It came about in this run. */
};

/* Constraints of the run that `strategy`, which is an `rf`, has begun last; returns how many. */
uint32_t sim_rf_constraints(
        const struct sim_strategy *strategy, struct sim_constraint ret[SIM_CONSTRAINTS_MAX]);

/* As `begin` of `strategy`, which is an `rf`, but for what the run is to keep: the constraints of
 * `parent` with one change, drawn: one more, one less, another writing line, or its negation. What
 * nobody knows any more of them is left out. */
void sim_rf_begin_with(
        struct sim_strategy *strategy, uint64_t seed, const struct sim_corpus_set *parent);

/* Notes the constraints of the run that it has begun last as facts of run `run` of the sweep. */
void sim_rf_tell(const struct sim_strategy *strategy, struct sim_facts *facts, uint64_t run);

#ifdef __cplusplus
}
#endif
#endif

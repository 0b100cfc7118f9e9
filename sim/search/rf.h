/*
 * rf.h -- the constraints of a run of `rf`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/core/decide/choice.h"
#include "sim/search/learn/corpus.h"
#include "sim/search/learn/facts.h"

#define SIM_CONSTRAINTS_MAX SIM_CORPUS_CONSTRAINTS

/* "Line `read` sees the write of line `write`", or, when negative, that it does not. */
struct sim_constraint {
    uint32_t write;     /* 0: no line; the initial value. */
    uint32_t read;      /* A line, or the place of a blocked task (search/learn/states.h). */
    uint64_t resources; /* Bits of those that both lines touch. */
    bool negative;
    bool satisfied; /* In this run, at least once. */
};

/* Constraints of the last run that `strategy`, an `rf`, has begun; returns how many. */
uint32_t sim_rf_constraints(
        const struct sim_strategy *strategy, struct sim_constraint ret[SIM_CONSTRAINTS_MAX]);

/* As `begin` of `strategy`, an `rf`, but with the constraints of `parent` and one random change:
 * one more, one less, another writing line, or a negation. Those whose pair of lines is not known
 * to `strategy` are left out. */
void sim_rf_begin_with(
        struct sim_strategy *strategy, uint64_t seed, const struct sim_corpus_set *parent);

/* Notes the constraints of the last run that it has begun as facts of run `run` of the sweep. */
void sim_rf_note(const struct sim_strategy *strategy, struct sim_facts *facts, uint64_t run);

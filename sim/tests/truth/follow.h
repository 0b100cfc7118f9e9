/*
 * follow.h -- one run of a program, and what the reference model says of that very run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/tests/lab.h"
#include "sim/tests/truth/model.h"

/* What does not agree; see truth_kind_about. */
#define TRUTH_KIND_LIST(X) \
    X(AGREED, "the verdict is the model's") \
    X(SCHEDULE, "the run did what the model says is not possible") \
    X(FALSE_LATE, "late-wakeup, and nothing could make progress") \
    X(FALSE_LOST, "lost-wakeup, and nothing could make progress") \
    X(MISSED_LATE, "a wake was late, and the run passes") \
    X(MISSED_LOST, "a task could make progress, and it is called a deadlock") \
    X(OTHER, "a verdict that the model does not know") \
    X(UNREACHABLE, "no interleaving of the model ends so") \
    X(INCORRECT, "correct by construction, and the model finds a way to fail") \
    X(INCOMPLETE, "the model reaches a verdict, the whole of the simulator's runs does not")

enum truth_kind {
#define TRUTH_KIND_ENUM(name, about) TRUTH_KIND_##name,
    TRUTH_KIND_LIST(TRUTH_KIND_ENUM)
#undef TRUTH_KIND_ENUM
            TRUTH_KINDS
};

const char *truth_kind_about(uint32_t kind);

/* A run: the options that differ between runs, and how it ended. */
struct truth_run {
    uint64_t seed;
    struct sim_options options;
    struct sim_strategy *strategy;
    struct sim_outcome outcome; /* As judged. */
    struct truth_reach expected;
    enum truth_kind kind;
    bool open; /* The model leaves more than one verdict open. */
    char why[160];
};

/* The options of run `nth` of `program`: order, audits, reports for nothing, slow steps. */
void truth_run_options(struct truth_run *run, const struct truth_program *program, uint32_t nth);

/* Plays `program` once, leads the model along, judges the run, and compares. */
void truth_run_play(struct lab *lab, const struct truth_program *program, struct truth_run *run);

/* Bugs for the tests to find: each 0 unless set. */
extern struct truth_planted {
    bool judge_calls_deadlock_lost;
    bool judge_calls_late_pass;
    bool model_forgets_joiners;
} truth_planted;

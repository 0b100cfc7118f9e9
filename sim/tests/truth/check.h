/*
 * check.h -- many programs: their runs against the model, and the smallest that differs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/tests/truth/follow.h"

struct truth_counts {
    uint64_t programs;
    uint64_t runs;
    uint64_t open;       /* Runs of which the model leaves more than one verdict open. */
    uint64_t incomplete; /* Programs with more states than the model's table holds. */
    uint64_t walked;     /* Programs of which the simulator made all runs. */
    uint64_t unfound;    /* Programs with a verdict that the model reaches and no run found. */
    uint64_t verdicts[SIM_VERDICTS];
    uint64_t kinds[TRUTH_KINDS]; /* Programs, by what their first difference is. */
};

/* Random runs of each program; a program of which all runs are few is walked as well. */
struct truth_plan {
    uint32_t runs;
    uint32_t walk_max; /* Runs of a walk; 0: no walk. */
};

/* Checks one program: the first difference is in *ret, whose kind is AGREED when there is none. */
void truth_check(struct lab *lab, const struct truth_program *program,
        const struct truth_plan *plan, struct truth_counts *counts, struct truth_run *ret);

/* Removes actors and operations as long as a difference of the same kind stays. */
void truth_shrink(struct lab *lab, struct truth_program *program, const struct truth_plan *plan,
        enum truth_kind kind);

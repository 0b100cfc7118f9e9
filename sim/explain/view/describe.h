/*
 * describe.h -- a run, described to a reader who has never seen this tool.
 *
 *   headline      one sentence: which task, waiting for what, since when
 *   columns       the run, folded, with the missing wake marked
 *   ledger        the life of every wait
 *   why           what became of the waker, with lines of source, and what the verdict is
 *   stacks        where each thread of a program was
 *
 * All of it from the events and texts of one replay and its outcome: no database, no
 * scenario. No line is wider than the page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/base/page.h"
#include "sim/core/record/outcome.h"
#include "sim/core/record/recorder.h"

/* What is to be described; all of it borrowed. */
struct sim_run_view {
    const struct sim_recorder *recorder;
    const struct sim_outcome *outcome;
    uint32_t rows_max; /* SIM_ROWS_DEFAULT is usual; 0: everything, nothing folded. */
    /* Of a deadlock: a replay asked more than the judge does, and a task made progress; the answer
     * stands elsewhere. */
    bool progressed;
    uint32_t first;        /* … the actor that is named first; 0: any. */
    const uint64_t *cited; /* Steps that the columns do not leave out, at most SIM_CITED_MAX. */
    uint32_t cited_count;
};

#define SIM_CITED_MAX 32u

/* Adds to `count` steps those to which `page` refers, up to SIM_CITED_MAX; returns how many there
 * are then. */
uint32_t sim_describe_cited(const struct sim_page *page, uint64_t *steps, uint32_t count);

/* Sections, in the order in which they are printed. */
enum {
    SIM_DESCRIBE_HEADLINE = 1u << 0,
    SIM_DESCRIBE_COLUMNS = 1u << 1,
    SIM_DESCRIBE_LEDGER = 1u << 2,
    SIM_DESCRIBE_WHY = 1u << 3,
    SIM_DESCRIBE_STACKS = 1u << 4,
    /* A failure report. */
    SIM_DESCRIBE_FAILURE =
            SIM_DESCRIBE_HEADLINE | SIM_DESCRIBE_COLUMNS | SIM_DESCRIBE_WHY | SIM_DESCRIBE_STACKS
};

/* Adds these sections, with an empty line between two; a section may be empty. */
void sim_describe_run(struct sim_page *page, const struct sim_run_view *view, unsigned sections);

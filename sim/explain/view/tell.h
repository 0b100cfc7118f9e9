/*
 * tell.h -- a failure, told to somebody who has never seen this tool.
 *
 *   one sentence      who, waiting for what, since when
 *   the columns       the run, folded, with the missing wake marked
 *   why               what became of the waker, with lines of source
 *   what it is        this kind of verdict, in a sentence
 *   the commands      given by the caller
 *
 * All of it from the events and texts of one replay and its outcome: no database, no
 * scenario. No line is wider than 100 columns, except a command, which must be
 * pasted as it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_EXPLAIN_VIEW_TELL_H
#define SIM_EXPLAIN_VIEW_TELL_H

#include "runtime/base/error.h"
#include "sim/base/page.h"
#include "sim/core/record/outcome.h"
#include "sim/core/record/recorder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is to be told; all of it borrowed. */
struct sim_tale {
    const struct sim_recorder *recorder;
    const struct sim_outcome *outcome;
    const char *replay; /* "rewake replay rw1:…"; NULL: not printed. */
    const char *show;
    const char *debug; /* "rewake replay … --gdb": printed where the run has a stack. */
    uint32_t rows_max; /* SIM_ROWS_DEFAULT is usual; 0: everything, nothing folded. */
    /* Of a deadlock: more was asked than the judge asks, and with that somebody went on; it is told
     * elsewhere. */
    bool went_on;
};

/* Adds the whole report. RT_E_FULL: no memory; what was added then is not complete. */
RT_MUST_CHECK rt_err sim_tell(struct sim_page *page, const struct sim_tale *tale);

/* Its parts, for those who print something between them. Each adds whole lines. */
RT_MUST_CHECK rt_err sim_tell_headline(struct sim_page *page, const struct sim_tale *tale);
RT_MUST_CHECK rt_err sim_tell_columns(struct sim_page *page, const struct sim_tale *tale);
RT_MUST_CHECK rt_err sim_tell_why(struct sim_page *page, const struct sim_tale *tale);
RT_MUST_CHECK rt_err sim_tell_ledger(struct sim_page *page, const struct sim_tale *tale);
void sim_tell_commands(struct sim_page *page, const struct sim_tale *tale);

#ifdef __cplusplus
}
#endif
#endif

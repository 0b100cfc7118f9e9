/*
 * explained.h -- explanations that are kept in the database, for those who read nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/cli/subject/subject.h"
#include "sim/explain/explain.h"

/* Of one subject: what is asked, as of `rewake explain`. Borrows the subject. */
struct sim_failure sim_explained_failure(
        const struct sim_cli *cli, const struct sim_subject *subject);

/*
 * Keeps what was found, where the failure is one of the database and came again: else there is
 * nothing to keep. A database that cannot be written now costs nothing but a line on stderr.
 * False: it was not kept for that reason.
 */
bool sim_explained_keep(struct sim_cli *cli, const struct sim_subject *subject,
        struct sim_explanation *explanation);

/* The same for row `run` of a store that is open to write, outside a transaction; `entry` is its
 * scenario. */
RT_MUST_CHECK enum sim_store_err sim_explained_keep_in(struct sim_store *store, int64_t run,
        const struct sim_entry *entry, struct sim_explanation *explanation);

/* What was done by sim_explain_missing. */
struct sim_explained_count {
    uint32_t missing; /* Causes that had no explanation. */
    uint32_t tried;
    uint32_t kept;
    bool out_of_time;
    bool refused; /* The database cannot be written. */
};

/*
 * Explains failures of the database that have no explanation: of each way to fail the run that
 * stands for it (store/read.h), the newest first, as long as `time_ms` last; one under way is
 * killed then. Hangs are left out: each run of one takes seconds. Says on stderr what it is at.
 * What cannot be run here (its scenario or library is missing, or it no longer fails) is left
 * without, after a line. `runs_count` above 0: of these `runs` instead, which must be in the
 * database. Answers 0, or the exit status after a line: there is no database, or no such run.
 */
int sim_explain_missing(struct sim_cli *cli, const int64_t *runs, uint32_t runs_count,
        uint64_t time_ms, struct sim_explained_count *ret_count);

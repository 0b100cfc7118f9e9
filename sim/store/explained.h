/*
 * explained.h -- explanations in the database (explained.sql).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_STORE_EXPLAINED_H
#define SIM_STORE_EXPLAINED_H

#include "sim/store/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers of the two runs that explain run:`run`, which is at least 1. */
#define SIM_TOLD_OF(run) (-2 * (run))
#define SIM_TWIN_OF(run) (-2 * (run)-1)

/* A run that was made for an explanation. All of it is borrowed. */
struct sim_told_run {
    const struct sim_outcome *outcome;
    const struct sim_recorder *recorder;
    const char *token;
    const char *options; /* A JSON object. */
    uint64_t parts_step; /* 0: none. */
};

struct sim_explained_place {
    const char *role; /* "cause", "stored", "first", "second", "number" */
    uint32_t nth;
    const char *file;
    const char *function;
    uint32_t line;
    uint64_t step;
};

/* Strings as in explained.sql; none is NULL. */
struct sim_explained {
    int64_t run;
    const struct sim_told_run *told;
    const struct sim_told_run *twin; /* NULL: none was found. */
    const char *headline;
    const char *cause;
    const char *wake_outcome;
    const char *answer;
    const char *decision;
    const char *ordering;
    const char *swapped;
    const char *needed;
    const char *why;
    const char *refs; /* A JSON object. */
    const char *build;
    const char *decided_told; /* NULL: the deciding step is not known. */
    const char *decided_twin;
    uint64_t decided_step;
    const struct sim_explained_place *places;
    uint32_t places_count;
};

/* Writes it; replaces an earlier one of that failure. Errors: those of all that writes, and
 * UNKNOWN. */
RT_MUST_CHECK enum sim_store_err sim_store_explained(
        struct sim_store *store, const struct sim_explained *explained);

/* The newest run whose token is `token`, as it was found or shrunk. UNKNOWN: none. */
RT_MUST_CHECK enum sim_store_err sim_store_run_of_token(
        struct sim_store *store, const char *token, int64_t *ret_run);

/*
 * Distinct failures whose representing run (ways.h) has no explanation yet; the newest first, and
 * hangs last, as each run of one takes long. At most `capacity`; *ret_count is how many there are.
 */
RT_MUST_CHECK enum sim_store_err sim_store_unexplained(
        struct sim_store *store, int64_t *ret_runs, uint32_t capacity, uint32_t *ret_count);

#ifdef __cplusplus
}
#endif
#endif

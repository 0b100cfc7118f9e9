/*
 * explained.h -- explanations in the database (explained.sql).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/store/store.h"

/* A run that was made for an explanation. All of it is borrowed. */
struct sim_explained_run {
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

struct sim_explained_line {
    const char *file;
    uint32_t line;
    char *text;
};

/* Strings as in explained.sql; none is NULL. */
struct sim_explained {
    int64_t run;
    const struct sim_explained_run *failing;
    const struct sim_explained_run *passing; /* NULL: none was found. */
    const char *headline;
    const char *cause;
    const char *wake_outcome;
    const char *answer;
    const char *decision;
    const char *ordering;
    const char *swapped;
    const char *needed;
    const char *why;
    const char *refs;     /* A JSON object. */
    const char *findings; /* Another. */
    const char *build;
    const char *decided_failing; /* NULL: the deciding step is not known. */
    const char *decided_passing;
    uint64_t decided_step;
    const struct sim_explained_place *places;
    uint32_t places_count;
    const struct sim_explained_line *lines;
    uint32_t lines_count;
};

/* Writes it; replaces an earlier one of that failure. Errors: those of all that writes, and
 * UNKNOWN. */
RT_MUST_CHECK enum sim_store_err sim_store_explained(
        struct sim_store *store, const struct sim_explained *explained);

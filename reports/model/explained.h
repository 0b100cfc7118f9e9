/*
 * explained.h -- the explanation of a failure, from the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/base/page.h"
#include "sim/store/read.h"

/* A location that the explanation names. */
struct report_location {
    char *role; /* "cause", "stored", "first", "second", "number" */
    char *file;
    char *function;
    uint32_t nth;
    uint32_t line;
    uint64_t step; /* Of the run `shown`; 0: not known. */
};

/* A line of source, as it was when the failure was explained. */
struct report_excerpt_line {
    char *file;
    char *text;
    uint32_t line;
};

/* A column of explained.sql and its references, which own their `file`; steps are those of the run
 * `shown`. */
struct report_text {
    char *text; /* Never NULL once it is loaded. */
    struct sim_ref *refs;
    uint32_t refs_count;
};

/* Reads column `name` of the explanation of `run`; "" for none. report_text_free may follow in any
 * case. */
RT_MUST_CHECK enum sim_store_err report_text_load(
        struct sim_store *store, int64_t run, const char *name, struct report_text *ret_text);
/* A copy with the names in quotes, for text without markup. */
char *report_text_quoted(const struct report_text *text);
void report_text_free(struct report_text *text);

/* Texts as in explained.sql; none is NULL. */
struct report_explained {
    int64_t run;
    int64_t shown;   /* The smaller run. */
    int64_t passing; /* 0: none. */
    uint64_t shown_parts_step;
    uint64_t passing_parts_step;
    uint64_t decided_step; /* The deciding step, in both runs; 0: before the first. */
    char *decided_shown;   /* The decision there; "": not known. */
    char *decided_passing;
    struct report_text headline;
    struct report_text answer;
    struct report_text decision;
    struct report_text ordering;
    struct report_text needed;
    struct report_text why;
    struct report_location *locations;
    uint32_t locations_count;
    struct report_excerpt_line *lines; /* By file, then line. */
    uint32_t lines_count;
    bool keeps_lines; /* One that is not there is of a file that had changed. */
};

/* Reads that of `run`. UNKNOWN: it has none; `ret` is then empty. report_explained_free may follow
 * in any case. */
RT_MUST_CHECK enum sim_store_err report_explained_load(
        struct sim_store *store, int64_t run, struct report_explained *ret_explained);
/* The stored line; NULL: it is not stored. */
const char *report_explained_line(
        const struct report_explained *explained, const char *file, uint32_t line);
void report_explained_free(struct report_explained *explained);

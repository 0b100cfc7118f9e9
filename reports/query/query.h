/*
 * query.h -- named queries: reports/queries/NAME.sql, built into the program.
 *
 * Format of such a file: its first line is the question. Lines after it of the form
 *
 *     -- :name what it is; what is meant without it
 *     -- = SELECT ...
 *
 * declare parameters, in the order of the command line. Each may be left out: its value is then the
 * result of the statement in the next line, or NULL without one. A line
 *
 *     -- needs TABLE: the command that fills it
 *
 * names a table that not every database has; without it the result is empty, and the line is
 * printed. Then follows one SELECT. `rewake query` lists name, parameters and question. A new query
 * is one new file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/store/read.h"

#define REPORT_PARAMS_MAX 4u
#define REPORT_PARAM_NAME_MAX 24u

struct report_query {
    const char *name; /* "lost-wakes" */
    const char *sql;  /* The whole file. */
};

/* scripts/sql-to-c writes one for each file. */
#define REPORT_QUERY(identifier, ...) \
    static const struct report_query identifier = {__VA_ARGS__}; \
    static const struct report_query *const identifier##__registered \
            __attribute__((section("rewake_queries"), used)) = &identifier

/* The one called `name`, or NULL; the first whose name comes after `name` ("" to begin with). */
const struct report_query *report_query_find(const char *name);
const struct report_query *report_query_next(const char *name);

/* The comments at its top. */
struct report_query_head {
    const char *question; /* Not terminated. */
    size_t question_length;
    char params[REPORT_PARAMS_MAX][REPORT_PARAM_NAME_MAX]; /* With the colon. */
    const char *about[REPORT_PARAMS_MAX];                  /* Up to the line's end. */
    const char *otherwise[REPORT_PARAMS_MAX];              /* Likewise; NULL: NULL. */
    uint32_t param_count;
    const char *needs; /* "TABLE: who fills it", up to the line's end; NULL: nothing more. */
};

/* False: the file is not of that form. */
bool report_query_read(const struct report_query *query, struct report_query_head *ret_head);

/* The default of parameter `param`; *ret_text is from malloc, NULL for NULL. */
RT_MUST_CHECK enum sim_store_err report_query_otherwise(struct sim_store *store,
        const struct report_query_head *head, uint32_t param, char **ret_text);

/* Whether the table is there that it needs. */
RT_MUST_CHECK enum sim_store_err report_query_has(
        struct sim_store *store, const struct report_query_head *head, bool *ret_has);

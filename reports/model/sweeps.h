/*
 * sweeps.h -- sweeps, and in which ways their runs have failed.
 *
 * A way to fail is a verdict, its oracle, and the line of the root cause or of the waiting task:
 * the three by which a sweep distinguishes failures. One run of each way is stored in full; the
 * others are counted.
 *
 * The state of a scenario is its newest sweep (report_sweeps_newest): how its runs ended, and the
 * remembered failures that its command replayed first and that failed again, which count as
 * failures. Every page and format reads it here, so all of them agree with the command. Remembered
 * failures that no command has replayed since are not included.
 *
 * A few statements over all sweeps read it: each row of the database is read once.
 *
 * Ownership. Strings belong to the list; report_sweeps_done frees them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/model/explained.h"
#include "sim/base/page.h"
#include "sim/store/read.h"

/* A way to fail. Text is "" where it is not known. */
struct report_way {
    int64_t sweep;
    char *verdict;
    char *oracle;
    /* Of the site, as the compiler got it; without a site, of the cause in the explanation. "": no
     * line. */
    char *file;
    char *function;
    int64_t line;
    uint32_t site;        /* 0: none. */
    int64_t runs;         /* That failed this way in this sweep; 0: only a remembered one did. */
    int64_t first_number; /* The number of the first of them in the sweep. */
    int64_t run;          /* The run that has page, token and message; 0: none. */
    int64_t seed;         /* Of `run`. */
    int64_t page;         /* The run with the page about this way, in all sweeps. */
    char *message;        /* The first sentence of the explanation, else the message of the run. */
    struct report_text answer; /* The missing wake, and where; "": no explanation. */
    char *explanation;         /* All of it, a paragraph a line. */
    char *token;
    char *shrunk_token; /* "": it was not shrunk, or there is nothing smaller. */
    bool again;         /* `run` is remembered, was replayed before the sweep, and failed again. */
};

struct report_sweep {
    int64_t sweep;
    char *scenario;
    char *library; /* "": in rewake itself. */
    char *strategy;
    char *options; /* JSON. */
    char *build;
    int64_t seed_first;
    int64_t started_ms;
    int64_t elapsed_ms;
    int64_t runs;   /* Without `again`, … */
    int64_t failed; /* … as is this one: report_sweep_runs and _failed have all. */
    int64_t again;  /* Remembered failures that failed again before the sweep. */
    int64_t steps;
    bool complete;
    /* Of notes.sql; "" and 0 in a sweep of an older rewake. */
    char *about;
    char *file;           /* The source file of the scenario. */
    char *stated;         /* The expected verdict of the scenario. */
    char *stated_also;    /* Another expected one; "": none. */
    bool held_to_verdict; /* The command was run with --expect. */
    bool held_to_goals;
    int64_t goals_missed;    /* Goals that no run reached, required or not. */
    int64_t stated_runs;     /* Runs with the expected verdict. */
    int64_t command_ms;      /* When its command began; the same in all its sweeps. */
    char *ended;             /* "complete", "interrupted" …; "": not known. */
    int64_t checked;         /* Runs that were repeated in another process … */
    int64_t unequal;         /* … and those that differed there. */
    struct report_way *ways; /* Those that are `again` first, then by most runs. */
    uint32_t way_count;
    uint32_t way_capacity;
};

struct report_sweeps {
    struct report_sweep *sweeps;
    size_t count;
};

/*
 * Reads the sweeps with these numbers, in this order; a missing one is left out.
 * report_sweeps_done must follow in any case.
 */
enum sim_store_err report_sweeps_read(struct sim_store *store, const int64_t *numbers, size_t count,
        struct report_sweeps *ret_list);
void report_sweeps_done(struct report_sweeps *list);

/* Adds their numbers as a JSON array, for json_each: SQL binds no list. */
void report_sweeps_json(const struct report_sweeps *list, struct sim_page *page);

/* As its command counts: with remembered failures that failed again. */
int64_t report_sweep_runs(const struct report_sweep *sweep);
int64_t report_sweep_failed(const struct report_sweep *sweep);
int64_t report_way_runs(const struct report_way *way);

/* The result of a sweep. */
enum report_end {
    REPORT_PASSED, /* As expected. */
    REPORT_FAILED, /* A run failed, or none as expected; a goal was missed; a replica differed. */
    REPORT_CUT     /* Nothing failed, but it ended early. */
};
enum report_end report_sweep_end(const struct report_sweep *sweep);

/* Whether `way` counts as a failure of `sweep`: with --expect the expected verdict does not. */
bool report_way_counts(const struct report_sweep *sweep, const struct report_way *way);

/* The run that stands for each way to fail of the database, the newest first; *ret_runs is from
 * malloc. */
RT_MUST_CHECK enum sim_store_err report_ways_shown(
        struct sim_store *store, int64_t **ret_runs, size_t *ret_count);

/*
 * The newest sweep of each scenario whose name matches one of `pattern_count` shell globs (none:
 * all), by name. *ret_numbers is from malloc; NULL for none.
 */
enum sim_store_err report_sweeps_newest(struct sim_store *store, char *const *patterns,
        uint32_t pattern_count, int64_t **ret_numbers, size_t *ret_count);

/*
 * sweeps.h -- sweeps, and in which ways their runs have failed.
 *
 * A way to fail is a verdict, the oracle that said so, and the line that is blamed or waits: the
 * same three that tell failures apart while a sweep runs. Of each way one run has been told in
 * full; the others are counted.
 *
 * The state of a scenario is its newest sweep (report_sweeps_newest): how its runs ended, and
 * the remembered failures that its command tried first and that failed again, which are failures
 * like any other. Every page and every format reads it here, so that all of them say the same as
 * the command did. What the database remembers, and no command has tried since, is no part of it.
 *
 * Read in a few statements over all sweeps: a database with a hundred scenarios and a million
 * failing runs takes no longer than one look at each row.
 *
 * Ownership. Strings belong to the list; report_sweeps_done frees them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_MODEL_SWEEPS_H
#define REPORTS_MODEL_SWEEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/explain/view/page.h"
#include "sim/store/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A way to fail. Text is "" where nothing is known. */
struct report_way {
    char *verdict;
    char *oracle;
    /* Of the site, as the compiler was given it; where there is none, of what an explanation
     * blames. "": no line. */
    char *file;
    char *function;
    int64_t line;
    uint32_t site;        /* 0: none. */
    int64_t runs;         /* That failed so in this sweep; 0: only a remembered one did. */
    int64_t first_number; /* In the sweep, of the first of them. */
    int64_t run;          /* Whose page, token and message these are; 0: none. */
    int64_t seed;         /* Its. */
    char *message; /* What went wrong: the explanation's first sentence, else the run's own. */
    char *answer;  /* Which wake is missing, and where; "": nobody has explained it. */
    char *story;   /* All of the explanation, a paragraph a line. */
    char *token;
    char *shrunk_token; /* "": it was not shrunk, or there is nothing smaller. */
    bool again; /* A remembered run, tried before the sweep, failed so again; it is `run`. */
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
    int64_t failed; /* … as figures are: report_sweep_runs and _failed have all. */
    int64_t again;  /* Remembered failures that failed again before the sweep. */
    int64_t steps;
    bool complete;
    /* Of notes.sql; a sweep of an older rewake has none of it: "", 0. */
    char *about;
    char *file;           /* Where the scenario is written. */
    char *stated;         /* The verdict that the scenario states; "pass": it holds. */
    char *stated_also;    /* Another one that it states; "": none. */
    bool held_to_verdict; /* The command was to hold it to that. */
    bool held_to_goals;
    int64_t goals_missed;    /* Goals that no run reached, held to them or not. */
    int64_t stated_runs;     /* That ended in the verdict that is stated. */
    int64_t command_ms;      /* When its command began; all sweeps of one have this. */
    char *ended;             /* "complete", "interrupted" …; "": not known. */
    int64_t checked;         /* Runs that were made again in a twin process … */
    int64_t unequal;         /* … and were another run there. */
    struct report_way *ways; /* Those that are `again` first, then by most runs. */
    size_t way_count;
};

struct report_sweeps {
    struct report_sweep *sweeps;
    size_t count;
};

/*
 * Reads the sweeps whose numbers these are, in this order; one that is not there is left out.
 * report_sweeps_done must follow in any case.
 */
enum sim_store_err report_sweeps_read(struct sim_store *store, const int64_t *numbers, size_t count,
        struct report_sweeps *ret_list);
void report_sweeps_done(struct report_sweeps *list);

/* Adds their numbers as a JSON array, for json_each: SQL binds no list. */
void report_sweeps_json(const struct report_sweeps *list, struct sim_page *page);

/* What its command counts: the runs of the sweep, and remembered failures that failed again. */
int64_t report_sweep_runs(const struct report_sweep *sweep);
int64_t report_sweep_failed(const struct report_sweep *sweep);
int64_t report_way_runs(const struct report_way *way);

/* What a sweep comes to, for whoever wants one word. */
enum report_end {
    REPORT_HELD,   /* All was as it was to be. */
    REPORT_FAILED, /* A run failed, or none as stated; a goal was missed; a twin differed. */
    REPORT_CUT     /* Nothing failed, but it did not come as far as it was to. */
};
enum report_end report_sweep_end(const struct report_sweep *sweep);

/* Whether `way` is one of those for which `sweep` failed: with --expect the stated one is none. */
bool report_way_counts(const struct report_sweep *sweep, const struct report_way *way);

/*
 * The newest sweep of each scenario whose name matches one of `pattern_count` shell globs (none:
 * all), by name. *ret_numbers is from malloc; NULL for none.
 */
enum sim_store_err report_sweeps_newest(struct sim_store *store, char *const *patterns,
        uint32_t pattern_count, int64_t **ret_numbers, size_t *ret_count);

#ifdef __cplusplus
}
#endif
#endif

/*
 * state.h -- what the files of `rewake run` share.
 *
 *   run.c         options, plan, one sweep after the other
 *   part.c        the first seed by the commit, and the part of the sweep that is made here
 *   default_schedule.c  run 0: every decision is alternative 0
 *   names.c       names of runs, and the list of failures at the end
 *   store.c       what goes into the database
 *   cover.c, code.c  what a sweep has covered
 *   shrink.c      a failure, minimized, explained, stored and reported
 *   text.c, json.c  stdout, for people and for programs
 *   remembered.c  the failures of earlier commands, tried first
 *   regression.c  a promoted run, repeated
 *   export.c      the result as JUnit XML
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <signal.h>

#include "sim/base/json.h"
#include "sim/base/terminal.h"
#include "sim/cli/cli.h"
#include "sim/cli/select.h"
#include "sim/engine/shrink/shrink.h"
#include "sim/engine/sweep/sweep.h"
#include "sim/explain/explain.h"
#include "sim/search/cover/species.h"
#include "sim/store/code.h"
#include "sim/store/coverage.h"
#include "sim/store/store.h"

/* What the sweep in progress has covered (cover.c). */
struct sim_run_cover {
    struct sim_species_entry *entries; /* Of `species`; made once. */
    struct sim_species species;
    uint64_t drawn[SIM_STRATEGIES_MAX];  /* Runs that each strategy drew, … */
    uint64_t failed[SIM_STRATEGIES_MAX]; /* … and how many of them failed. */
    uint32_t sampler; /* The strategy whose runs are counted as species; UINT32_MAX: none. */
    uint64_t elements;
    uint64_t last_new;    /* Runs up to and with the last that covered something new. */
    uint32_t written;     /* Facts that are in the database. */
    uint64_t batch_first; /* The batch that is being merged: from this index … */
    uint32_t batch_runs;  /* … so many runs, … */
    const struct sim_run_result *batch_new; /* … and what each was the first to cover. */
    struct sim_facts covered;               /* Of all batches, where the sweep is a part. */
    void *covered_memory;
    struct sim_goal *goals; /* Of the scenario's file, reached or not. */
    bool alone_in_file;     /* The file has no other scenario. */
    uint32_t goal_count;
};

/* Runs from index `first` on. */
struct sim_run_range {
    uint64_t first;
    uint64_t runs;
};

/* A remembered failure that failed again (remembered.c), and how. */
struct sim_run_again {
    const struct sim_entry *entry;
    int64_t sweep; /* Of this command and that scenario, in the database. */
    uint32_t verdict;
    uint32_t oracle;
    uint32_t site;
    bool is_default; /* It is the default schedule, under the options of this command. */
};

#define SIM_RUN_RANGES 64u
#define SIM_GIT_MAX 65u /* A commit by its hash, and a 0. */

/* The code that it has reached, where edges are counted (code.c). */
struct sim_run_code {
    const struct sim_code_edge *edges;
    uint32_t count;                   /* 0: nothing is counted. */
    struct sim_code_covered *covered; /* Of each edge; runs 0: not reached. */
    bool *written;                    /* It is in the database. */
    uint64_t reached;                 /* Edges. */
    uint64_t last_new;                /* Runs up to and with the last that reached something new. */
    uint64_t batch_first;             /* As in struct sim_run_cover. */
    uint32_t batch_runs;
    uint32_t *batch_new;
};

/* Run 0 of the sweep in progress (default_schedule.c). */
struct sim_run_default {
    bool in_progress;
    struct sim_sweep_result result; /* No runs: it was not made. */
    bool failed;                    /* And again alone, as `failure`. */
    struct sim_outcome failure;
    /* It was remembered and failed again, and is not made a second time; else NULL. */
    const struct sim_run_again *again;
};

/* A line of the list of failures. */
struct sim_run_named {
    char *scenario;
    char *words; /* "lost-wakeup (run:2)" */
};

struct sim_run {
    struct sim_sink sink; /* First: the sweep hands it back. */
    struct sim_cli *cli;
    struct sim_store *store; /* NULL: --record none. */
    struct sim_pool pool;
    struct sim_pool defaults_pool; /* Of runs 0 (default_schedule.c); no workers: not made yet. */
    struct sim_progress progress;
    struct sim_selection selected;
    bool json;
    bool expect;
    bool is_open; /* Only the time limits the runs, or the space that is explored. */
    uint64_t start_ms;
    char git[SIM_GIT_MAX]; /* The commit that the seed is taken from; "": none. */

    /* The sweep in progress. */
    const struct sim_entry *entry;
    struct sim_sweep_plan plan;
    struct sim_sweep_plan plan_of_all; /* Before that scenario, and after it. */
    struct sim_tape tape;              /* Of a regression. */
    struct sim_sweep_result result;
    int64_t sweep; /* In the database. */
    /* Passing runs that are not stored yet; with gaps, where the sweep is a part. */
    struct sim_run_range unstored[SIM_RUN_RANGES];
    uint32_t unstored_count;
    uint64_t stored_ms; /* Of the last write. */
    char *options;      /* As JSON. */
    uint64_t sweep_ms;
    struct sim_run_default first;
    struct sim_run_cover cover;
    struct sim_run_code code;

    /* The command. */
    struct sim_run_again *again; /* Counted in `runs` below, and in no sweep. */
    uint32_t again_count;
    int64_t command_ms; /* When the first sweep began, since 1970; 0: none has. */
    uint64_t runs;
    uint64_t passed;
    uint64_t refused_runs;       /* Neither passed nor failed. */
    uint64_t defaults;           /* Runs 0 that were made, … */
    uint64_t defaults_failed;    /* … and those of them that failed, … */
    uint64_t defaults_refused;   /* … or were refused. */
    struct sim_run_named *named; /* Failures that were reported, for the end. */
    size_t named_count;
    bool bug;           /* Something failed (with --expect: not as expected). */
    bool differs;       /* Nondeterminism was seen. */
    bool refused;       /* A run of a program was refused. */
    uint32_t explained; /* Failures that were asked why. */
    bool short_of;      /* Fewer runs than asked for. */
    bool store_lost;    /* The database failed, and that is reported. */
    int system;         /* Exit status when the system failed, else 0. */

    FILE *junit;     /* What --junit names; NULL: nothing. */
    int64_t *sweeps; /* All that were begun, in the database; only with `junit`. */
    size_t sweep_count;
};

/* A failure to report: as it was found, and the smallest run that fails in the same way. */
struct sim_report {
    const struct sim_new_failure *failure;
    const char *token;               /* As it was found. */
    const struct sim_shrunk *shrunk; /* NULL: not tried. */
    const char
            *shrunk_token; /* NULL: there is no smaller run; the one that was found is reported. */
    int64_t run_id;        /* In the database; 0: none. */
    bool again;            /* It was remembered, and failed again … */
    bool shrunk_before;    /* … and its smallest run as well. */
    struct sim_explanation *explanation; /* NULL: it was not asked why. */
};

/* ---- run.c ----------------------------------------------------------------------------------- */

/* From here on the first ^C (SIGTERM, SIGHUP) sets the answer, and the second one ends the process;
 * SIGUSR1 has the progress printed. */
const volatile sig_atomic_t *sim_run_catch_signals(void);

/* Of a sink: shows the progress. False where stdout is closed. */
bool sim_run_tick(struct sim_sink *sink, uint64_t runs, const struct sim_sweep_totals *totals);

/* Of the sweep in progress, which has ended: it made fewer runs than asked for; with --goals, it
 * reached not all of them. */
bool sim_run_is_short(const struct sim_run *run);
bool sim_run_misses_goals(const struct sim_run *run);

/* Makes `entry` the scenario in progress: plan, options, its sweep in the database. True, or false
 * after a line on stderr; sim_run_leave must follow in any case. */
bool sim_run_enter(struct sim_run *run, const struct sim_entry *entry);
void sim_run_leave(struct sim_run *run);

/* Whether -O and -D fit each selected scenario that has them, and at least one. 0, or the exit
 * status after a line. */
int sim_run_check_assignments(const struct sim_run *run);
/* Takes them into `options` of the scenario in progress; the mask of options that were given. */
uint32_t sim_run_assign(const struct sim_run *run, struct sim_options *options);

/* ---- part.c ---------------------------------------------------------------------------------- */

/* --seed-from-git: takes the seed. 0, or an exit status after a line on stderr. */
int sim_run_take_commit(struct sim_run *run);
/* --shard: reduces run->plan to the part. 0, or an exit status after a line on stderr. */
int sim_run_take_part(struct sim_run *run);
/* Whether the sweep in progress is a part: made in batches, and stored as a part. */
bool sim_run_is_part(const struct sim_run *run);

/* ---- default_schedule.c ---------------------------------------------------------------------- */

/* Makes run 0, where the sweep in progress has one. False: the sweep ends with it. */
bool sim_run_default_schedule(struct sim_run *run);
/* While it is made: it has ended; it failed. False after a line on stderr. */
bool sim_run_default_batch(struct sim_run *run, const struct sim_merged *batch);
void sim_run_default_note(struct sim_run *run, const struct sim_new_failure *failure);
/* Where it failed, adds it as a run to `totals`; to the result of the sweep. */
void sim_run_default_count(const struct sim_run *run, struct sim_sweep_totals *totals);
void sim_run_default_add(struct sim_run *run);

/* ---- names.c --------------------------------------------------------------------------------- */

/* Whether a seed alone reproduces the run: the strategy does not learn. */
bool sim_run_seed_is_enough(const struct sim_run *run);
/* Warns about a single seed whose run differs from that of a longer sweep. */
void sim_run_warn_of_seed(const struct sim_run *run);
/* The name of run `seed`: " at seed 12 (run:2)", " in the default schedule (run:1)", "". */
void sim_run_name(
        const struct sim_run *run, uint64_t seed, int64_t run_id, char *text, size_t size);
#define SIM_RUN_NAME_MAX 96u
/* How a sweep ended, in words. */
struct sim_run_end {
    const char *stored;  /* In the database. */
    const char *text;    /* On the line of its scenario. */
    const char *why_not; /* Why `explore` did not make all runs. */
};
const struct sim_run_end *sim_run_end(enum sim_sweep_end end);
/* Adds a failure to the list; prints the list; frees it. */
void sim_run_list(struct sim_run *run, const char *scenario, const char *verdict, const char *name);
void sim_run_list_put(const struct sim_run *run);
void sim_run_list_done(struct sim_run *run);

/* ---- shrink.c -------------------------------------------------------------------------------- */

/* A failure of a new kind: minimizes it where that is wanted, stores and reports it. False to end
 * the sweep at once. */
bool sim_run_take_failure(struct sim_run *run, const struct sim_new_failure *failure);
/* The same for a remembered failure that failed again. `run_id` of its row, where that is the same
 * run, with the token of its smaller run (NULL: none), which is not searched again; 0: the run is
 * another one now, gets a row, and *run_id is that. */
bool sim_run_take_again(struct sim_run *run, const struct sim_new_failure *failure,
        const char *shrunk_before, int64_t *run_id);

/* ---- store.c: each is true, or false after a line on stderr. Without a store: true. ---------- */

bool sim_run_store_open(struct sim_run *run);
bool sim_run_store_begin(struct sim_run *run);
bool sim_run_store_batch(struct sim_run *run, const struct sim_merged *batch);
/* Run 0, which has failed: its row and its count. */
bool sim_run_store_default(struct sim_run *run, const struct sim_merged *batch);
/* `run_id` of a database row, 0: none. */
bool sim_run_store_failure(struct sim_run *run, const struct sim_new_failure *failure,
        const char *token, int64_t *ret_run_id);
/* The smaller run, and the explanation, where there are any. */
bool sim_run_store_shrunk(struct sim_run *run, const struct sim_report *report);
bool sim_run_store_explained(struct sim_run *run, const struct sim_report *report);
bool sim_run_store_end(struct sim_run *run);
void sim_run_store_close(struct sim_run *run);
/* Reports, once, that the database failed. Always false. */
bool sim_run_store_failed(struct sim_run *run);

/* ---- code.c: nothing without edges, or without a store. -------------------------------------- */

/* Before the pool is made; then when the store is open: true, or false after a line on stderr. */
void sim_run_code_name(struct sim_run *run);
bool sim_run_code_open(struct sim_run *run);
void sim_run_code_begin(struct sim_run *run);
void sim_run_code_batch(struct sim_run *run, const struct sim_merged *batch);
/* How many edges run `index`, of the batch that is being merged, was the first to reach. */
uint32_t sim_run_code_new(const struct sim_run *run, uint64_t index);
/* Within a transaction: the edges that single runs reached; that all did. */
void sim_run_code_store_batch(struct sim_run *run, const struct sim_merged *batch);
void sim_run_code_store(struct sim_run *run, bool over);
void sim_run_code_done(struct sim_run *run);
void sim_run_print_code(const struct sim_run *run);

/* ---- cover.c --------------------------------------------------------------------------------- */

void sim_run_cover_begin(struct sim_run *run);
void sim_run_cover_batch(struct sim_run *run, const struct sim_merged *batch);
/* How much run `index`, of the batch that is being merged, was the first to cover. */
uint32_t sim_run_cover_new(const struct sim_run *run, uint64_t index);
/* Stores it, within a transaction. `over`: the sweep has ended. */
void sim_run_cover_store(struct sim_run *run, bool over);
void sim_run_cover_done(struct sim_run *run);
/* Goals of the scenario (not of SIM_ALWAYS) that no run has reached so far. */
uint32_t sim_run_goals_missed(const struct sim_run *run);
/* What the sweep has covered so far. */
const struct sim_facts *sim_run_covered(const struct sim_run *run);
/* Whether more runs would find little new. */
bool sim_run_saturated(const struct sim_run *run);
/* The last line of a command that found nothing in one scenario: what more runs may bring. */
void sim_run_print_next_search(const struct sim_run *run);
/* The closing lines of a scenario. */
void sim_run_print_cover(const struct sim_run *run);
void sim_run_json_cover(const struct sim_run *run, struct sim_json *json);
/* The strategy that drew a run, by name. */
const char *sim_run_arm_name(const struct sim_run *run, uint32_t arm);

/* ---- waste.c --------------------------------------------------------------------------------- */

/* How often the sweep's runs did something for nothing. */
uint64_t sim_run_waste(const struct sim_run *run);
void sim_run_waste_store(struct sim_run *run);

/* Whether a run did so more often at one place than --max-waste allows; then the places are
 * printed. */
bool sim_run_wastes(const struct sim_run *run);
void sim_run_print_waste(const struct sim_run *run);

/* ---- text.c ---------------------------------------------------------------------------------- */

void sim_run_print_start(struct sim_run *run);
/* A failure: how it ended, at once; then, when it is known, why. */
void sim_run_print_verdict(struct sim_run *run, const struct sim_report *report);
void sim_run_print_failure(struct sim_run *run, const struct sim_report *report);
void sim_run_print_remembered(struct sim_run *run, const struct sim_remembered *failure,
        const char *result, const char *detail);
/* A run that differs from its replica: both are run alone, and compared. False: the system
 * refused. */
bool sim_run_print_replica(struct sim_run *run, const struct sim_run_spec *again);
void sim_run_print_scenario(struct sim_run *run);
void sim_run_print_end(struct sim_run *run, int status);

/* Prints `text` as a paragraph, `indent` blanks deep. */
void sim_run_print_paragraph(const char *text, uint32_t indent);

/* ---- json.c: called by text.c. --------------------------------------------------------------- */

/* The number of runs with each verdict. */
void sim_run_json_verdicts(struct sim_json *json, const struct sim_sweep_totals *totals);
void sim_run_json_start(const struct sim_run *run);
void sim_run_json_failure(const struct sim_run *run, const struct sim_report *report);
void sim_run_json_remembered(
        const struct sim_remembered *failure, const char *result, const char *detail);
void sim_run_json_replica(const struct sim_run *run, uint64_t seed, const struct sim_single *usual,
        const struct sim_single *replica, const char *token);
void sim_run_json_scenario(const struct sim_run *run);
void sim_run_json_summary(const struct sim_run *run, int status, uint64_t ms);

/* Whether --expect was given, and the scenario expects `outcome`, which is then not reported. */
bool sim_run_is_stated(const struct sim_run *run, const struct sim_outcome *outcome);

/* Whether the sweep's verdicts are what the scenario expects. */
bool sim_run_as_stated(const struct sim_run *run);

/* ---- regression.c ---------------------------------------------------------------------------- */

/* The strategy of the sweep in progress, by name. */
const char *sim_run_strategy(const struct sim_run *run);
/* The options that the scenario in progress begins with: the defaults, or those of its regression,
 * as far as it still has them. */
void sim_run_regression_options(const struct sim_run *run, struct sim_options *options);
/* Of a regression: one run, by its decisions, which the plan borrows as `tape`. */
void sim_run_regression_plan(
        const struct sim_run *run, struct sim_tape *tape, struct sim_sweep_plan *plan);

/* ---- remembered.c ---------------------------------------------------------------------------- */

/* Tries them; false to end the command at once. */
bool sim_run_try_remembered(struct sim_run *run);
/* The sweep of the scenario in progress that was begun for one that failed again; 0: none. */
int64_t sim_run_again_sweep(const struct sim_run *run);
/* The number of failures of the scenario in progress that failed again. */
uint32_t sim_run_again_count(const struct sim_run *run);
/* The one of them that is its default schedule; NULL: none is. */
const struct sim_run_again *sim_run_again_default(const struct sim_run *run);
/* Whether one of them failed in this way, and so is reported. */
bool sim_run_is_again(const struct sim_run *run, const struct sim_outcome *outcome);
void sim_run_again_done(struct sim_run *run);

/* ---- export.c -------------------------------------------------------------------------------- */

/* Opens the file of --junit. True, or false after a line on stderr, with run->system set. */
bool sim_run_export_open(struct sim_run *run);
/* Adds the sweep that was begun. */
void sim_run_export_sweep(struct sim_run *run);
/* Writes and closes it. 0, or the exit status after a line. */
int sim_run_export_write(struct sim_run *run);

static inline struct sim_run *
sim_run_of(struct sim_sink *sink)
{
    return (struct sim_run *)(void *)sink;
}

/* --quiet: nothing but a line for each failure is printed. */
static inline bool
sim_run_is_quiet(const struct sim_run *run)
{
    return sim_given(&run->cli->settings, SIM_CLI_OPTION_QUIET);
}

/* Runs that failed; those that were refused are none. */
static inline uint64_t
sim_run_failed(const struct sim_run *run)
{
    return run->runs - run->passed - run->refused_runs;
}

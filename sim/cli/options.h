/*
 * options.h -- every option of the command line, once.
 *
 * One list makes the parser (getopt_long runs over it), the environment variables, and
 * the help of each command, which names the options that it takes. Flags win over the
 * environment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CLI_OPTIONS_H
#define SIM_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/search/strategy.h"

/* name, letter (or 0), long name (or NULL), argument (or NULL), environment (or NULL), about */
#define SIM_CLI_OPTION_LIST(X) \
    X(SEED, 0, "seed", "S", "REWAKE_SEED", "seed of the first run of each scenario; default 1") \
    X(SEEDS, 0, "seeds", "A-B", NULL, "run exactly the seeds from A to B") \
    X(RUNS, 0, "runs", "N", "REWAKE_RUNS", \
            "runs of each scenario; default 1000 (explore: a million)") \
    X(TIME, 0, "time", "60s", "REWAKE_TIME", "stop after this time (ms, s, m, h), shared fairly") \
    X(PARAM, 'D', NULL, "NAME=N", NULL, "set a parameter of the scenarios that declare it") \
    X(OPTION, 'O', NULL, "NAME=N", NULL, "set an option of the runs; listed below") \
    X(STRATEGY, 0, "strategy", "NAME", "REWAKE_STRATEGY", \
            "how runs are searched for: NAME or NAME:key=value,... (run: portfolio)") \
    X(JOBS, 0, "jobs", "N", "REWAKE_JOBS", "worker processes; default: one for each processor") \
    X(DB, 0, "db", "FILE", "REWAKE_DB", "the trace database; default .rewake/trace.db") \
    X(RECORD, 0, "record", "WHAT", NULL, "a row for: news (default), all runs, or none (no file)") \
    X(CHECK, 0, "check-determinism", "PCT", NULL, "run PCT percent again in a twin process") \
    X(FAIL_FAST, 0, "fail-fast", NULL, NULL, "stop at the first failure") \
    X(EXPECT, 0, "expect", NULL, NULL, "hold each scenario to the verdict that it states") \
    X(FRESH, 0, "fresh", NULL, NULL, "do not try remembered failures first") \
    X(HANG, 0, "hang", "10s", NULL, "real time after which a step that does not return is a hang") \
    X(LENIENT, 0, "lenient", NULL, NULL, \
            "take a tape as far as it fits, by the alternatives' ids") \
    X(NO_SHRINK, 0, "no-shrink", NULL, NULL, "tell failures as they were found, not the smallest") \
    X(GOALS, 0, "goals", NULL, NULL, "a goal that no run of a sweep reaches is a failure") \
    X(SATURATED, 0, "until-saturated", NULL, NULL, "stop when more runs would find little new") \
    X(DISTILL, 0, "distill", NULL, NULL, "print the fewest runs that cover the same") \
    X(CODE, 0, "code", NULL, NULL, "edges of code, in a build that counts them") \
    X(SWEEP, 0, "sweep", "ID", NULL, "the sweep with this number, as `coverage --all` tells it") \
    X(ALL, 0, "all", NULL, NULL, "every sweep, not only the newest of each scenario") \
    X(BOUND, 0, "bound", "K", NULL, "only runs with at most K deviations from the baseline run") \
    X(EACH, 0, "each", NULL, NULL, "replay many: whatever is named, and each token of a file") \
    X(ARTIFACT, 0, "artifact", "FILE", NULL, \
            "also write the run as a fuzzer's input, to a new file") \
    X(EXPORT, 0, "export", "FILE", NULL, \
            "also write the run for another program, to a new file: .pftrace, .json, .dot") \
    X(STEP, 0, "step", "N", NULL, "tell of this step, or stop there with --gdb") \
    X(UNTIL, 0, "until", "N", NULL, "tell the run up to this step, and how all stand then") \
    X(VERBOSE, 0, "verbose", NULL, NULL, "every event on a line of its own, with its place") \
    X(GDB, 0, "gdb", NULL, NULL, "make the run under gdb; default: the step that matters") \
    X(HERE, 0, "here", NULL, NULL, \
            "in this very process, which traps (SIGTRAP) at --step: for any debugger") \
    X(GOOD, 0, "good", "REV", NULL, "a commit with which the run passes") \
    X(BAD, 0, "bad", "REV", NULL, "a commit with which it fails; default HEAD") \
    X(NAME, 0, "name", "NAME", NULL, "what it is to be called") \
    X(FOLDER, 'o', NULL, "PATH", NULL, "the folder, or the file, that is written") \
    X(LCOV, 0, "lcov", "DIR", NULL, "lcov's pages, to be linked; default build/coverage/html") \
    X(JUNIT, 0, "junit", "FILE", NULL, "also write the result as JUnit XML") \
    X(SEED_FROM_GIT, 0, "seed-from-git", NULL, NULL, \
            "seed of the first run: 12 digits of the commit that is checked out here") \
    X(SHARD, 0, "shard", "I/N", NULL, "make part I of N of the sweep; `rewake merge` joins them") \
    X(APART, 0, "apart", NULL, NULL, "parts of different sweeps are kept apart, not refused") \
    X(JSON, 0, "json", NULL, NULL, "one JSON object a line on stdout") \
    X(HELP, 'h', "help", NULL, NULL, "this text")

enum sim_cli_option {
#define SIM_CLI_OPTION_ENUM(name, letter, long_name, argument, environment, about) \
    SIM_CLI_OPTION_##name,
    SIM_CLI_OPTION_LIST(SIM_CLI_OPTION_ENUM)
#undef SIM_CLI_OPTION_ENUM
            SIM_CLI_OPTIONS
};

#define SIM_CLI_OPTION_BIT(name) (UINT64_C(1) << SIM_CLI_OPTION_##name)
#define SIM_ASSIGNMENTS_MAX 64u
#define SIM_SHARDS_MAX 4096u

enum sim_record_what { SIM_RECORD_NEWS, SIM_RECORD_ALL, SIM_RECORD_NONE };

/* NAME=VALUE, as it was written. */
struct sim_assignment {
    const char *name;
    size_t name_length;
    const char *value;
};

struct sim_settings {
    uint64_t given; /* Mask of options that were given, by flag or environment. */
    uint64_t seed;
    uint64_t seed_last; /* With --seeds. */
    uint64_t runs;
    uint64_t time_ms; /* 0: no limit. */
    uint32_t how;     /* enum sim_how: RANDOM, BASELINE or SEARCH */
    struct sim_search search;
    char refusal[SIM_STRATEGY_ERROR_MAX]; /* Why a strategy was refused. */
    char strategy[SIM_STRATEGY_TEXT_MAX]; /* Its name, with what differs from the defaults. */
    uint32_t shard;                       /* With --shard, from 1 … */
    uint32_t shards;                      /* … to this. */
    uint32_t jobs;
    uint32_t record; /* enum sim_record_what */
    uint32_t check_percent;
    uint32_t bound; /* Deviations, with --bound. */
    uint64_t sweep; /* Its number, with --sweep. */
    uint32_t hang_ms;
    uint64_t step;  /* With --step. */
    uint64_t until; /* With --until. */
    const char *db;
    const char *artifact;    /* A file to be written; NULL: none. */
    const char *export_file; /* Likewise. */
    const char *good;        /* A commit; NULL: it is searched for. */
    const char *bad;         /* A commit; NULL: HEAD. */
    const char *name;        /* NULL: what is usual. */
    const char *folder;      /* Likewise. */
    const char *lcov;        /* A folder; NULL: none. */
    const char *junit;       /* A file to be written; NULL: none. */
    struct sim_assignment params[SIM_ASSIGNMENTS_MAX];
    uint32_t param_count;
    struct sim_assignment options[SIM_ASSIGNMENTS_MAX];
    uint32_t option_count;
};

static inline bool
sim_given(const struct sim_settings *settings, enum sim_cli_option option)
{
    return (settings->given >> option & 1) != 0;
}

/* A command's view of the list. */
struct sim_command;

/*
 * Reads the environment and the flags of `command` from `arguments`; *ret_first is the index of the
 * first that is none (they are moved to the end). False after one line on stderr.
 */
bool sim_cli_parse(const struct sim_command *command, int count, char **arguments,
        struct sim_settings *ret_settings, int *ret_first);

/* What the list says of an option; NULL and 0 where there is nothing. Static. */
struct sim_cli_option_text {
    const char *name; /* Long. */
    const char *argument;
    const char *environment;
    const char *about;
    char letter;
};

struct sim_cli_option_text sim_cli_option_text(enum sim_cli_option option);

/* Prints the help of `command` on stdout. */
void sim_cli_help(const struct sim_command *command);

/* A whole number in `text` (decimal or 0x…), at most `max`. */
bool sim_number_parse(const char *text, uint64_t max, uint64_t *ret_number);

#endif

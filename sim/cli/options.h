/*
 * options.h -- the one table of options, from which parser, environment, help, manual and
 * completion are made. Flags win over the environment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/search/strategy.h"

/*
 * Name, letter (or 0), long name (or NULL), argument (or NULL), environment (or NULL); set_… of
 * options.c, which reads the argument, and the field of struct sim_settings that it gets (`given`,
 * the first: all of them); about.
 */
#define SIM_CLI_OPTION_LIST(X) \
    X(SEED, 0, "seed", "S", "REWAKE_SEED", seed, seed, \
            "seed of the first run of each scenario; default 1") \
    X(SEEDS, 0, "seeds", "A-B", NULL, range, given, "run exactly the seeds from A to B") \
    X(RUNS, 0, "runs", "N", "REWAKE_RUNS", count, runs, \
            "runs of each scenario; default 1000 (explore: a million)") \
    X(TIME, 0, "time", "60s", "REWAKE_TIME", time, time_ms, \
            "stop after this time (ms, s, m, h), shared fairly among the scenarios") \
    X(PARAM, 'D', NULL, "NAME=N", NULL, param, given, \
            "set a parameter of the scenarios that declare it") \
    X(OPTION, 'O', NULL, "NAME=VALUE", NULL, option, given, \
            "set an option of the runs, by a number or a name; listed below") \
    X(STRATEGY, 0, "strategy", "NAME", "REWAKE_STRATEGY", strategy, given, \
            "how to search: NAME or NAME:key=value,... (run: portfolio)") \
    X(JOBS, 0, "jobs", "N", "REWAKE_JOBS", jobs, jobs, \
            "worker processes; default: one for each processor") \
    X(DB, 0, "db", "FILE", "REWAKE_DB", db, db, "the trace database; default .rewake/trace.db") \
    X(RECORD, 0, "record", "WHAT", NULL, record, record, \
            "runs to store: news (failures, new coverage; default), all, or none (no file)") \
    X(CHECK, 0, "check-determinism", "PCT", NULL, percent, check_percent, \
            "repeat PCT percent of the runs in another process, and compare") \
    X(FAIL_FAST, 0, "fail-fast", NULL, NULL, flag, given, "stop at the first failure") \
    X(BUILTIN, 0, "builtin", NULL, NULL, flag, given, \
            "all scenarios that are built into rewake, where no library and no pattern is given") \
    X(EXPECT, 0, "expect", NULL, NULL, flag, given, \
            "a scenario passes when it ends in the verdict that it declares") \
    X(FRESH, 0, "fresh", NULL, NULL, flag, given, "do not try remembered failures first") \
    X(HANG, 0, "hang", "10s", NULL, hang, hang_ms, \
            "real time after which a step that does not return is a hang") \
    X(LENIENT, 0, "lenient", NULL, NULL, flag, given, \
            "replay a tape as far as it fits, by the alternatives' ids") \
    X(NO_SHRINK, 0, "no-shrink", NULL, NULL, flag, given, \
            "report failures as found, not minimized") \
    X(GOALS, 0, "goals", NULL, NULL, flag, given, \
            "a goal that no run of a sweep reaches is a failure") \
    X(MAX_WASTE, 0, "max-waste", "N", NULL, limit, max_waste, \
            "a run that does something for nothing more than N times at one place is a failure: " \
            "wakes of finished tasks, by stale wakers, wakers piled up, idle turns of a loop, " \
            "waits " \
            "that only their time-outs ended") \
    X(SATURATED, 0, "until-saturated", NULL, NULL, flag, given, \
            "stop when more runs would find little new") \
    X(DISTILL, 0, "distill", NULL, NULL, flag, given, \
            "print the fewest runs with the same coverage") \
    X(CODE, 0, "code", NULL, NULL, flag, given, "edges of code, in a build that counts them") \
    X(PROGRAMS, 0, "programs", NULL, NULL, flag, given, \
            "list the bugs that are programs and no scenarios, and how to run each") \
    X(SWEEP, 0, "sweep", "ID", NULL, count, sweep, \
            "the sweep with this number, as `coverage --all` prints it") \
    X(ALL, 0, "all", NULL, NULL, flag, given, "every sweep, not only the newest of each scenario") \
    X(BOUND, 0, "bound", "K", NULL, bound, bound, \
            "only runs with at most K deviations from the baseline run") \
    X(EACH, 0, "each", NULL, NULL, flag, given, \
            "replay many: all arguments, and each token of a file") \
    X(ARTIFACT, 0, "artifact", "FILE", NULL, file, artifact, \
            "also write the run as a fuzzer's input, to a new file") \
    X(EXPORT, 0, "export", "FILE", NULL, file, export_file, \
            "also write the run for another program, to a new file: .pftrace, .json, .dot") \
    X(STEP, 0, "step", "N", NULL, step, step, "print this step, or stop there with --gdb") \
    X(UNTIL, 0, "until", "N", NULL, step, until, \
            "print the run up to this step, and the state of each actor after it") \
    X(VERBOSE, 'v', "verbose", NULL, NULL, flag, given, \
            "run: what a passing search is worth; replay --until: each event on a separate line, " \
            "with its source location") \
    X(QUIET, 'q', "quiet", NULL, NULL, flag, given, "a line for what failed, and no other") \
    X(GDB, 0, "gdb", NULL, NULL, flag, given, \
            "make the run under gdb; default: stop at the step that matters") \
    X(HERE, 0, "here", NULL, NULL, flag, given, \
            "in this process, which traps (SIGTRAP) at --step: for any debugger") \
    X(GOOD, 0, "good", "REV", NULL, text, good, "a commit with which the run passes") \
    X(BAD, 0, "bad", "REV", NULL, text, bad, "a commit with which it fails; default HEAD") \
    X(NAME, 0, "name", "NAME", NULL, text, name, "the name of the new scenario") \
    X(FOLDER, 'o', NULL, "PATH", NULL, file, folder, "the folder, or the file, to write") \
    X(LCOV, 0, "lcov", "DIR", NULL, file, lcov, \
            "lcov's pages, to be linked; default build/coverage/html") \
    X(JUNIT, 0, "junit", "FILE", NULL, file, junit, "also write the result as JUnit XML") \
    X(SEED_FROM_GIT, 0, "seed-from-git", NULL, NULL, flag, given, \
            "seed of the first run: 12 digits of the commit that is checked out here") \
    X(SHARD, 0, "shard", "I/N", NULL, shard, given, \
            "make part I of N of the sweep; `rewake merge` joins them") \
    X(APART, 0, "apart", NULL, NULL, flag, given, \
            "keep parts of different sweeps apart instead of refusing them") \
    X(ENV, 0, "env", "NAME=VALUE", NULL, environment, given, \
            "a variable of the program's environment, beside the usual ones") \
    X(PEER, 0, "peer", "KIND:PORT", NULL, peer, given, \
            "a client of the program, or several: [Nx]KIND:PORT[:TEXT[:ANSWER]] with KIND one of " \
            "connect, send, halfclose, reset, slow; or FILE.so[:NAME], a scenario") \
    X(SLOW_STEPS, 0, "slow-steps", NULL, NULL, slow_steps, given, \
            "of a program: slow steps are not bounded by milliseconds") \
    X(LEAKS, 0, "leaks", NULL, NULL, leaks, given, \
            "of a program: memory that is not freed at its end is a leak") \
    X(LATE_TIMEOUTS, 0, "late-timeouts", NULL, NULL, late_timeouts, given, \
            "of a program: progress that only the time-out of a wait brings is a late wake-up") \
    X(FAULTS, 0, "faults", "NAMES", NULL, faults, given, \
            "faults to inject, by name: cancel, clock, capacity, eintr, migrate, reentrancy, " \
            "net, calls (calls of a program, malloc too, fail), partition; as -O faults=NAMES") \
    X(JSON, 0, "json", NULL, NULL, flag, given, "one JSON object a line on stdout") \
    X(HELP, 'h', "help", NULL, NULL, flag, given, "this text")

enum sim_cli_option {
#define SIM_CLI_OPTION_ENUM(name, ...) SIM_CLI_OPTION_##name,
    SIM_CLI_OPTION_LIST(SIM_CLI_OPTION_ENUM)
#undef SIM_CLI_OPTION_ENUM
            SIM_CLI_OPTIONS
};

/* Of the mask of a command's options; every command has --help. */
#define SIM_OPT(name) (UINT64_C(1) << SIM_CLI_OPTION_##name)
/* Of `rewake run`, and of `rewake watch`, which starts it. */
#define SIM_RUN_OPTIONS \
    (SIM_OPT(SEED) | SIM_OPT(SEEDS) | SIM_OPT(RUNS) | SIM_OPT(TIME) | SIM_OPT(PARAM) | \
            SIM_OPT(OPTION) | SIM_OPT(STRATEGY) | SIM_OPT(JOBS) | SIM_OPT(DB) | SIM_OPT(RECORD) | \
            SIM_OPT(BUILTIN) | SIM_OPT(VERBOSE) | SIM_OPT(QUIET) | SIM_OPT(CHECK) | \
            SIM_OPT(FAIL_FAST) | SIM_OPT(EXPECT) | SIM_OPT(GOALS) | SIM_OPT(MAX_WASTE) | \
            SIM_OPT(SATURATED) | SIM_OPT(FRESH) | SIM_OPT(HANG) | SIM_OPT(JSON) | \
            SIM_OPT(NO_SHRINK) | SIM_OPT(JUNIT) | SIM_OPT(SLOW_STEPS) | SIM_OPT(LEAKS) | \
            SIM_OPT(LATE_TIMEOUTS) | SIM_OPT(FAULTS))
#define SIM_ASSIGNMENTS_MAX 64u
#define SIM_SHARDS_MAX 4096u

enum sim_record_what { SIM_RECORD_NEWS, SIM_RECORD_ALL, SIM_RECORD_NONE };

/* NAME=VALUE, as on the command line. */
struct sim_assignment {
    const char *name; /* Of `name_length`; not terminated there. */
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
    uint64_t max_waste;
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
    const char *environment[SIM_ASSIGNMENTS_MAX]; /* Of a program: NAME=VALUE. */
    uint32_t environment_count;
    const char *peers[SIM_ASSIGNMENTS_MAX]; /* Of a program. */
    uint32_t peer_count;
};

static inline bool
sim_given(const struct sim_settings *settings, enum sim_cli_option option)
{
    return (settings->given >> option & 1) != 0;
}

struct sim_command;

/*
 * Reads the environment and the flags of `command` from `arguments`; *ret_first is the index of the
 * first that is none (they are moved to the end). False after one line on stderr.
 */
bool sim_cli_parse(const struct sim_command *command, int count, char **arguments,
        struct sim_settings *ret_settings, int *ret_first);

/* Whether `command` has it. */
bool sim_cli_has_option(const struct sim_command *command, enum sim_cli_option option);

/* A row of the table; NULL and 0 where it has nothing. Static. */
struct sim_cli_option_text {
    const char *name; /* Long. */
    const char *argument;
    const char *environment;
    const char *about;
    char letter;
};

struct sim_cli_option_text sim_cli_option_text(enum sim_cli_option option);

/* "--seed", "-D": as it is typed. */
#define SIM_CLI_FLAG_MAX 40u
void sim_cli_flag(enum sim_cli_option option, char ret_flag[SIM_CLI_FLAG_MAX]);

/* Options that exclude each other. True after one line on stderr: both of a pair were given. */
struct sim_cli_pair {
    enum sim_cli_option one;
    enum sim_cli_option other;
};

bool sim_cli_exclude(
        const struct sim_settings *settings, const struct sim_cli_pair *pairs, uint32_t count);

/* Prints the help of `command` on stdout. */
void sim_cli_help(const struct sim_command *command);

/* A whole number in `text` (decimal or 0x…), at most `max`. */
bool sim_number_parse(const char *text, uint64_t max, uint64_t *ret_number);

/*
 * options.c -- reading flags and environment by one table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/cli/cli.h"
#include "sim/cli/print/terminal.h"
#include "sim/core/options.h"
#include "sim/engine/token.h"
#include "sim/engine/worker/pool.h"

/* Values of long options for getopt: above every letter. */
#define LONG_BASE 256
#define DEFAULT_STRATEGY "portfolio"

static const struct sim_cli_option_text rows[] = {
#define OPTION_ROW(name, letter, long_name, argument, environment, about) \
    {long_name, argument, environment, about, letter},
        SIM_CLI_OPTION_LIST(OPTION_ROW)
#undef OPTION_ROW
};

_Static_assert(SIM_CLI_OPTIONS < 64, "options are bits of a mask");

struct sim_cli_option_text
sim_cli_option_text(enum sim_cli_option option)
{
    rt_assert((uint32_t)option < SIM_CLI_OPTIONS);
    return rows[option];
}

/* ---- Values. --------------------------------------------------------------------------------- */

bool
sim_number_parse(const char *text, uint64_t max, uint64_t *ret_number)
{
    bool hex = strncmp(text, "0x", 2) == 0;
    size_t length = strlen(text + (hex ? 2 : 0));
    if (length == 0 ||
            strspn(text + (hex ? 2 : 0), hex ? "0123456789abcdef" : "0123456789") != length) {
        return false;
    }
    errno = 0;
    unsigned long long number = strtoull(text, NULL, hex ? 16 : 10);
    if (errno != 0 || number > max) {
        return false;
    }
    *ret_number = number;
    return true;
}

/* "A-B" with A <= B. */
static const char *
set_seeds(struct sim_settings *settings, const char *value)
{
    char first[32] = "";
    const char *dash = strchr(value, '-');
    size_t length = dash != NULL ? (size_t)(dash - value) : sizeof(first);
    if (length >= sizeof(first)) {
        return "is no range of seeds such as 1-1000";
    }
    memcpy(first, value, length);
    if (!sim_seed_parse(first, &settings->seed) ||
            !sim_seed_parse(dash + 1, &settings->seed_last)) {
        return "is no range of seeds from 0 to 2^63-1, such as 1-1000";
    }
    return settings->seed <= settings->seed_last ? NULL
                                                 : "is a range whose end comes before its start";
}

static bool
parse_time(const char *value, uint64_t *ret_ms)
{
    static const struct {
        const char *unit;
        uint64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"", 1000}};
    char number[24] = "";
    size_t length = strspn(value, "0123456789");
    if (length >= sizeof(number)) {
        return false;
    }
    memcpy(number, value, length);
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        if (strcmp(value + length, units[i].unit) == 0) {
            uint64_t count = 0;
            if (!sim_number_parse(number, UINT32_MAX, &count) || count == 0) {
                return false;
            }
            *ret_ms = count * units[i].ms;
            return true;
        }
    }
    return false;
}

static const char *
set_hang(struct sim_settings *settings, const char *value)
{
    uint64_t ms = 0;
    if (!parse_time(value, &ms) || ms > INT32_MAX) {
        return "is no time such as 10s or 500ms";
    }
    settings->hang_ms = (uint32_t)ms;
    return NULL;
}

/* Two strategies have ways of their own to be run: a seed says all of `random`, and nothing of
 * `baseline`. */
static void
set_search(struct sim_settings *settings, const struct sim_search *search)
{
    const char *name = sim_strategy_at(search->kind)->name;
    bool plain = search->swarm == 0;
    settings->search = *search;
    sim_search_text(search, settings->strategy, sizeof(settings->strategy));
    settings->how = SIM_HOW_SEARCH;
    if (plain && strcmp(name, "random") == 0) {
        settings->how = SIM_HOW_RANDOM;
    } else if (plain && strcmp(name, "baseline") == 0) {
        settings->how = SIM_HOW_BASELINE;
    }
}

static const char *
set_strategy(struct sim_settings *settings, const char *value)
{
    struct sim_search search;
    if (!sim_search_parse(value, &search, settings->refusal)) {
        return settings->refusal;
    }
    set_search(settings, &search);
    return NULL;
}

static void
set_default_strategy(struct sim_settings *settings)
{
    struct sim_search search;
    sim_search_init(&search, sim_strategy_find(DEFAULT_STRATEGY));
    set_search(settings, &search);
}

static const char *
set_record(struct sim_settings *settings, const char *value)
{
    static const char *const words[] = {"news", "all", "none"};
    for (uint32_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(value, words[i]) == 0) {
            settings->record = i;
            return NULL;
        }
    }
    return "is none of news, all, none";
}

static const char *
set_small(uint32_t *number, const char *value, uint64_t min, uint64_t max, const char *complaint)
{
    uint64_t wide = 0;
    if (!sim_number_parse(value, max, &wide) || wide < min) {
        return complaint;
    }
    *number = (uint32_t)wide;
    return NULL;
}

static const char *
assign(struct sim_assignment *list, uint32_t *count, const char *value)
{
    const char *equals = strchr(value, '=');
    if (equals == NULL || equals == value || equals[1] == '\0') {
        return "is not of the form NAME=NUMBER";
    }
    if (*count == SIM_ASSIGNMENTS_MAX) {
        return "is one assignment too many";
    }
    list[(*count)++] = (struct sim_assignment){value, (size_t)(equals - value), equals + 1};
    return NULL;
}

static const char *
set_seed(struct sim_settings *settings, const char *value)
{
    return sim_seed_parse(value, &settings->seed) ? NULL : "is no seed: a number below 2^63";
}

static const char *
set_runs(struct sim_settings *settings, const char *value)
{
    return sim_number_parse(value, INT64_MAX, &settings->runs) && settings->runs > 0
                   ? NULL
                   : "is no number of runs";
}

static const char *
set_time(struct sim_settings *settings, const char *value)
{
    return parse_time(value, &settings->time_ms) ? NULL : "is no time such as 60s, 500ms, 5m, 1h";
}

static const char *
set_db(struct sim_settings *settings, const char *value)
{
    if (*value == '\0') {
        return "names no file";
    }
    /* SQLite has names that are none of files; a database that is gone at the end is no use. */
    if (strcmp(value, ":memory:") == 0 || strncmp(value, "file:", 5) == 0) {
        return "is no file name (write ./ in front if the file is called that)";
    }
    settings->db = value;
    return NULL;
}

static const char *
set_file(const char **path, const char *value)
{
    *path = value;
    return *value != '\0' ? NULL : "names no file";
}

static const char *
set_step(uint64_t *step, const char *value)
{
    return sim_number_parse(value, UINT32_MAX, step) && *step > 0
                   ? NULL
                   : "is no step: they are numbered from 1";
}

/* "I/N" with I from 1 to N. */
static const char *
set_shard(struct sim_settings *settings, const char *value)
{
    char which[16] = "";
    uint64_t shard = 0;
    uint64_t shards = 0;
    const char *slash = strchr(value, '/');
    size_t length = slash != NULL ? (size_t)(slash - value) : sizeof(which);
    if (length >= sizeof(which)) {
        return "is no part of a sweep such as 1/3, the first of three";
    }
    memcpy(which, value, length);
    if (!sim_number_parse(which, SIM_SHARDS_MAX, &shard) ||
            !sim_number_parse(slash + 1, SIM_SHARDS_MAX, &shards) || shard == 0 || shard > shards) {
        return "is no part I/N of a sweep with I from 1 to N, and N at most 4096";
    }
    settings->shard = (uint32_t)shard;
    settings->shards = (uint32_t)shards;
    return NULL;
}

/* Takes the value of one option; NULL, or what is wrong with it. */
static const char *
set(struct sim_settings *settings, enum sim_cli_option option, const char *value)
{
    switch (option) {
    case SIM_CLI_OPTION_SEED:
        return set_seed(settings, value);
    case SIM_CLI_OPTION_SEEDS:
        return set_seeds(settings, value);
    case SIM_CLI_OPTION_RUNS:
        return set_runs(settings, value);
    case SIM_CLI_OPTION_TIME:
        return set_time(settings, value);
    case SIM_CLI_OPTION_PARAM:
        return assign(settings->params, &settings->param_count, value);
    case SIM_CLI_OPTION_OPTION:
        return assign(settings->options, &settings->option_count, value);
    case SIM_CLI_OPTION_STRATEGY:
        return set_strategy(settings, value);
    case SIM_CLI_OPTION_JOBS:
        return set_small(&settings->jobs, value, 1, SIM_JOBS_MAX, "is not from 1 to 256");
    case SIM_CLI_OPTION_DB:
        return set_db(settings, value);
    case SIM_CLI_OPTION_RECORD:
        return set_record(settings, value);
    case SIM_CLI_OPTION_CHECK:
        return set_small(&settings->check_percent, value, 0, 100, "is no percentage, 0 to 100");
    case SIM_CLI_OPTION_HANG:
        return set_hang(settings, value);
    case SIM_CLI_OPTION_SWEEP:
        return sim_number_parse(value, INT64_MAX, &settings->sweep) && settings->sweep > 0
                       ? NULL
                       : "is no number of a sweep";
    case SIM_CLI_OPTION_BOUND:
        return set_small(&settings->bound, value, 0, 1000000, "is no number of deviations");
    case SIM_CLI_OPTION_EXPORT:
        return set_file(&settings->export_file, value);
    case SIM_CLI_OPTION_GOOD:
        settings->good = value;
        return NULL;
    case SIM_CLI_OPTION_BAD:
        settings->bad = value;
        return NULL;
    case SIM_CLI_OPTION_STEP:
        return set_step(&settings->step, value);
    case SIM_CLI_OPTION_UNTIL:
        return set_step(&settings->until, value);
    case SIM_CLI_OPTION_ARTIFACT:
        return set_file(&settings->artifact, value);
    case SIM_CLI_OPTION_NAME:
        settings->name = value;
        return NULL;
    case SIM_CLI_OPTION_FOLDER:
        return set_file(&settings->folder, value);
    case SIM_CLI_OPTION_LCOV:
        return set_file(&settings->lcov, value);
    case SIM_CLI_OPTION_JUNIT:
        return set_file(&settings->junit, value);
    case SIM_CLI_OPTION_SHARD:
        return set_shard(settings, value);
    case SIM_CLI_OPTION_SEED_FROM_GIT:
    case SIM_CLI_OPTION_APART:
    case SIM_CLI_OPTION_FAIL_FAST:
    case SIM_CLI_OPTION_EXPECT:
    case SIM_CLI_OPTION_FRESH:
    case SIM_CLI_OPTION_NO_SHRINK:
    case SIM_CLI_OPTION_EACH:
    case SIM_CLI_OPTION_LENIENT:
    case SIM_CLI_OPTION_GOALS:
    case SIM_CLI_OPTION_SATURATED:
    case SIM_CLI_OPTION_DISTILL:
    case SIM_CLI_OPTION_CODE:
    case SIM_CLI_OPTION_ALL:
    case SIM_CLI_OPTION_VERBOSE:
    case SIM_CLI_OPTION_GDB:
    case SIM_CLI_OPTION_HERE:
    case SIM_CLI_OPTION_JSON:
    case SIM_CLI_OPTION_HELP:
    case SIM_CLI_OPTIONS:
        break;
    }
    return NULL;
}

/* ---- The environment, then the flags. -------------------------------------------------------- */

static bool
read_environment(const struct sim_command *command, struct sim_settings *settings)
{
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        const char *value = rows[i].environment != NULL && (command->options >> i & 1) != 0
                                    ? getenv(rows[i].environment)
                                    : NULL;
        if (value == NULL || *value == '\0') {
            continue;
        }
        const char *wrong = set(settings, (enum sim_cli_option)i, value);
        if (wrong != NULL) {
            (void)sim_cli_fail(SIM_EXIT_USAGE, "the environment's %s: '%s' %s", rows[i].environment,
                    value, wrong);
            return false;
        }
        settings->given |= UINT64_C(1) << i;
    }
    return true;
}

struct table {
    struct option longs[SIM_CLI_OPTIONS + 1];
    char shorts[2 * SIM_CLI_OPTIONS + 2];
};

/* What getopt_long wants to know. */
static void
make_table(const struct sim_command *command, struct table *ret)
{
    uint32_t longs = 0;
    size_t used = 0;
    *ret = (struct table){.shorts = ":"};
    used = 1;
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        if ((command->options >> i & 1) == 0) {
            continue;
        }
        int has = rows[i].argument != NULL ? required_argument : no_argument;
        if (rows[i].name != NULL) {
            ret->longs[longs++] = (struct option){rows[i].name, has, NULL, LONG_BASE + (int)i};
        }
        if (rows[i].letter != 0) {
            ret->shorts[used++] = rows[i].letter;
            if (has == required_argument) {
                ret->shorts[used++] = ':';
            }
        }
    }
}

static enum sim_cli_option
option_of(int answer)
{
    for (uint32_t i = 0; answer < LONG_BASE && i < SIM_CLI_OPTIONS; i++) {
        if (rows[i].letter != 0 && rows[i].letter == answer) {
            return (enum sim_cli_option)i;
        }
    }
    rt_assert(answer >= LONG_BASE);
    return (enum sim_cli_option)(answer - LONG_BASE);
}

static bool
take_flag(const struct sim_command *command, int answer, char **arguments,
        struct sim_settings *settings)
{
    if (answer == '?' || answer == ':') {
        (void)sim_cli_fail(SIM_EXIT_USAGE,
                answer == ':' ? "%s: it needs a value; `rewake %s --help` says which"
                              : "%s: there is no such option here; `rewake %s --help` lists them",
                arguments[optind - 1], command->name);
        return false;
    }
    enum sim_cli_option option = option_of(answer);
    const char *wrong = set(settings, option, optarg);
    if (wrong != NULL) {
        (void)sim_cli_fail(SIM_EXIT_USAGE, "%s%s: '%s' %s", rows[option].name != NULL ? "--" : "-",
                rows[option].name != NULL ? rows[option].name
                                          : (const char[]){rows[option].letter, '\0'},
                optarg, wrong);
        return false;
    }
    settings->given |= UINT64_C(1) << option;
    return true;
}

/* Flags that say the same thing twice, and perhaps not the same. */
static bool
contradicts(const struct sim_settings *settings)
{
    static const enum sim_cli_option others[] = {SIM_CLI_OPTION_SEED, SIM_CLI_OPTION_RUNS};
    if (sim_given(settings, SIM_CLI_OPTION_SWEEP) && sim_given(settings, SIM_CLI_OPTION_ALL)) {
        (void)sim_cli_fail(SIM_EXIT_USAGE, "--sweep and --all exclude each other");
        return true;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (sim_given(settings, SIM_CLI_OPTION_SEEDS) && sim_given(settings, others[i])) {
            (void)sim_cli_fail(SIM_EXIT_USAGE,
                    "--seeds and --%s exclude each other: --seeds A-B says both where to begin and "
                    "how far to go",
                    rows[others[i]].name);
            return true;
        }
    }
    if (sim_given(settings, SIM_CLI_OPTION_SEED_FROM_GIT) &&
            (sim_given(settings, SIM_CLI_OPTION_SEED) ||
                    sim_given(settings, SIM_CLI_OPTION_SEEDS))) {
        (void)sim_cli_fail(SIM_EXIT_USAGE,
                "--seed-from-git and --seed%s exclude each other: both say where to begin",
                sim_given(settings, SIM_CLI_OPTION_SEED) ? "" : "s");
        return true;
    }
    return false;
}

bool
sim_cli_parse(const struct sim_command *command, int count, char **arguments,
        struct sim_settings *ret_settings, int *ret_first)
{
    struct table table;
    int answer = 0;
    *ret_settings = (struct sim_settings){
            .seed = 1, .runs = 1000, .hang_ms = SIM_HANG_MS, .jobs = sim_processors()};
    set_default_strategy(ret_settings);
    if (!read_environment(command, ret_settings)) {
        return false;
    }
    /* From here on `given` is what the flags give; they win over the environment. */
    uint64_t environment = ret_settings->given;
    ret_settings->given = 0;
    make_table(command, &table);
    opterr = 0;
    /* 0 and not 1: glibc forgets the rest of a word that an earlier reading stopped in. */
    optind = 0;
    while ((answer = getopt_long(count, arguments, table.shorts, table.longs, NULL)) != -1) {
        if (!take_flag(command, answer, arguments, ret_settings)) {
            return false;
        }
    }
    if (contradicts(ret_settings)) {
        return false;
    }
    if (sim_given(ret_settings, SIM_CLI_OPTION_SEEDS)) {
        environment &= ~(SIM_CLI_OPTION_BIT(SEED) | SIM_CLI_OPTION_BIT(RUNS));
    }
    if (sim_given(ret_settings, SIM_CLI_OPTION_SEED_FROM_GIT)) {
        environment &= ~SIM_CLI_OPTION_BIT(SEED);
    }
    ret_settings->given |= environment;
    *ret_first = optind;
    return true;
}

/* ---- Help. ----------------------------------------------------------------------------------- */

static void
help_option(const struct sim_cli_option_text *row)
{
    char left[48];
    (void)snprintf(left, sizeof(left), "%c%.1s%s%s%s%s%s", row->letter != 0 ? '-' : ' ',
            row->letter != 0 ? &row->letter : " ", row->letter != 0 && row->name != NULL ? "," : "",
            row->name != NULL ? " --" : "", row->name != NULL ? row->name : "",
            row->argument != NULL ? " " : "", row->argument != NULL ? row->argument : "");
    (void)printf("  %-28s ", left);
    sim_print_folded(row->about, 31, 31);
    if (row->environment != NULL) {
        (void)printf("  %-28s (environment: %s)\n", "", row->environment);
    }
}

static void
help_run_options(void)
{
    (void)printf("\nOptions of the runs, for -O:\n");
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        char text[256];
        bool from_scenario = sim_option_default(i) == SIM_FAULT_FROM_SCENARIO;
        int used = snprintf(text, sizeof(text), "%s (default%s", sim_option_about(i),
                from_scenario ? ": what the scenario survives)" : " ");
        rt_assert(used > 0 && (size_t)used < sizeof(text));
        if (!from_scenario) {
            (void)snprintf(text + used, sizeof(text) - (size_t)used, "%llu)",
                    (unsigned long long)sim_option_default(i));
        }
        (void)printf("  %-18s ", sim_option_name(i));
        sim_print_folded(text, 21, 21);
    }
}

void
sim_cli_help(const struct sim_command *command)
{
    (void)printf("usage: rewake %s %s\n\n%s\n", command->name, command->usage, command->about);
    if (command->help != NULL) {
        (void)printf("\n%s", command->help);
    }
    (void)printf("\nOptions:\n");
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        if ((command->options >> i & 1) != 0) {
            help_option(&rows[i]);
        }
    }
    if ((command->options & SIM_CLI_OPTION_BIT(OPTION)) != 0) {
        help_run_options();
    }
}

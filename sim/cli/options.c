/*
 * options.c -- reads flags and environment by one table, and prints the help from it.
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
#include "sim/base/nearest.h"
#include "sim/base/terminal.h"
#include "sim/cli/cli.h"
#include "sim/core/decide/options.h"
#include "sim/engine/token.h"
#include "sim/engine/worker/pool.h"

/* Values of long options for getopt: above every letter. */
#define LONG_BASE 256
#define DEFAULT_STRATEGY "portfolio"

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

/* Two strategies are made without a search: a seed determines every run of `random`, and none of
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

static void
set_default_strategy(struct sim_settings *settings)
{
    struct sim_search search;
    sim_search_init(&search, sim_strategy_find(DEFAULT_STRATEGY));
    set_search(settings, &search);
}

/* ---- Values: set_… writes one to `field`, and returns NULL, or what is wrong. -------------- */

static const char *
set_flag(void *field, const char *value)
{
    (void)field;
    (void)value;
    return NULL;
}

static const char *
set_seed(void *field, const char *value)
{
    return sim_seed_parse(value, field) ? NULL : "is not a seed: a number below 2^63";
}

/* "A-B" with A <= B, or "A". */
static const char *
set_range(void *field, const char *value)
{
    struct sim_settings *settings = field;
    char first[32] = "";
    const char *dash = strchr(value, '-');
    size_t length = dash != NULL ? (size_t)(dash - value) : strlen(value);
    if (length >= sizeof(first)) {
        return "is not a range of seeds such as 1-1000";
    }
    memcpy(first, value, length);
    if (!sim_seed_parse(first, &settings->seed) ||
            !sim_seed_parse(dash != NULL ? dash + 1 : value, &settings->seed_last)) {
        return "is not a range of seeds from 0 to 2^63-1, such as 1-1000";
    }
    return settings->seed <= settings->seed_last ? NULL
                                                 : "is a range whose end comes before its start";
}

static const char *
set_count(void *field, const char *value)
{
    uint64_t *count = field;
    return sim_number_parse(value, INT64_MAX, count) && *count > 0 ? NULL
                                                                   : "is not a number above 0";
}

static const char *
set_limit(void *field, const char *value)
{
    return sim_number_parse(value, INT64_MAX, field) ? NULL : "is not a number";
}

static const char *
set_step(void *field, const char *value)
{
    uint64_t *step = field;
    return sim_number_parse(value, UINT32_MAX, step) && *step > 0
                   ? NULL
                   : "is not a step: they are numbered from 1";
}

static const char *
set_time(void *field, const char *value)
{
    return parse_time(value, field) ? NULL : "is not a time such as 60s, 500ms, 5m, 1h";
}

static const char *
set_hang(void *field, const char *value)
{
    uint64_t ms = 0;
    if (!parse_time(value, &ms) || ms > INT32_MAX) {
        return "is not a time such as 10s or 500ms";
    }
    *(uint32_t *)field = (uint32_t)ms;
    return NULL;
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
set_jobs(void *field, const char *value)
{
    return set_small(field, value, 1, SIM_JOBS_MAX, "is not a number from 1 to 256");
}

static const char *
set_percent(void *field, const char *value)
{
    return set_small(field, value, 0, 100, "is not a percentage, 0 to 100");
}

static const char *
set_bound(void *field, const char *value)
{
    return set_small(field, value, 0, 1000000, "is not a number of deviations");
}

static const char *
assign(struct sim_assignment *list, uint32_t *count, const char *value)
{
    const char *equals = strchr(value, '=');
    if (equals == NULL || equals == value || equals[1] == '\0') {
        return "is not of the form NAME=VALUE";
    }
    if (*count == SIM_ASSIGNMENTS_MAX) {
        return "is one assignment too many";
    }
    list[(*count)++] = (struct sim_assignment){value, (size_t)(equals - value), equals + 1};
    return NULL;
}

static const char *
set_param(void *field, const char *value)
{
    struct sim_settings *settings = field;
    return assign(settings->params, &settings->param_count, value);
}

static const char *
set_option(void *field, const char *value)
{
    struct sim_settings *settings = field;
    return assign(settings->options, &settings->option_count, value);
}

/* Short for -O faults=NAMES. */
static const char *
set_faults(void *field, const char *value)
{
    struct sim_settings *settings = field;
    if (settings->option_count == SIM_ASSIGNMENTS_MAX) {
        return "is one assignment too many";
    }
    settings->options[settings->option_count++] = (struct sim_assignment){"faults", 6, value};
    return NULL;
}

static const char *
set_environment(void *field, const char *value)
{
    struct sim_settings *settings = field;
    if (strchr(value, '=') == NULL || *value == '=') {
        return "is not of the form NAME=VALUE";
    }
    if (settings->environment_count == SIM_ASSIGNMENTS_MAX) {
        return "is one variable too many";
    }
    settings->environment[settings->environment_count++] = value;
    return NULL;
}

static const char *
set_peer(void *field, const char *value)
{
    struct sim_settings *settings = field;
    if (settings->peer_count == SIM_ASSIGNMENTS_MAX) {
        return "is one peer too many";
    }
    settings->peers[settings->peer_count++] = value;
    return NULL;
}

/* Short for parameters that each program has. */
static const char *
set_slow_steps(void *field, const char *value)
{
    (void)value;
    return set_param(field, "slow_steps=1");
}

static const char *
set_late_timeouts(void *field, const char *value)
{
    (void)value;
    return set_param(field, "late_timeouts=1");
}

static const char *
set_leaks(void *field, const char *value)
{
    (void)value;
    return set_param(field, "leaks=1");
}

static const char *
set_strategy(void *field, const char *value)
{
    struct sim_settings *settings = field;
    struct sim_search search;
    if (!sim_search_parse(value, &search, settings->refusal)) {
        return settings->refusal;
    }
    set_search(settings, &search);
    return NULL;
}

static const char *
set_record(void *field, const char *value)
{
    static const char *const words[] = {"news", "all", "none"};
    for (uint32_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(value, words[i]) == 0) {
            *(uint32_t *)field = i;
            return NULL;
        }
    }
    return "is none of news, all, none";
}

static const char *
set_text(void *field, const char *value)
{
    *(const char **)field = value;
    return NULL;
}

static const char *
set_file(void *field, const char *value)
{
    *(const char **)field = value;
    return *value != '\0' ? NULL : "names no file";
}

static const char *
set_db(void *field, const char *value)
{
    /* SQLite takes these for names of no file; the database would be gone at the end. */
    if (strcmp(value, ":memory:") == 0 || strncmp(value, "file:", 5) == 0) {
        return "is not a file name (write ./ before it if the file has this name)";
    }
    return set_file(field, value);
}

/* "I/N" with I from 1 to N. */
static const char *
set_shard(void *field, const char *value)
{
    struct sim_settings *settings = field;
    char which[16] = "";
    uint64_t shard = 0;
    uint64_t shards = 0;
    const char *slash = strchr(value, '/');
    size_t length = slash != NULL ? (size_t)(slash - value) : sizeof(which);
    if (length >= sizeof(which)) {
        return "is not a part of a sweep such as 1/3, the first of three";
    }
    memcpy(which, value, length);
    if (!sim_number_parse(which, SIM_SHARDS_MAX, &shard) ||
            !sim_number_parse(slash + 1, SIM_SHARDS_MAX, &shards) || shard == 0 || shard > shards) {
        return "is not a part I/N of a sweep with I from 1 to N, and N at most 4096";
    }
    settings->shard = (uint32_t)shard;
    settings->shards = (uint32_t)shards;
    return NULL;
}

/* ---- The table. ------------------------------------------------------------------------------ */

static const struct row {
    struct sim_cli_option_text text;
    const char *(*set)(void *field, const char *value);
    size_t field; /* Its offset in struct sim_settings. */
} rows[] = {
#define OPTION_ROW(name, letter, long_name, argument, environment, parse, field, about) \
    {{long_name, argument, environment, about, letter}, set_##parse, \
            offsetof(struct sim_settings, field)},
        SIM_CLI_OPTION_LIST(OPTION_ROW)
#undef OPTION_ROW
};

_Static_assert(SIM_CLI_OPTIONS < 64, "options are bits of a mask");
_Static_assert(offsetof(struct sim_settings, given) == 0, "`given` stands for all settings");

bool
sim_cli_has_option(const struct sim_command *command, enum sim_cli_option option)
{
    bool program = (option == SIM_CLI_OPTION_ENV || option == SIM_CLI_OPTION_PEER) &&
                   (command->takes & SIM_TAKES_LIBRARY) != 0;
    return option == SIM_CLI_OPTION_HELP || program || (command->options >> option & 1) != 0;
}

struct sim_cli_option_text
sim_cli_option_text(enum sim_cli_option option)
{
    rt_assert((uint32_t)option < SIM_CLI_OPTIONS);
    return rows[option].text;
}

void
sim_cli_flag(enum sim_cli_option option, char ret_flag[SIM_CLI_FLAG_MAX])
{
    struct sim_cli_option_text text = sim_cli_option_text(option);
    const char letter[] = {text.letter, '\0'};
    (void)snprintf(ret_flag, SIM_CLI_FLAG_MAX, "%s%s", text.name != NULL ? "--" : "-",
            text.name != NULL ? text.name : letter);
}

/* Takes the value of one option; NULL, or what is wrong with it. */
static const char *
set(struct sim_settings *settings, uint32_t option, const char *value)
{
    const char *wrong = rows[option].set((char *)settings + rows[option].field, value);
    settings->given |= wrong == NULL ? UINT64_C(1) << option : 0;
    return wrong;
}

/* ---- The environment, then the flags. -------------------------------------------------------- */

static bool
read_environment(const struct sim_command *command, struct sim_settings *settings)
{
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        const char *name = rows[i].text.environment;
        bool taken = name != NULL && sim_cli_has_option(command, (enum sim_cli_option)i);
        const char *value = taken ? getenv(name) : NULL;
        if (value == NULL || *value == '\0') {
            continue;
        }
        const char *wrong = set(settings, i, value);
        if (wrong != NULL) {
            (void)sim_cli_fail(SIM_EXIT_USAGE, "the environment's %s: '%s' %s", name, value, wrong);
            return false;
        }
    }
    return true;
}

struct table {
    struct option longs[SIM_CLI_OPTIONS + 1];
    char shorts[2 * SIM_CLI_OPTIONS + 2];
};

/* The options of `command`, for getopt_long. */
static void
make_table(const struct sim_command *command, struct table *ret)
{
    uint32_t longs = 0;
    size_t used = 0;
    *ret = (struct table){.shorts = ":"};
    used = 1;
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        if (!sim_cli_has_option(command, (enum sim_cli_option)i)) {
            continue;
        }
        const struct sim_cli_option_text *text = &rows[i].text;
        int has = text->argument != NULL ? required_argument : no_argument;
        if (text->name != NULL) {
            ret->longs[longs++] = (struct option){text->name, has, NULL, LONG_BASE + (int)i};
        }
        if (text->letter != 0) {
            ret->shorts[used++] = text->letter;
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
        if (rows[i].text.letter != 0 && rows[i].text.letter == answer) {
            return (enum sim_cli_option)i;
        }
    }
    rt_assert(answer >= LONG_BASE);
    return (enum sim_cli_option)(answer - LONG_BASE);
}

/* `flag` is none of its options. */
static void
refuse_flag(const struct sim_command *command, const char *flag)
{
    char word[SIM_NEAREST_MAX + 1];
    char hint[SIM_NEAREST_HINT_MAX];
    char flags[SIM_CLI_OPTIONS][SIM_CLI_FLAG_MAX];
    struct sim_nearest nearest = {.word = word};
    (void)snprintf(word, sizeof(word), "%.*s", (int)strcspn(flag, "="), flag);
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        sim_cli_flag((enum sim_cli_option)i, flags[i]);
        if (sim_cli_has_option(command, (enum sim_cli_option)i)) {
            sim_nearest_try(&nearest, flags[i], flags[i]);
        }
    }
    (void)sim_cli_fail(SIM_EXIT_USAGE, "there is no option %s%s (rewake help %s has all options)",
            flag, sim_nearest_hint(&nearest, hint), command->name);
}

static bool
take_flag(const struct sim_command *command, int answer, char **arguments,
        struct sim_settings *settings)
{
    if (answer == '?') {
        refuse_flag(command, arguments[optind - 1]);
        return false;
    }
    if (answer == ':') {
        (void)sim_cli_fail(SIM_EXIT_USAGE, "%s needs a value (rewake help %s has all options)",
                arguments[optind - 1], command->name);
        return false;
    }
    enum sim_cli_option option = option_of(answer);
    const char *wrong = set(settings, option, optarg);
    if (wrong != NULL) {
        char flag[SIM_CLI_FLAG_MAX];
        sim_cli_flag(option, flag);
        (void)sim_cli_fail(SIM_EXIT_USAGE, "%s: '%s' %s", flag, optarg, wrong);
    }
    return wrong == NULL;
}

bool
sim_cli_exclude(
        const struct sim_settings *settings, const struct sim_cli_pair *pairs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (sim_given(settings, pairs[i].one) && sim_given(settings, pairs[i].other)) {
            char one[SIM_CLI_FLAG_MAX];
            char other[SIM_CLI_FLAG_MAX];
            sim_cli_flag(pairs[i].one, one);
            sim_cli_flag(pairs[i].other, other);
            (void)sim_cli_fail(
                    SIM_EXIT_USAGE, "%s and %s exclude each other: leave one out", one, other);
            return true;
        }
    }
    return false;
}

static bool
contradicts(const struct sim_settings *settings)
{
    static const struct sim_cli_pair pairs[] = {
            {SIM_CLI_OPTION_SWEEP, SIM_CLI_OPTION_ALL},
            {SIM_CLI_OPTION_SEEDS, SIM_CLI_OPTION_SEED},
            {SIM_CLI_OPTION_SEEDS, SIM_CLI_OPTION_RUNS},
            {SIM_CLI_OPTION_SEED_FROM_GIT, SIM_CLI_OPTION_SEED},
            {SIM_CLI_OPTION_SEED_FROM_GIT, SIM_CLI_OPTION_SEEDS},
    };
    return sim_cli_exclude(settings, pairs, sizeof(pairs) / sizeof(*pairs));
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
    /* 0 and not 1: glibc then forgets the rest of a word in which an earlier call stopped. */
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
        environment &= ~(SIM_OPT(SEED) | SIM_OPT(RUNS));
    }
    if (sim_given(ret_settings, SIM_CLI_OPTION_SEED_FROM_GIT)) {
        environment &= ~SIM_OPT(SEED);
    }
    ret_settings->given |= environment;
    *ret_first = optind;
    return true;
}

/* ---- Help. ----------------------------------------------------------------------------------- */

/* A name in a column of `width`, and behind it `about`, folded. */
static void
help_row(int width, const char *name, const char *about, const char *more)
{
    char text[256];
    int used = snprintf(text, sizeof(text), "%s%s", about, more);
    rt_assert(used > 0 && (size_t)used < sizeof(text));
    (void)printf("  %-*s ", width, name);
    sim_print_folded(text, (size_t)width + 3, (uint32_t)width + 3);
}

static void
help_option(const struct sim_cli_option_text *option)
{
    char name[48];
    char environment[48] = "";
    char letter[4] = {option->letter != 0 ? '-' : ' ', option->letter != 0 ? option->letter : ' '};
    (void)snprintf(name, sizeof(name), "%s%s%s%s%s%s", letter,
            option->name == NULL || option->letter == 0 ? "" : ",",
            option->name != NULL ? " --" : "", option->name != NULL ? option->name : "",
            option->argument != NULL ? " " : "", option->argument != NULL ? option->argument : "");
    if (option->environment != NULL) {
        (void)snprintf(environment, sizeof(environment), " (environment: %s)", option->environment);
    }
    help_row(28, name, option->about, environment);
}

static void
help_run_options(void)
{
    (void)printf("\nOptions of the runs, for -O:\n");
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        char value[48] = " (default: as the scenario declares)";
        const char *word = sim_option_word(i, sim_option_default(i));
        if (word != NULL) {
            (void)snprintf(value, sizeof(value), " (default %s)", word);
        } else if (sim_option_default(i) != SIM_FAULT_FROM_SCENARIO) {
            (void)snprintf(value, sizeof(value), " (default %llu)",
                    (unsigned long long)sim_option_default(i));
        }
        help_row(18, sim_option_name(i), sim_option_about(i), value);
    }
}

void
sim_cli_help(const struct sim_command *command)
{
    const char *lead = "usage: ";
    for (const char *form = command->usage; form != NULL;) {
        const char *end = strchr(form, '\n');
        (void)printf("%srewake %s %.*s\n", lead, command->name,
                end != NULL ? (int)(end - form) : (int)strlen(form), form);
        form = end != NULL ? end + 1 : NULL;
        lead = "       ";
    }
    (void)printf("\n%s\n", command->about);
    if (command->help != NULL) {
        (void)printf("\n");
        sim_print_paragraphs(command->help);
    }
    (void)printf("\nOptions:\n");
    for (uint32_t i = 0; i < SIM_CLI_OPTIONS; i++) {
        if (sim_cli_has_option(command, (enum sim_cli_option)i)) {
            help_option(&rows[i].text);
        }
    }
    if (sim_cli_has_option(command, SIM_CLI_OPTION_OPTION)) {
        help_run_options();
    }
}

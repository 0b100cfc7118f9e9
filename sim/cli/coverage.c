/*
 * coverage.c -- `rewake coverage`: what the newest sweep of each scenario has covered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/glob.h"
#include "sim/base/heap.h"
#include "sim/base/json.h"
#include "sim/base/page.h"
#include "sim/base/terminal.h"
#include "sim/cli/coverage.h"
#include "sim/cli/select.h"
#include "sim/cli/subject/subject.h"
#include "sim/search/cover/species.h"
#include "sim/store/read.h"

/* One query after the other, up to the first error. */
struct printing {
    struct sim_cli *cli;
    struct sim_store *store;
    struct sim_page page;
    struct sim_json json;
    int64_t *sweeps; /* To print. */
    char **names;    /* Their scenarios. */
    uint32_t sweep_count;
    enum sim_store_err err;

    /* Of the sweep that is printed. */
    const struct list *list; /* As JSON. */
    char kind[32];           /* Of the last coverage point that was printed. */
    uint64_t growth_next;
    uint64_t growth_last[2]; /* Runs so far, covered. */
    uint64_t goals;
};

static void
ask(struct printing *printing, enum sim_asked asked, int64_t sweep,
        bool (*row)(const char *const *columns, void *argument))
{
    if (printing->err == SIM_STORE_OK) {
        printing->err = sim_store_ask(printing->store, asked, sweep, row, printing);
    }
}

static uint64_t
number(const char *text)
{
    return text != NULL ? strtoull(text, NULL, 10) : 0;
}

/* `part` of `whole` as percent, rounded up. */
#define PERCENT_MAX 32u
static const char *
percent(uint64_t part, uint64_t whole, char text[PERCENT_MAX])
{
    uint64_t thousandths = (part * 100000 + whole - 1) / whole;
    (void)snprintf(text, PERCENT_MAX, "%llu.%03llu %%", (unsigned long long)(thousandths / 1000),
            (unsigned long long)(thousandths % 1000));
    return text;
}

/* A paragraph. */
__attribute__((format(printf, 2, 3))) static void
put_wrapped(struct sim_page *page, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    sim_page_wrap(page, text, 0, 0, sim_columns());
}

/* ---- Which sweeps. --------------------------------------------------------------------------- */

/* With a library, only its scenarios. */
static bool
is_of_library(const struct sim_cli *cli, const char *scenario)
{
    const struct sim_entry *entry =
            cli->library != NULL ? sim_registry_find(&cli->registry, scenario) : NULL;
    return cli->library == NULL || (entry != NULL && entry->library != NULL);
}

static int64_t
wanted_sweeps(const struct sim_settings *settings)
{
    if (sim_given(settings, SIM_CLI_OPTION_ALL)) {
        return SIM_ALL_SWEEPS;
    }
    return sim_given(settings, SIM_CLI_OPTION_SWEEP) ? (int64_t)settings->sweep : 0;
}

static bool
note_sweep(const char *const *columns, void *argument)
{
    struct printing *printing = argument;
    const struct sim_cli *cli = printing->cli;
    if (!is_of_library(cli, columns[1]) ||
            !sim_glob_matches(columns[1], cli->arguments, cli->count)) {
        return true;
    }
    uint32_t count = printing->sweep_count + 1;
    printing->sweeps = sim_heap_resize(printing->sweeps, count, sizeof(*printing->sweeps));
    printing->names = sim_heap_resize(printing->names, count, sizeof(*printing->names));
    printing->sweeps[printing->sweep_count] = (int64_t)number(columns[0]);
    printing->names[printing->sweep_count] = sim_heap_text(columns[1]);
    printing->sweep_count = count;
    return true;
}

/* ---- For people. ----------------------------------------------------------------------------- */

static bool
print_head(const char *const *columns, void *argument)
{
    struct printing *printing = argument;
    struct sim_page *page = &printing->page;
    sim_page_tone(page, SIM_TONE_HEAD);
    sim_page_printf(page, "%s (sweep %s)\n", columns[1], columns[0]);
    sim_page_tone(page, SIM_TONE_PLAIN);
    put_wrapped(page,
            "%s coverage points in %s runs by %s, of which %s failed; the last new one in run %s.",
            columns[6], columns[4], columns[3], columns[5], columns[7]);
    return false;
}

/* At the first run, and then whenever the runs have doubled. */
static bool
print_growth(const char *const *columns, void *argument)
{
    struct printing *printing = argument;
    uint64_t runs = number(columns[0]);
    if (printing->growth_next == 0) {
        sim_page_put(&printing->page, "Growth:");
        printing->growth_next = 1;
    }
    if (runs >= printing->growth_next) {
        sim_page_printf(&printing->page, " %s in %s,", columns[1], columns[0]);
        /* A damaged database may have counted any number of runs. */
        while (printing->growth_next <= runs && printing->growth_next <= UINT64_MAX / 4) {
            printing->growth_next *= 4;
        }
    }
    printing->growth_last[0] = runs;
    printing->growth_last[1] = number(columns[1]);
    return true;
}

static struct sim_census
census_of(const char *const *columns)
{
    return (struct sim_census){
            .runs = number(columns[1]),
            .seen = number(columns[2]),
            .once = number(columns[3]),
            .twice = number(columns[4]),
    };
}

static bool
print_species(const char *const *columns, void *argument)
{
    struct printing *printing = argument;
    struct sim_page *page = &printing->page;
    const struct sim_census census = census_of(columns);
    char unseen[PERCENT_MAX];
    if (census.runs == 0) {
        return true;
    }
    put_wrapped(page,
            "Different runs, beyond the order of independent steps: %s%s of %s by %s; %s occurred "
            "once. The next one is new with %s (Good-Turing); there are at least %llu (Chao1).",
            number(columns[5]) > 0 ? "about " : "", columns[2], columns[1], columns[0], columns[3],
            percent(sim_census_unseen_ppm(&census), 1000000, unseen),
            (unsigned long long)sim_census_chao1(&census));
    return true;
}

static bool
print_drawn(const char *const *columns, void *argument)
{
    struct printing *printing = argument;
    struct sim_page *page = &printing->page;
    if (number(columns[2]) > 0) {
        sim_page_printf(page, "%s: %s of %s runs failed.\n", columns[0], columns[2], columns[1]);
        return true;
    }
    char bound[PERCENT_MAX];
    put_wrapped(page, "%s: no failure in %s runs: one fails with at most %s (95 %%: 3/n).",
            columns[0], columns[1], percent(number(columns[3]), 1000000000, bound));
    return true;
}

static bool
print_goal(const char *const *columns, void *argument)
{
    struct printing *printing = argument;
    uint64_t runs = number(columns[3]);
    char times[32] = "never";
    if (printing->goals == 0) {
        sim_page_put(&printing->page, "\ngoals: reached in so many runs\n");
    }
    if (runs > 0) {
        (void)snprintf(times, sizeof(times), "%llu", (unsigned long long)runs);
    }
    sim_page_tone(&printing->page, runs > 0 ? SIM_TONE_PLAIN : SIM_TONE_BAD);
    sim_page_printf(&printing->page, "%8s  %-9s  %.32s  %.44s\n", times, columns[0], columns[1],
            columns[2] != NULL ? columns[2] : "");
    sim_page_tone(&printing->page, SIM_TONE_PLAIN);
    printing->goals++;
    return true;
}

/* A place in its column; one that is too long is cut. */
static void
put_place(struct sim_page *page, const char *place, bool last)
{
    size_t width = (sim_columns() - 12) / 2;
    if (place == NULL) {
        return;
    }
    size_t length = strlen(place);
    if (length > width) {
        sim_page_printf(page, "%.*s...", (int)width - 3, place);
        return;
    }
    sim_page_put(page, place);
    if (!last) {
        sim_page_fill(page, ' ', width - length);
    }
}

static bool
print_element(const char *const *columns, void *argument)
{
    struct printing *printing = argument;
    struct sim_page *page = &printing->page;
    if (strcmp(printing->kind, columns[0]) != 0) {
        sim_page_put(page, "\n");
        sim_page_tone(page, SIM_TONE_HEAD);
        put_wrapped(page, "%s: %s", columns[0], columns[1]);
        sim_page_tone(page, SIM_TONE_PLAIN);
        (void)snprintf(printing->kind, sizeof(printing->kind), "%s", columns[0]);
    }
    sim_page_printf(page, "%8s  ", columns[4]);
    put_place(page, columns[2], columns[3] == NULL);
    if (columns[3] != NULL) {
        sim_page_put(page, "  ");
        put_place(page, columns[3], true);
    }
    sim_page_put(page, "\n");
    return true;
}

static void
print_sweep(struct printing *printing, int64_t sweep)
{
    struct sim_page *page = &printing->page;
    printing->kind[0] = '\0';
    printing->growth_next = 0;
    printing->goals = 0;
    ask(printing, SIM_ASKED_SWEEPS, sweep, print_head);
    ask(printing, SIM_ASKED_GROWTH, sweep, print_growth);
    if (printing->growth_next > 0) {
        sim_page_printf(page, " %llu in %llu runs.\n", (unsigned long long)printing->growth_last[1],
                (unsigned long long)printing->growth_last[0]);
    }
    ask(printing, SIM_ASKED_SPECIES, sweep, print_species);
    ask(printing, SIM_ASKED_DRAWN, sweep, print_drawn);
    ask(printing, SIM_ASKED_GOALS, sweep, print_goal);
    ask(printing, SIM_ASKED_ELEMENTS, sweep, print_element);
    sim_page_put(page, "\n");
}

/* ---- For programs: one line a sweep. --------------------------------------------------------- */

/* A column of a row, and the key of its value. */
struct cell {
    const char *key;
    uint32_t column;
    enum { NUMBER, TEXT } kind;
};

/* The rows of a question: a list in the line. */
struct list {
    const char *key;
    enum sim_asked asked;
    const struct cell *cells; /* Up to one without a key. */
    void (*more)(struct sim_json *json, const char *const *columns);
};

static void
put_cells(struct sim_json *json, const struct cell *cells, const char *const *columns)
{
    for (; cells->key != NULL; cells++) {
        if (cells->kind == TEXT) {
            sim_json_text(json, cells->key, columns[cells->column]);
        } else {
            sim_json_number(json, cells->key, number(columns[cells->column]));
        }
    }
}

static void
more_of_species(struct sim_json *json, const char *const *columns)
{
    const struct sim_census census = census_of(columns);
    SIM_JSON_PUT(json, SIM_NUMBER("next_is_new_ppm", sim_census_unseen_ppm(&census)),
            SIM_NUMBER("at_least", sim_census_chao1(&census)));
}

static void
more_of_drawn(struct sim_json *json, const char *const *columns)
{
    if (number(columns[2]) == 0) {
        sim_json_number(json, "fails_at_most_ppb", number(columns[3]));
    }
}

static const struct cell head[] = {{"sweep", 0, NUMBER}, {"scenario", 1, TEXT},
        {"strategy", 3, TEXT}, {"runs", 4, NUMBER}, {"failed", 5, NUMBER}, {"elements", 6, NUMBER},
        {"last_new_run", 7, NUMBER}, {NULL, 0, TEXT}};
static const struct cell growth[] = {{"runs", 0, NUMBER}, {"covered", 1, NUMBER}, {NULL, 0, TEXT}};
static const struct cell species[] = {{"strategy", 0, TEXT}, {"runs", 1, NUMBER},
        {"seen", 2, NUMBER}, {"once", 3, NUMBER}, {"twice", 4, NUMBER}, {"level", 5, NUMBER},
        {NULL, 0, TEXT}};
static const struct cell drawn[] = {
        {"strategy", 0, TEXT}, {"runs", 1, NUMBER}, {"failed", 2, NUMBER}, {NULL, 0, TEXT}};
static const struct cell goals[] = {{"what", 0, TEXT}, {"text", 1, TEXT}, {"place", 2, TEXT},
        {"runs", 3, NUMBER}, {NULL, 0, TEXT}};
static const struct cell covered[] = {{"element", 0, TEXT}, {"place", 2, TEXT}, {"other", 3, TEXT},
        {"runs", 4, NUMBER}, {"first_run", 5, NUMBER}, {NULL, 0, TEXT}};

static const struct list lists[] = {
        {"growth", SIM_ASKED_GROWTH, growth, NULL},
        {"species", SIM_ASKED_SPECIES, species, more_of_species},
        {"strategies", SIM_ASKED_DRAWN, drawn, more_of_drawn},
        {"goals", SIM_ASKED_GOALS, goals, NULL},
        {"covered", SIM_ASKED_ELEMENTS, covered, NULL},
};

static bool
json_head(const char *const *columns, void *argument)
{
    struct printing *printing = argument;
    put_cells(&printing->json, head, columns);
    return true;
}

static bool
json_row(const char *const *columns, void *argument)
{
    struct printing *printing = argument;
    sim_json_open(&printing->json, NULL, '{');
    put_cells(&printing->json, printing->list->cells, columns);
    if (printing->list->more != NULL) {
        printing->list->more(&printing->json, columns);
    }
    sim_json_close(&printing->json, '}');
    return true;
}

static void
json_sweep(struct printing *printing, int64_t sweep)
{
    sim_json_begin(&printing->json, stdout, "coverage");
    ask(printing, SIM_ASKED_SWEEPS, sweep, json_head);
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        printing->list = &lists[i];
        sim_json_open(&printing->json, lists[i].key, '[');
        ask(printing, lists[i].asked, sweep, json_row);
        sim_json_close(&printing->json, ']');
    }
    sim_json_end(&printing->json);
}

/* ---- The command. ---------------------------------------------------------------------------- */

static int
print_all(struct printing *printing)
{
    const struct sim_settings *settings = &printing->cli->settings;
    bool code = sim_given(settings, SIM_CLI_OPTION_CODE);
    int status = 0;
    if (code && sim_given(settings, SIM_CLI_OPTION_DISTILL)) {
        const char *name = printing->sweep_count == 1 ? printing->names[0] : "all of them";
        return sim_coverage_distill(printing->cli, printing->store, name, printing->sweeps,
                printing->sweep_count, true);
    }
    if (code) {
        return sim_coverage_code(
                printing->cli, printing->store, printing->sweeps, printing->sweep_count);
    }
    for (uint32_t i = 0; i < printing->sweep_count && status == 0; i++) {
        if (sim_given(settings, SIM_CLI_OPTION_DISTILL)) {
            status = sim_coverage_distill(printing->cli, printing->store, printing->names[i],
                    &printing->sweeps[i], 1, false);
        } else if (sim_given(settings, SIM_CLI_OPTION_JSON)) {
            json_sweep(printing, printing->sweeps[i]);
        } else {
            print_sweep(printing, printing->sweeps[i]);
            (void)fputs(sim_page_text(&printing->page), stdout);
            sim_page_clear(&printing->page);
        }
    }
    return status;
}

static int
nothing(const struct sim_cli *cli)
{
    const char *of = cli->count > 0 ? cli->arguments[0] : cli->library;
    char sweep[40] = "";
    if (sim_given(&cli->settings, SIM_CLI_OPTION_SWEEP)) {
        (void)snprintf(
                sweep, sizeof(sweep), " in sweep %llu", (unsigned long long)cli->settings.sweep);
    }
    return sim_cli_fail(SIM_EXIT_NOTHING,
            "nothing is recorded%s%s%s: rewake run records what it covers",
            of != NULL ? " of " : "", of != NULL ? of : "", sweep);
}

static int
answer(struct printing *printing)
{
    const struct sim_settings *settings = &printing->cli->settings;
    ask(printing, SIM_ASKED_SWEEPS, wanted_sweeps(settings), note_sweep);
    if (printing->err == SIM_STORE_OK && printing->sweep_count == 0) {
        return nothing(printing->cli);
    }
    int status = sim_select_check(printing->cli, printing->names, printing->sweep_count);
    status = status == 0 ? print_all(printing) : status;
    if (printing->err != SIM_STORE_OK) {
        status = sim_cli_fail(SIM_EXIT_SYSTEM, "%s", sim_store_message(printing->store));
    }
    return status;
}

static int
coverage(struct sim_cli *cli)
{
    struct printing printing = {.cli = cli};
    int status = sim_cli_open_read(cli, &printing.store);
    if (status != 0) {
        return status;
    }
    sim_page_init(&printing.page, sim_terminal_colour());
    status = answer(&printing);
    sim_page_fini(&printing.page);
    for (uint32_t i = 0; i < printing.sweep_count; i++) {
        free(printing.names[i]);
    }
    free(printing.names);
    free(printing.sweeps);
    sim_store_close(&printing.store);
    return status;
}

SIM_COMMAND(command, .name = "coverage", .purpose = SIM_PURPOSE_UNDERSTAND,
        .usage = "[LIB.so] [PATTERN...] [options]",
        .about = "what the newest sweep of each scenario has covered",
        .help = "PATTERN is a shell glob over names; with a library, of its scenarios. Each "
                "coverage point is printed with the number of runs that reached it, the "
                "rarest last. --distill repeats the runs that covered something first, and "
                "prints the fewest that cover the same. --code prints how much of the code "
                "was reached; with --distill it counts too, for all the sweeps together. It "
                "needs a build that counts edges (make BUILD=edges CC=clang).\n",
        .options = SIM_OPT(SWEEP) | SIM_OPT(ALL) | SIM_OPT(DISTILL) | SIM_OPT(CODE) |
                   SIM_OPT(JSON) | SIM_OPT(DB) | SIM_OPT(HANG),
        .takes = SIM_TAKES_LIBRARY | SIM_TAKES_NAMES, .arguments_max = UINT32_MAX, .run = coverage);

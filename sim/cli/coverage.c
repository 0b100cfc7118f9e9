/*
 * coverage.c -- `rewake coverage`: what a sweep has covered, in words; of each scenario the newest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/cli/coverage.h"
#include "sim/cli/print/json.h"
#include "sim/cli/print/terminal.h"
#include "sim/cli/select.h"
#include "sim/cli/subject/subject.h"
#include "sim/explain/view/page.h"
#include "sim/store/coverage.h"

#define PLACE_WIDTH 43u

/* One question after the other; the first error ends it. */
struct telling {
    struct sim_cli *cli;
    struct sim_store *store;
    struct sim_page page;
    struct sim_json json;
    int64_t *sweeps; /* That are to be told. */
    char **names;    /* Their scenarios. */
    uint32_t sweep_count;
    enum sim_store_err err;

    /* Of the sweep that is told. */
    int64_t sweep;
    char kind[32]; /* Of the last element told. */
    uint64_t growth_next;
    uint64_t growth_last[2]; /* Runs so far, covered. */
    uint64_t goals;
};

static void
ask(struct telling *telling, enum sim_asked asked, int64_t sweep,
        bool (*row)(const char *const *columns, void *argument))
{
    if (telling->err == SIM_STORE_OK) {
        telling->err = sim_store_ask(telling->store, asked, sweep, row, telling);
    }
}

static uint64_t
number(const char *text)
{
    return text != NULL ? strtoull(text, NULL, 10) : 0;
}

/* Millionths or billionths of one, as percent. */
static void
put_percent(struct sim_page *page, uint64_t part, uint64_t whole)
{
    uint64_t thousandths = (part * 100000 + whole - 1) / whole;
    sim_page_printf(page, "%llu.%03llu %%", (unsigned long long)(thousandths / 1000),
            (unsigned long long)(thousandths % 1000));
}

/* ---- Which sweeps. --------------------------------------------------------------------------- */

/* With a library in front: its scenarios only, as everywhere. */
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
    struct telling *telling = argument;
    const struct sim_cli *cli = telling->cli;
    if (!is_of_library(cli, columns[1]) ||
            !sim_registry_matches(columns[1], cli->arguments, cli->count)) {
        return true;
    }
    uint32_t count = telling->sweep_count + 1;
    telling->sweeps = reallocarray(telling->sweeps, count, sizeof(*telling->sweeps));
    telling->names = reallocarray(telling->names, count, sizeof(*telling->names));
    rt_assert(telling->sweeps != NULL && telling->names != NULL);
    telling->sweeps[telling->sweep_count] = (int64_t)number(columns[0]);
    telling->names[telling->sweep_count] = strdup(columns[1]);
    rt_assert(telling->names[telling->sweep_count] != NULL);
    telling->sweep_count = count;
    return true;
}

/* ---- In words. ------------------------------------------------------------------------------- */

static bool
tell_head(const char *const *columns, void *argument)
{
    struct telling *telling = argument;
    struct sim_page *page = &telling->page;
    sim_page_tone(page, SIM_TONE_HEAD);
    sim_page_printf(page, "%s (sweep %s)\n", columns[1], columns[0]);
    sim_page_tone(page, SIM_TONE_PLAIN);
    sim_page_printf(page,
            "%s elements covered in %s runs by %s, of which %s failed; the last new "
            "one in run %s.\n",
            columns[6], columns[4], columns[3], columns[5], columns[7]);
    return false;
}

/* At the first run, and then whenever the runs have doubled. */
static bool
tell_growth(const char *const *columns, void *argument)
{
    struct telling *telling = argument;
    uint64_t runs = number(columns[0]);
    if (telling->growth_next == 0) {
        sim_page_put(&telling->page, "Growth:");
        telling->growth_next = 1;
    }
    if (runs >= telling->growth_next) {
        sim_page_printf(&telling->page, " %s in %s,", columns[1], columns[0]);
        /* A damaged database may have counted any number of runs. */
        while (telling->growth_next <= runs && telling->growth_next <= UINT64_MAX / 4) {
            telling->growth_next *= 4;
        }
    }
    telling->growth_last[0] = runs;
    telling->growth_last[1] = number(columns[1]);
    return true;
}

static bool
tell_species(const char *const *columns, void *argument)
{
    struct telling *telling = argument;
    struct sim_page *page = &telling->page;
    const struct sim_census census = {
            .runs = number(columns[1]),
            .seen = number(columns[2]),
            .once = number(columns[3]),
            .twice = number(columns[4]),
    };
    if (census.runs == 0) {
        return true;
    }
    sim_page_printf(page, "Different runs, beyond the order of independent steps: %s%s of %s by %s",
            number(columns[5]) > 0 ? "about " : "", columns[2], columns[1], columns[0]);
    sim_page_printf(page, "; %s came once.\nThe next one is new with ", columns[3]);
    put_percent(page, sim_census_unseen_ppm(&census), 1000000);
    sim_page_printf(page, " (Good-Turing); there are at least %llu (Chao1).\n",
            (unsigned long long)sim_census_chao1(&census));
    return true;
}

static bool
tell_drawn(const char *const *columns, void *argument)
{
    struct telling *telling = argument;
    struct sim_page *page = &telling->page;
    if (number(columns[2]) > 0) {
        sim_page_printf(page, "%s: %s of %s runs failed.\n", columns[0], columns[2], columns[1]);
        return true;
    }
    sim_page_printf(
            page, "%s: no failure in %s runs: one fails with at most ", columns[0], columns[1]);
    put_percent(page, number(columns[3]), 1000000000);
    sim_page_put(page, " (95 %: 3/n).\n");
    return true;
}

static bool
tell_goal(const char *const *columns, void *argument)
{
    struct telling *telling = argument;
    uint64_t runs = number(columns[3]);
    char times[32] = "never";
    if (telling->goals == 0) {
        sim_page_put(&telling->page, "\ngoals: reached in so many runs\n");
    }
    if (runs > 0) {
        (void)snprintf(times, sizeof(times), "%llu", (unsigned long long)runs);
    }
    sim_page_tone(&telling->page, runs > 0 ? SIM_TONE_PLAIN : SIM_TONE_BAD);
    sim_page_printf(&telling->page, "%8s  %-9s  %.32s  %.44s\n", times, columns[0], columns[1],
            columns[2] != NULL ? columns[2] : "");
    sim_page_tone(&telling->page, SIM_TONE_PLAIN);
    telling->goals++;
    return true;
}

/* A place in its column; one that is too long loses its end. */
static void
put_place(struct sim_page *page, const char *place, bool last)
{
    if (place == NULL) {
        return;
    }
    size_t length = strlen(place);
    if (length > PLACE_WIDTH) {
        sim_page_printf(page, "%.*s...", (int)PLACE_WIDTH - 3, place);
        return;
    }
    sim_page_put(page, place);
    if (!last) {
        sim_page_fill(page, ' ', PLACE_WIDTH - length);
    }
}

static bool
tell_element(const char *const *columns, void *argument)
{
    struct telling *telling = argument;
    struct sim_page *page = &telling->page;
    if (strcmp(telling->kind, columns[0]) != 0) {
        sim_page_put(page, "\n");
        sim_page_tone(page, SIM_TONE_HEAD);
        sim_page_put(page, columns[0]);
        sim_page_tone(page, SIM_TONE_PLAIN);
        sim_page_printf(page, ": %s\n", columns[1]);
        (void)snprintf(telling->kind, sizeof(telling->kind), "%s", columns[0]);
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
tell_sweep(struct telling *telling, int64_t sweep)
{
    struct sim_page *page = &telling->page;
    telling->sweep = sweep;
    telling->kind[0] = '\0';
    telling->growth_next = 0;
    telling->goals = 0;
    ask(telling, SIM_ASKED_SWEEPS, sweep, tell_head);
    ask(telling, SIM_ASKED_GROWTH, sweep, tell_growth);
    if (telling->growth_next > 0) {
        sim_page_printf(page, " %llu in %llu runs.\n", (unsigned long long)telling->growth_last[1],
                (unsigned long long)telling->growth_last[0]);
    }
    ask(telling, SIM_ASKED_SPECIES, sweep, tell_species);
    ask(telling, SIM_ASKED_DRAWN, sweep, tell_drawn);
    ask(telling, SIM_ASKED_GOALS, sweep, tell_goal);
    ask(telling, SIM_ASKED_ELEMENTS, sweep, tell_element);
    sim_page_put(page, "\n");
}

/* ---- For programs: one line a sweep. --------------------------------------------------------- */

static bool
json_head(const char *const *columns, void *argument)
{
    struct telling *telling = argument;
    sim_json_number(&telling->json, "sweep", number(columns[0]));
    sim_json_text(&telling->json, "scenario", columns[1]);
    sim_json_text(&telling->json, "strategy", columns[3]);
    sim_json_number(&telling->json, "runs", number(columns[4]));
    sim_json_number(&telling->json, "failed", number(columns[5]));
    sim_json_number(&telling->json, "elements", number(columns[6]));
    sim_json_number(&telling->json, "last_new_run", number(columns[7]));
    return true;
}

static bool
json_growth(const char *const *columns, void *argument)
{
    struct telling *telling = argument;
    sim_json_open(&telling->json, NULL, '{');
    sim_json_number(&telling->json, "runs", number(columns[0]));
    sim_json_number(&telling->json, "covered", number(columns[1]));
    sim_json_close(&telling->json, '}');
    return true;
}

static bool
json_species(const char *const *columns, void *argument)
{
    struct telling *telling = argument;
    const struct sim_census census = {
            .runs = number(columns[1]),
            .seen = number(columns[2]),
            .once = number(columns[3]),
            .twice = number(columns[4]),
    };
    sim_json_open(&telling->json, NULL, '{');
    sim_json_text(&telling->json, "strategy", columns[0]);
    sim_json_number(&telling->json, "runs", census.runs);
    sim_json_number(&telling->json, "seen", census.seen);
    sim_json_number(&telling->json, "once", census.once);
    sim_json_number(&telling->json, "twice", census.twice);
    sim_json_number(&telling->json, "level", number(columns[5]));
    sim_json_number(&telling->json, "next_is_new_ppm", sim_census_unseen_ppm(&census));
    sim_json_number(&telling->json, "at_least", sim_census_chao1(&census));
    sim_json_close(&telling->json, '}');
    return true;
}

static bool
json_drawn(const char *const *columns, void *argument)
{
    struct telling *telling = argument;
    sim_json_open(&telling->json, NULL, '{');
    sim_json_text(&telling->json, "strategy", columns[0]);
    sim_json_number(&telling->json, "runs", number(columns[1]));
    sim_json_number(&telling->json, "failed", number(columns[2]));
    if (number(columns[2]) == 0) {
        sim_json_number(&telling->json, "fails_at_most_ppb", number(columns[3]));
    }
    sim_json_close(&telling->json, '}');
    return true;
}

static bool
json_goal(const char *const *columns, void *argument)
{
    struct telling *telling = argument;
    sim_json_open(&telling->json, NULL, '{');
    sim_json_text(&telling->json, "what", columns[0]);
    sim_json_text(&telling->json, "text", columns[1]);
    sim_json_text(&telling->json, "place", columns[2]);
    sim_json_number(&telling->json, "runs", number(columns[3]));
    sim_json_close(&telling->json, '}');
    return true;
}

static bool
json_element(const char *const *columns, void *argument)
{
    struct telling *telling = argument;
    sim_json_open(&telling->json, NULL, '{');
    sim_json_text(&telling->json, "element", columns[0]);
    sim_json_text(&telling->json, "place", columns[2]);
    sim_json_text(&telling->json, "other", columns[3]);
    sim_json_number(&telling->json, "runs", number(columns[4]));
    sim_json_number(&telling->json, "first_run", number(columns[5]));
    sim_json_close(&telling->json, '}');
    return true;
}

static void
json_list(struct telling *telling, const char *key, enum sim_asked asked,
        bool (*row)(const char *const *columns, void *argument))
{
    sim_json_open(&telling->json, key, '[');
    ask(telling, asked, telling->sweep, row);
    sim_json_close(&telling->json, ']');
}

static void
json_sweep(struct telling *telling, int64_t sweep)
{
    telling->sweep = sweep;
    sim_json_begin(&telling->json, stdout, "coverage");
    ask(telling, SIM_ASKED_SWEEPS, sweep, json_head);
    json_list(telling, "growth", SIM_ASKED_GROWTH, json_growth);
    json_list(telling, "species", SIM_ASKED_SPECIES, json_species);
    json_list(telling, "strategies", SIM_ASKED_DRAWN, json_drawn);
    json_list(telling, "goals", SIM_ASKED_GOALS, json_goal);
    json_list(telling, "covered", SIM_ASKED_ELEMENTS, json_element);
    sim_json_end(&telling->json);
}

/* ---- The command. ---------------------------------------------------------------------------- */

static int
tell_all(struct telling *telling)
{
    const struct sim_settings *settings = &telling->cli->settings;
    bool code = sim_given(settings, SIM_CLI_OPTION_CODE);
    int status = 0;
    if (code && sim_given(settings, SIM_CLI_OPTION_DISTILL)) {
        const char *name = telling->sweep_count == 1 ? telling->names[0] : "all of them";
        return sim_coverage_distill(
                telling->cli, telling->store, name, telling->sweeps, telling->sweep_count, true);
    }
    if (code) {
        return sim_coverage_code(
                telling->cli, telling->store, telling->sweeps, telling->sweep_count);
    }
    for (uint32_t i = 0; i < telling->sweep_count && status == 0; i++) {
        if (sim_given(settings, SIM_CLI_OPTION_DISTILL)) {
            status = sim_coverage_distill(
                    telling->cli, telling->store, telling->names[i], &telling->sweeps[i], 1, false);
        } else if (sim_given(settings, SIM_CLI_OPTION_JSON)) {
            json_sweep(telling, telling->sweeps[i]);
        } else {
            tell_sweep(telling, telling->sweeps[i]);
            (void)fputs(sim_page_text(&telling->page), stdout);
            sim_page_clear(&telling->page);
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
            "nothing is recorded%s%s%s; `rewake run` records what it covers",
            of != NULL ? " of " : "", of != NULL ? of : "", sweep);
}

static int
answer(struct telling *telling)
{
    const struct sim_settings *settings = &telling->cli->settings;
    ask(telling, SIM_ASKED_SWEEPS, wanted_sweeps(settings), note_sweep);
    if (telling->err == SIM_STORE_OK && telling->sweep_count == 0) {
        return nothing(telling->cli);
    }
    int status = sim_select_check(telling->cli, telling->names, telling->sweep_count);
    status = status == 0 ? tell_all(telling) : status;
    if (telling->err != SIM_STORE_OK) {
        status = sim_cli_fail(SIM_EXIT_SYSTEM, "%s", sim_store_message(telling->store));
    }
    return status;
}

static int
coverage(struct sim_cli *cli)
{
    char message[SIM_STORE_MESSAGE_MAX];
    struct telling telling = {.cli = cli};
    if (sim_store_open(sim_cli_db(cli), SIM_STORE_READ, 0, message, sizeof(message),
                &telling.store) != SIM_STORE_OK) {
        return sim_cli_fail(SIM_EXIT_SYSTEM, "%s", message);
    }
    sim_page_init(&telling.page, sim_terminal_colour());
    int status = answer(&telling);
    sim_page_fini(&telling.page);
    for (uint32_t i = 0; i < telling.sweep_count; i++) {
        free(telling.names[i]);
    }
    free(telling.names);
    free(telling.sweeps);
    sim_store_close(&telling.store);
    return status;
}

SIM_COMMAND(command, .name = "coverage", .usage = "[LIB.so] [PATTERN...] [options]",
        .about = "what the newest sweep of each scenario has covered",
        .help = "PATTERN is a shell glob over names; with a library, of its scenarios. Each "
                "coverage point is printed with the number of runs that reached it, the "
                "rarest last. --distill repeats the runs that covered something first, and "
                "prints the fewest that cover the same. --code prints how much of the code "
                "was reached; with --distill it counts too, for all the sweeps together. It "
                "needs a build that counts edges (make BUILD=edges CC=clang).\n",
        .options = SIM_CLI_OPTION_BIT(SWEEP) | SIM_CLI_OPTION_BIT(ALL) |
                   SIM_CLI_OPTION_BIT(DISTILL) | SIM_CLI_OPTION_BIT(CODE) |
                   SIM_CLI_OPTION_BIT(JSON) | SIM_CLI_OPTION_BIT(DB) | SIM_CLI_OPTION_BIT(HANG) |
                   SIM_CLI_OPTION_BIT(HELP),
        .takes = SIM_TAKES_LIBRARY | SIM_TAKES_NAMES, .arguments_max = UINT32_MAX, .run = coverage);

/*
 * sweeps.c -- sweeps, and in which ways their runs have failed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/model/sweeps.h"

#include <stdlib.h>
#include <string.h>

#include "reports/base/ask.h"
#include "reports/base/path.h"
#include "reports/model/places.h"
#include "sim/base/glob.h"
#include "sim/base/heap.h"
#include "sim/store/read.h"

/* ---- The sweeps themselves. ------------------------------------------------------------------ */

static const struct report_column sweep_columns[] = {
        REPORT_COLUMN(struct report_sweep, sweep),
        REPORT_COLUMN(struct report_sweep, scenario),
        REPORT_COLUMN(struct report_sweep, library),
        REPORT_COLUMN(struct report_sweep, strategy),
        REPORT_COLUMN(struct report_sweep, options),
        REPORT_COLUMN(struct report_sweep, build),
        REPORT_COLUMN(struct report_sweep, seed_first),
        REPORT_COLUMN(struct report_sweep, started_ms),
        REPORT_COLUMN(struct report_sweep, elapsed_ms),
        REPORT_COLUMN(struct report_sweep, runs),
        REPORT_COLUMN(struct report_sweep, failed),
        REPORT_COLUMN(struct report_sweep, steps),
        REPORT_COLUMN(struct report_sweep, complete),
        REPORT_COLUMN(struct report_sweep, goals_missed),
        REPORT_COLUMN(struct report_sweep, about),
        REPORT_COLUMN(struct report_sweep, file),
        REPORT_COLUMN(struct report_sweep, stated),
        REPORT_COLUMN(struct report_sweep, held_to_verdict),
        REPORT_COLUMN(struct report_sweep, held_to_goals),
        REPORT_COLUMN(struct report_sweep, command_ms),
        REPORT_COLUMN(struct report_sweep, ended),
        REPORT_COLUMN(struct report_sweep, checked),
        REPORT_COLUMN(struct report_sweep, unequal),
        REPORT_COLUMN(struct report_sweep, stated_runs),
        REPORT_COLUMN(struct report_sweep, again),
        REPORT_COLUMN(struct report_sweep, stated_also),
};

/* With what is noted of it, and without. */
#define SWEEP_SQL(columns, joined) \
    "SELECT s.sweep, s.scenario, s.library, s.strategy, s.options, s.build, s.seed_first," \
    " s.started_ms, s.elapsed_ms, s.runs, (SELECT sum(v.runs) FROM sweep_verdicts AS v" \
    " WHERE v.sweep = s.sweep AND v.verdict <> 0), s.steps, s.complete," \
    " (SELECT count(*) FROM goals AS g WHERE g.sweep = s.sweep AND NOT EXISTS (" \
    "  SELECT 1 FROM coverage AS c WHERE c.sweep = g.sweep AND c.site = g.site AND c.other = 0" \
    "  AND c.kind IN (SELECT kind FROM element_kinds WHERE name IN ('goal', 'always'))))," columns \
    " FROM sweeps AS s " joined " WHERE s.sweep = ?"

static const char *
sweep_sql(struct sim_store *store)
{
    return report_has_table(store, "sweep_notes")
                   ? SWEEP_SQL(" n.about, n.file, w.name, n.held & 1, n.held & 2,"
                               " coalesce(n.command_ms, s.started_ms), n.ended, n.checked,"
                               " n.unequal, (SELECT v.runs FROM sweep_verdicts AS v"
                               "  WHERE v.sweep = s.sweep AND v.verdict = n.stated),"
                               " (SELECT count(*) FROM failed_again AS a WHERE a.sweep = s.sweep),"
                               " (SELECT w.name FROM also_stated AS a JOIN verdicts AS w"
                               "  USING (verdict) WHERE a.sweep = s.sweep)",
                             "LEFT JOIN sweep_notes AS n USING (sweep)"
                             " LEFT JOIN verdicts AS w ON w.verdict = n.stated")
                   : SWEEP_SQL("NULL, NULL, NULL, 0, 0, s.started_ms, NULL, 0, 0, 0, 0, NULL", "");
}

static enum sim_store_err
read_sweeps(
        struct sim_store *store, const int64_t *numbers, size_t count, struct report_sweeps *list)
{
    enum sim_store_err err = SIM_STORE_OK;
    const char *sql = sweep_sql(store);
    for (size_t i = 0; i < count && err == SIM_STORE_OK; i++) {
        struct report_ask ask = report_ask(store, sql);
        report_put_int(&ask, numbers[i]);
        if (report_row(&ask)) {
            report_row_read(&ask, sweep_columns, REPORT_COLUMNS(sweep_columns),
                    &list->sweeps[list->count++]);
        }
        err = report_done(&ask);
    }
    return err;
}

/* ---- Ways to fail. --------------------------------------------------------------------------- */

static const struct report_column way_columns[] = {
        REPORT_COLUMN(struct report_way, sweep),
        REPORT_COLUMN(struct report_way, runs),
        REPORT_COLUMN(struct report_way, first_number),
        REPORT_COLUMN(struct report_way, verdict),
        REPORT_COLUMN(struct report_way, oracle),
        REPORT_COLUMN(struct report_way, file),
        REPORT_COLUMN(struct report_way, line),
        REPORT_COLUMN(struct report_way, function),
        REPORT_COLUMN(struct report_way, run),
        REPORT_COLUMN(struct report_way, seed),
        REPORT_COLUMN(struct report_way, message),
        REPORT_COLUMN(struct report_way, token),
        REPORT_COLUMN(struct report_way, shrunk_token),
        REPORT_COLUMN(struct report_way, site),
        REPORT_COLUMN(struct report_way, again),
        REPORT_COLUMN(struct report_way, page),
};

/* Replaces the line of the way by that of the first row, where there is one. */
static enum sim_store_err
read_place(struct sim_store *store, struct report_way *way, const char *sql)
{
    struct report_ask ask = report_ask(store, sql);
    report_put_int(&ask, way->run);
    if (report_row(&ask)) {
        free(way->file);
        free(way->function);
        way->file = sim_heap_text(report_text(&ask, 0));
        way->line = report_int(&ask, 1);
        way->function = sim_heap_text(report_text(&ask, 2));
    }
    return report_done(&ask);
}

/* The headline in the form of other messages: without verdict and full stop, names in quotes. */
static char *
message_of(const struct report_text *headline, const char *verdict)
{
    size_t length = strlen(verdict);
    char *text = report_text_quoted(headline);
    bool named = strncmp(text, verdict, length) == 0 && text[length] == ':';
    const char *begin = text + (named ? length + 1 + strspn(text + length + 1, " ") : 0);
    size_t end = strlen(begin);
    char *message = sim_heap_must(strndup(begin, end - (end > 0 && begin[end - 1] == '.')));
    free(text);
    return message;
}

static enum sim_store_err
read_explanation(struct sim_store *store, struct report_way *way)
{
    struct report_text headline;
    struct report_ask ask = report_ask(store,
            "SELECT headline || char(10) || answer || char(10) || decision || char(10) || why"
            " FROM explained WHERE run = ?");
    report_put_int(&ask, way->run);
    if (report_row(&ask)) {
        free(way->explanation);
        way->explanation = sim_heap_text(report_text(&ask, 0));
    }
    enum sim_store_err err = report_done(&ask);
    if (err != SIM_STORE_OK || way->explanation[0] == '\0') {
        return err;
    }
    report_text_free(&way->answer);
    err = report_text_load(store, way->run, "answer", &way->answer);
    if (err == SIM_STORE_OK) {
        err = report_text_load(store, way->run, "headline", &headline);
        if (headline.text[0] != '\0') {
            free(way->message);
            way->message = message_of(&headline, way->verdict);
        }
        report_text_free(&headline);
    }
    return err;
}

/* Where its run failed is more than the line that a verdict names, and the explanation may know the
 * line of a way without one. */
static enum sim_store_err
read_more(struct sim_store *store, struct report_way *way, bool stacks, bool explained)
{
    enum sim_store_err err = SIM_STORE_OK;
    if (stacks) {
        err = read_place(store, way,
                "SELECT file, line, function FROM stacks WHERE run = ? AND file <> '' ORDER BY n");
    }
    if (err == SIM_STORE_OK && explained) {
        err = read_explanation(store, way);
    }
    if (err == SIM_STORE_OK && explained && way->file[0] == '\0') {
        err = read_place(store, way,
                "SELECT file, line, function FROM explained_places WHERE run = ? AND nth = 0"
                " AND line > 0 AND role IN ('cause', 'stored') ORDER BY role");
    }
    return err;
}

/* Paths as the repository has them. */
static void
name_files(struct report_sweeps *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct report_sweep *sweep = &list->sweeps[i];
        char *file = report_path(sweep->file, sweep->library);
        free(sweep->file);
        sweep->file = file;
        for (size_t j = 0; j < sweep->way_count; j++) {
            file = report_path(sweep->ways[j].file, sweep->library);
            free(sweep->ways[j].file);
            sweep->ways[j].file = file;
        }
    }
}

static struct report_sweep *
find_sweep(struct report_sweeps *list, int64_t number)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->sweeps[i].sweep == number) {
            return &list->sweeps[i];
        }
    }
    return NULL;
}

/* A loop that is blocked in its host waits at a line of rewake, which is no user file. */
static void
forget_own_place(struct report_way *way)
{
    if (report_site_is_rewakes(way->site, way->file)) {
        way->file[0] = '\0';
        way->function[0] = '\0';
        way->line = 0;
    }
}

/* Ways of remembered runs that failed again come first. */
static const char ways_sql[] =
        "SELECT w.sweep, w.runs, w.first_number, v.name, o.name, s.file, s.line, s.function,"
        " w.shown, r.seed, d.message, d.token, h.token, w.site, w.again IS NOT NULL, g.shown"
        " FROM ways_of_sweeps AS w"
        " JOIN verdicts AS v USING (verdict) JOIN oracles AS o USING (oracle)"
        " LEFT JOIN sites AS s USING (site) JOIN runs AS r ON r.run = w.shown"
        " LEFT JOIN details AS d ON d.run = w.shown LEFT JOIN shrunk AS h ON h.run = w.shown"
        " JOIN sweeps AS n USING (sweep) LEFT JOIN ways AS g ON g.scenario = n.scenario"
        "  AND g.verdict = w.verdict AND g.oracle = w.oracle AND g.site = w.site"
        " ORDER BY w.sweep, w.again IS NULL, w.runs DESC, w.first_number, w.shown";

static enum sim_store_err
read_ways(struct sim_store *store, struct report_sweeps *list)
{
    enum sim_store_err made = sim_store_ways_make(store);
    if (made != SIM_STORE_OK) {
        return made;
    }
    bool stacks = report_has_table(store, "stacks");
    bool explained = report_has_table(store, "explained");
    enum sim_store_err err = SIM_STORE_OK;
    struct report_ask ask = report_ask(store, ways_sql);
    while (err == SIM_STORE_OK && report_row(&ask)) {
        struct report_sweep *sweep = find_sweep(list, report_int(&ask, 0));
        if (sweep != NULL) {
            sim_heap_grow(
                    &sweep->ways, sweep->way_count, &sweep->way_capacity, sizeof(*sweep->ways));
            struct report_way *way = &sweep->ways[sweep->way_count++];
            report_row_read(&ask, way_columns, REPORT_COLUMNS(way_columns), way);
            way->answer.text = sim_heap_text("");
            way->explanation = sim_heap_text("");
            forget_own_place(way);
            err = read_more(store, way, stacks, explained);
        }
    }
    enum sim_store_err done = report_done(&ask);
    return err == SIM_STORE_OK ? done : err;
}

enum sim_store_err
report_sweeps_read(struct sim_store *store, const int64_t *numbers, size_t count,
        struct report_sweeps *ret_list)
{
    *ret_list = (struct report_sweeps){.sweeps = sim_heap_new(count, sizeof(*ret_list->sweeps))};
    enum sim_store_err err = read_sweeps(store, numbers, count, ret_list);
    if (err == SIM_STORE_OK) {
        err = read_ways(store, ret_list);
    }
    name_files(ret_list);
    return err;
}

void
report_sweeps_done(struct report_sweeps *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct report_sweep *sweep = &list->sweeps[i];
        for (size_t j = 0; j < sweep->way_count; j++) {
            report_row_free(way_columns, REPORT_COLUMNS(way_columns), &sweep->ways[j]);
            report_text_free(&sweep->ways[j].answer);
            free(sweep->ways[j].explanation);
        }
        free(sweep->ways);
        report_row_free(sweep_columns, REPORT_COLUMNS(sweep_columns), sweep);
    }
    free(list->sweeps);
    *list = (struct report_sweeps){.sweeps = NULL};
}

void
report_sweeps_json(const struct report_sweeps *list, struct sim_page *page)
{
    sim_page_put(page, "[");
    for (size_t i = 0; i < list->count; i++) {
        sim_page_printf(page, "%s%lld", i > 0 ? "," : "", (long long)list->sweeps[i].sweep);
    }
    sim_page_put(page, "]");
}

/* ---- Results. -------------------------------------------------------------------------------- */

int64_t
report_sweep_runs(const struct report_sweep *sweep)
{
    return sweep->runs + sweep->again;
}

int64_t
report_sweep_failed(const struct report_sweep *sweep)
{
    return sweep->failed + sweep->again;
}

int64_t
report_way_runs(const struct report_way *way)
{
    return way->runs + way->again;
}

/* An expected lost wake-up includes a late one (sim_verdict_fits). */
static bool
fits(const char *stated, const char *verdict)
{
    return strcmp(verdict, stated) == 0 ||
           (strcmp(stated, "lost-wakeup") == 0 && strcmp(verdict, "late-wakeup") == 0);
}

bool
report_way_counts(const struct report_sweep *sweep, const struct report_way *way)
{
    bool stated = fits(sweep->stated, way->verdict) || fits(sweep->stated_also, way->verdict);
    return !sweep->held_to_verdict || !stated;
}

static bool
is_whole(const struct report_sweep *sweep)
{
    if (sweep->ended[0] == '\0') {
        return sweep->complete;
    }
    return (strcmp(sweep->ended, "time") == 0 && sweep->runs > 0) ||
           strcmp(sweep->ended, "complete") == 0 || strcmp(sweep->ended, "exhausted") == 0 ||
           strcmp(sweep->ended, "saturated") == 0 || strcmp(sweep->ended, "first failure") == 0;
}

enum report_end
report_sweep_end(const struct report_sweep *sweep)
{
    for (size_t i = 0; i < sweep->way_count; i++) {
        if (report_way_counts(sweep, &sweep->ways[i])) {
            return REPORT_FAILED;
        }
    }
    bool unseen =
            sweep->held_to_verdict && strcmp(sweep->stated, "pass") != 0 && sweep->stated_runs == 0;
    bool whole = is_whole(sweep);
    if (sweep->unequal > 0 || unseen ||
            (whole && sweep->held_to_goals && sweep->goals_missed > 0)) {
        return REPORT_FAILED;
    }
    return whole ? REPORT_PASSED : REPORT_CUT;
}

/* ---- Which sweeps, which runs. --------------------------------------------------------------- */

enum sim_store_err
report_sweeps_newest(struct sim_store *store, char *const *patterns, uint32_t pattern_count,
        int64_t **ret_numbers, size_t *ret_count)
{
    uint32_t count = 0;
    uint32_t capacity = 0;
    *ret_numbers = NULL;
    struct report_ask ask = report_ask(
            store, "SELECT scenario, max(sweep) FROM sweeps GROUP BY scenario ORDER BY scenario");
    while (report_row(&ask)) {
        if (sim_glob_matches(report_text(&ask, 0), patterns, pattern_count)) {
            sim_heap_grow(ret_numbers, count, &capacity, sizeof(**ret_numbers));
            (*ret_numbers)[count++] = report_int(&ask, 1);
        }
    }
    *ret_count = count;
    return report_done(&ask);
}

enum sim_store_err
report_ways_shown(struct sim_store *store, int64_t **ret_runs, size_t *ret_count)
{
    uint32_t count = 0;
    uint32_t capacity = 0;
    *ret_runs = NULL;
    enum sim_store_err made = sim_store_ways_make(store);
    if (made != SIM_STORE_OK) {
        return made;
    }
    struct report_ask ask = report_ask(store, "SELECT shown FROM ways ORDER BY last DESC");
    while (report_row(&ask)) {
        sim_heap_grow(ret_runs, count, &capacity, sizeof(**ret_runs));
        (*ret_runs)[count++] = report_int(&ask, 0);
    }
    *ret_count = count;
    return report_done(&ask);
}

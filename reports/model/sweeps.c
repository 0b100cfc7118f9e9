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
#include "runtime/base/assert.h"
#include "sim/base/glob.h"
#include "sim/base/heap.h"
#include "sim/store/read.h"

static char *
copy(struct report_ask *ask, int column)
{
    char *text = strdup(report_text(ask, column));
    rt_assert(text != NULL);
    return text;
}

/* ---- The sweeps themselves. ------------------------------------------------------------------ */

static void
read_sweep(struct report_ask *ask, struct report_sweep *sweep)
{
    *sweep = (struct report_sweep){
            .sweep = report_int(ask, 0),
            .scenario = copy(ask, 1),
            .library = copy(ask, 2),
            .strategy = copy(ask, 3),
            .options = copy(ask, 4),
            .build = copy(ask, 5),
            .seed_first = report_int(ask, 6),
            .started_ms = report_int(ask, 7),
            .elapsed_ms = report_int(ask, 8),
            .runs = report_int(ask, 9),
            .failed = report_int(ask, 10),
            .steps = report_int(ask, 11),
            .complete = report_int(ask, 12) != 0,
            .goals_missed = report_int(ask, 13),
            .about = copy(ask, 14),
            .file = copy(ask, 15),
            .stated = copy(ask, 16),
            .held_to_verdict = (report_int(ask, 17) & 1) != 0,
            .held_to_goals = (report_int(ask, 17) & 2) != 0,
            .command_ms = report_int(ask, 18),
            .ended = copy(ask, 19),
            .checked = report_int(ask, 20),
            .unequal = report_int(ask, 21),
            .stated_runs = report_int(ask, 22),
            .again = report_int(ask, 23),
            .stated_also = copy(ask, 24),
    };
}

/* With what is noted of it, and without. */
#define SWEEP_SQL(columns, joined, again, also) \
    "SELECT s.sweep, s.scenario, s.library, s.strategy, s.options, s.build, s.seed_first," \
    " s.started_ms, s.elapsed_ms, s.runs, (SELECT sum(v.runs) FROM sweep_verdicts AS v" \
    " WHERE v.sweep = s.sweep AND v.verdict <> 0), s.steps, s.complete," \
    " (SELECT count(*) FROM goals AS g WHERE g.sweep = s.sweep AND NOT EXISTS (" \
    "  SELECT 1 FROM coverage AS c WHERE c.sweep = g.sweep AND c.site = g.site AND c.other = 0" \
    "  AND c.kind IN (SELECT kind FROM element_kinds WHERE name IN ('goal', 'always'))))," columns \
    ", " again ", " also " FROM sweeps AS s " joined " WHERE s.sweep = ?"

#define NOTED_SQL(again, also) \
    SWEEP_SQL(" n.about, n.file, w.name, n.held, coalesce(n.command_ms, s.started_ms), n.ended," \
              " n.checked, n.unequal, (SELECT v.runs FROM sweep_verdicts AS v" \
              " WHERE v.sweep = s.sweep AND v.verdict = n.stated)", \
            "LEFT JOIN sweep_notes AS n USING (sweep)" \
            " LEFT JOIN verdicts AS w ON w.verdict = n.stated", \
            again, also)

#define AGAIN_SQL "(SELECT count(*) FROM failed_again AS a WHERE a.sweep = s.sweep)"
#define ALSO_SQL \
    "(SELECT w.name FROM also_stated AS a JOIN verdicts AS w USING (verdict)" \
    " WHERE a.sweep = s.sweep)"

static const char *
sweep_sql(struct sim_store *store)
{
    if (!report_has_table(store, "sweep_notes")) {
        return SWEEP_SQL("NULL, NULL, NULL, 0, s.started_ms, NULL, 0, 0, 0", "", "0", "NULL");
    }
    if (!report_has_table(store, "failed_again")) {
        return NOTED_SQL("0", "NULL");
    }
    return report_has_table(store, "also_stated") ? NOTED_SQL(AGAIN_SQL, ALSO_SQL)
                                                  : NOTED_SQL(AGAIN_SQL, "NULL");
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
            read_sweep(&ask, &list->sweeps[list->count++]);
        }
        err = report_done(&ask);
    }
    return err;
}

/* ---- Ways to fail. --------------------------------------------------------------------------- */

/* The first sentence of an explanation in the form of other messages: without verdict and full
 * stop, names in quotes. */
static char *
plain(const char *headline, const char *verdict)
{
    size_t length = strlen(verdict);
    bool named = strncmp(headline, verdict, length) == 0 && headline[length] == ':';
    char *text = strdup(headline + (named ? length + 1 + strspn(headline + length + 1, " ") : 0));
    rt_assert(text != NULL);
    for (char *c = strchr(text, '`'); c != NULL; c = strchr(c, '`')) {
        *c = '\'';
    }
    size_t end = strlen(text);
    text[end - (end > 0 && text[end - 1] == '.')] = '\0';
    return text;
}

/* A way without a line gets that of its explanation. */
static enum sim_store_err
read_found_place(struct sim_store *store, struct report_way *way)
{
    struct report_ask ask = report_ask(store,
            "SELECT file, line, function FROM explained_places WHERE run = ? AND nth = 0"
            " AND line > 0 AND role IN ('cause', 'stored') ORDER BY role");
    report_put_int(&ask, way->run);
    if (report_row(&ask)) {
        free(way->file);
        free(way->function);
        way->file = copy(&ask, 0);
        way->line = report_int(&ask, 1);
        way->function = copy(&ask, 2);
    }
    return report_done(&ask);
}

/* Of explained.sql; a name is in backquotes there. */
static enum sim_store_err
read_answer(struct sim_store *store, struct report_way *way)
{
    struct report_ask ask = report_ask(store, "SELECT answer, headline || char(10) || answer || "
                                              "char(10) || decision || char(10) || why, headline"
                                              " FROM explained WHERE run = ?");
    report_put_int(&ask, way->run);
    bool known = report_row(&ask);
    if (known) {
        free(way->answer);
        free(way->explanation);
        way->answer = copy(&ask, 0);
        way->explanation = copy(&ask, 1);
    }
    if (known && report_text(&ask, 2)[0] != '\0') {
        free(way->message);
        way->message = plain(report_text(&ask, 2), way->verdict);
    }
    enum sim_store_err err = report_done(&ask);
    return err == SIM_STORE_OK && known && way->file[0] == '\0' ? read_found_place(store, way)
                                                                : err;
}

/* Where its run failed, as stacks.sql has it: more than the line that a verdict names. */
static enum sim_store_err
read_stack(struct sim_store *store, struct report_way *way)
{
    struct report_ask ask = report_ask(store,
            "SELECT file, line, function FROM stacks WHERE run = ? AND file <> '' ORDER BY n");
    report_put_int(&ask, way->run);
    if (report_row(&ask)) {
        free(way->file);
        free(way->function);
        way->file = copy(&ask, 0);
        way->line = report_int(&ask, 1);
        way->function = copy(&ask, 2);
    }
    return report_done(&ask);
}

static enum sim_store_err
read_stacks(struct sim_store *store, struct report_sweeps *list)
{
    enum sim_store_err err = SIM_STORE_OK;
    bool there = report_has_table(store, "stacks");
    for (size_t i = 0; there && i < list->count; i++) {
        for (size_t j = 0; j < list->sweeps[i].way_count && err == SIM_STORE_OK; j++) {
            err = read_stack(store, &list->sweeps[i].ways[j]);
        }
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

static enum sim_store_err
read_answers(struct sim_store *store, struct report_sweeps *list)
{
    enum sim_store_err err = SIM_STORE_OK;
    bool there = report_has_table(store, "explained");
    for (size_t i = 0; there && i < list->count; i++) {
        for (size_t j = 0; j < list->sweeps[i].way_count && err == SIM_STORE_OK; j++) {
            err = read_answer(store, &list->sweeps[i].ways[j]);
        }
    }
    return err;
}

static struct report_way *
add_way(struct report_sweep *sweep)
{
    sweep->ways = reallocarray(sweep->ways, sweep->way_count + 1, sizeof(*sweep->ways));
    rt_assert(sweep->ways != NULL);
    return &sweep->ways[sweep->way_count++];
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

static void
read_way(struct report_ask *ask, struct report_way *way)
{
    *way = (struct report_way){
            .runs = report_int(ask, 1),
            .first_number = report_int(ask, 2),
            .verdict = copy(ask, 3),
            .oracle = copy(ask, 4),
            .file = copy(ask, 5),
            .line = report_int(ask, 6),
            .function = copy(ask, 7),
            .run = report_int(ask, 8),
            .seed = report_int(ask, 9),
            .message = copy(ask, 10),
            .token = copy(ask, 11),
            .shrunk_token = copy(ask, 12),
            .site = (uint32_t)report_int(ask, 13),
            .again = report_int(ask, 14) != 0,
            .page = report_int(ask, 15),
            .answer = strdup(""),
            .explanation = strdup(""),
    };
    forget_own_place(way);
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
    struct report_ask ask = report_ask(store, ways_sql);
    while (report_row(&ask)) {
        struct report_sweep *sweep = find_sweep(list, report_int(&ask, 0));
        if (sweep != NULL) {
            read_way(&ask, add_way(sweep));
        }
    }
    return report_done(&ask);
}

enum sim_store_err
report_sweeps_read(struct sim_store *store, const int64_t *numbers, size_t count,
        struct report_sweeps *ret_list)
{
    *ret_list = (struct report_sweeps){.sweeps = calloc(count + 1, sizeof(*ret_list->sweeps))};
    rt_assert(ret_list->sweeps != NULL);
    enum sim_store_err err = read_sweeps(store, numbers, count, ret_list);
    if (err == SIM_STORE_OK) {
        err = read_ways(store, ret_list);
    }
    err = err == SIM_STORE_OK ? read_stacks(store, ret_list) : err;
    err = err == SIM_STORE_OK ? read_answers(store, ret_list) : err;
    name_files(ret_list);
    return err;
}

static void
way_done(struct report_way *way)
{
    free(way->verdict);
    free(way->oracle);
    free(way->file);
    free(way->function);
    free(way->message);
    free(way->answer);
    free(way->explanation);
    free(way->token);
    free(way->shrunk_token);
}

void
report_sweeps_done(struct report_sweeps *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct report_sweep *sweep = &list->sweeps[i];
        for (size_t j = 0; j < sweep->way_count; j++) {
            way_done(&sweep->ways[j]);
        }
        free(sweep->ways);
        free(sweep->scenario);
        free(sweep->library);
        free(sweep->strategy);
        free(sweep->options);
        free(sweep->build);
        free(sweep->about);
        free(sweep->file);
        free(sweep->stated);
        free(sweep->stated_also);
        free(sweep->ended);
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

/* ---- The newest. ----------------------------------------------------------------------------- */

enum sim_store_err
report_sweeps_newest(struct sim_store *store, char *const *patterns, uint32_t pattern_count,
        int64_t **ret_numbers, size_t *ret_count)
{
    int64_t *numbers = NULL;
    size_t count = 0;
    struct report_ask ask = report_ask(
            store, "SELECT scenario, max(sweep) FROM sweeps GROUP BY scenario ORDER BY scenario");
    while (report_row(&ask)) {
        if (!sim_glob_matches(report_text(&ask, 0), patterns, pattern_count)) {
            continue;
        }
        numbers = reallocarray(numbers, count + 1, sizeof(*numbers));
        rt_assert(numbers != NULL);
        numbers[count++] = report_int(&ask, 1);
    }
    *ret_numbers = numbers;
    *ret_count = count;
    return report_done(&ask);
}

enum sim_store_err
report_ways_shown(struct sim_store *store, int64_t **ret_runs, size_t *ret_count)
{
    int64_t *runs = NULL;
    uint32_t count = 0;
    uint32_t capacity = 0;
    enum sim_store_err made = sim_store_ways_make(store);
    if (made != SIM_STORE_OK) {
        return made;
    }
    struct report_ask ask = report_ask(store, "SELECT shown FROM ways ORDER BY last DESC");
    while (report_row(&ask)) {
        sim_heap_grow(&runs, count, &capacity, sizeof(*runs));
        runs[count++] = report_int(&ask, 0);
    }
    *ret_runs = runs;
    *ret_count = count;
    return report_done(&ask);
}

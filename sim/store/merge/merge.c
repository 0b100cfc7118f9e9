/*
 * merge.c -- decides which sweeps of one database go into another, and which shards fit.
 *
 * move.c moves the rows. Decisions depend on the content of the two databases only, so that merging
 * again, or in another order, has the same result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/store/merge/move.h"

extern const char sim_shard_sql[];

/* Columns of the queries below. As parameters they are ?1 … from SCENARIO on. */
enum column {
    SWEEP,
    SCENARIO,
    LIBRARY,
    STRATEGY,
    OPTIONS,
    BUILD,
    GIT,
    SEED_FIRST,
    SHARDS, /* From here to ASKED NULL: it is no shard. */
    UNIT,
    ASKED,
    STARTED, /* From here on the sweep's alone. */
    RUNS,
    DIGEST,
    NEWEST, /* 1: no shard of this scenario is newer. */
};

#define KEY_COLUMNS \
    "s.sweep, s.scenario, s.library, s.strategy, s.options, s.build, s.git, s.seed_first"

#define SAME_KEY \
    "scenario = ?1 AND library IS ?2 AND strategy = ?3 AND options = ?4 AND build IS ?5" \
    " AND git IS ?6 AND seed_first = ?7"

/* In their order, as the newest sweep of a scenario is its state. Of a shard that was begun twice
 * the one with most runs counts: it is first, at the place of the last. */
static const char sweeps_sql[] =
        "SELECT " KEY_COLUMNS ", h.shards, h.unit_runs, h.asked, s.started_ms, s.runs, s.digest,"
        " s.sweep = (SELECT max(t.sweep) FROM shards JOIN sweeps AS t USING (sweep)"
        "            WHERE t.scenario = s.scenario AND t.sweep IN counted)"
        " FROM sweeps AS s LEFT JOIN (SELECT sweep, max(shards) AS shards, max(unit_runs) AS "
        "unit_runs,"
        "                  max(asked) AS asked FROM shards GROUP BY sweep) AS h USING (sweep)"
        " WHERE s.sweep IN counted ORDER BY iif(h.shards IS NULL, s.sweep, max(s.sweep) OVER ("
        "  PARTITION BY scenario, library, strategy, options, build, git, seed_first, h.shards,"
        "  h.unit_runs, h.asked)), s.complete DESC, s.runs DESC, s.sweep";

/* The same where there are no shards. */
static const char wholes_sql[] =
        "SELECT " KEY_COLUMNS ", NULL, NULL, NULL, s.started_ms, s.runs, s.digest, 0"
        " FROM sweeps AS s WHERE s.sweep IN counted ORDER BY s.sweep";

/* Sweeps with a result. A command that a remembered failure or a signal stopped before its first
 * run has no run but an end; one that was killed there has neither, and may have been repeated. */
static const char counted_sql[] =
        "CREATE TEMP TABLE IF NOT EXISTS counted (sweep INTEGER PRIMARY KEY);"
        "DELETE FROM counted;"
        "INSERT INTO counted SELECT sweep FROM sweeps WHERE runs > 0 OR complete;";
static const char counted_notes_sql[] =
        "INSERT OR IGNORE INTO counted SELECT sweep FROM sweep_notes WHERE ended <> 'running'";
static const char counted_again_sql[] =
        "INSERT OR IGNORE INTO counted SELECT sweep FROM failed_again";

/* State of this batch: of each scenario the sweep whose shards are merged, and of the merged
 * database which shard and sweep went where, and which were there already; and the shards of the
 * sweep in question. */
static const char notes_sql[] =
        "CREATE TEMP TABLE IF NOT EXISTS merging (scenario TEXT PRIMARY KEY, sweep INTEGER);"
        "CREATE TEMP TABLE IF NOT EXISTS merged_now (sweep INTEGER, shard INTEGER,"
        " PRIMARY KEY (sweep, shard));"
        "CREATE TEMP TABLE IF NOT EXISTS moved (old INTEGER PRIMARY KEY, new INTEGER);"
        "CREATE TEMP TABLE IF NOT EXISTS known (old INTEGER PRIMARY KEY, new INTEGER);"
        "CREATE TEMP TABLE IF NOT EXISTS coming (shard INTEGER PRIMARY KEY, runs, digest);"
        "DELETE FROM merged_now; DELETE FROM moved; DELETE FROM known;";

struct merge {
    struct sim_store *to;
    struct sim_store *from;
    struct sim_merge *merged;
    struct sim__move move;
    sqlite3_stmt *row; /* The sweep in question: enum column. */
};

static const char *
text_of(const struct merge *merge, enum column column)
{
    const unsigned char *text = sqlite3_column_text(merge->row, (int)column);
    return text != NULL ? (const char *)text : "none";
}

static int64_t
number_of(const struct merge *merge, enum column column)
{
    return sqlite3_column_int64(merge->row, (int)column);
}

/* Asks `to` about the row, whose columns are the parameters; 0: no answer. */
static int64_t
ask(const struct merge *merge, const char *sql)
{
    struct sim__statement statement = sim__store_prepare(merge->to, sql);
    int count = sqlite3_bind_parameter_count(statement.stmt);
    for (int i = 0; i < count; i++) {
        sim__put_value(&statement, sqlite3_column_value(merge->row, SCENARIO + i));
    }
    return sim__store_answer(&statement, 0);
}

/* An error of the user's, about what is in `from`. */
__attribute__((format(printf, 2, 3))) static void
refuse(const struct merge *merge, const char *format, ...)
{
    char detail[SIM_STORE_MESSAGE_MAX / 2];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(detail, sizeof(detail), format, list);
    va_end(list);
    if (merge->to->err == SIM_STORE_OK) {
        (void)sim__store_refuse(
                merge->from, SIM_STORE_UNLIKE, "%.60s: %s", text_of(merge, SCENARIO), detail);
        sim__move_check(&merge->move);
    }
}

/* ---- What fits. ------------------------------------------------------------------------------ */

/* The sweep in `to` that the row's shards belong to; 0: there is none. */
static int64_t
find_joined(const struct merge *merge)
{
    return ask(merge,
            "SELECT sweep FROM sweeps AS s WHERE " SAME_KEY " AND EXISTS ("
            " SELECT 1 FROM shards AS h WHERE h.sweep = s.sweep AND shards = ?8 AND unit_runs = ?9"
            " AND asked = ?10) ORDER BY sweep DESC");
}

/* The sweep to which the next shards of the row's scenario must belong: one that is in `to` and
 * lacks shards; 0: any. */
static int64_t
find_expected(const struct merge *merge)
{
    return ask(merge,
            "SELECT coalesce((SELECT sweep FROM merging WHERE scenario = ?1),"
            " (SELECT s.sweep FROM sweeps AS s JOIN shards AS h USING (sweep) WHERE scenario = ?1"
            "  AND s.sweep = (SELECT max(t.sweep) FROM sweeps AS t JOIN shards USING (sweep)"
            "                 WHERE t.scenario = ?1)"
            "  GROUP BY s.sweep HAVING count(*) < max(h.shards)))");
}

/* Reports how the row differs from `sweep`, which is in `to`. */
static void
refuse_unlike(const struct merge *merge, int64_t sweep)
{
    static const char *const names[] = {[LIBRARY] = "library",
            [STRATEGY] = "strategy",
            [OPTIONS] = "options",
            [BUILD] = "build",
            [GIT] = "commit",
            [SEED_FIRST] = "first seed",
            [SHARDS] = "number of parts",
            [UNIT] = "length of units",
            [ASKED] = "number of runs"};
    struct sim__statement other = sim__store_prepare(merge->to,
            "SELECT " KEY_COLUMNS ", max(shards), max(unit_runs), max(asked)"
            " FROM sweeps AS s JOIN shards USING (sweep) WHERE s.sweep = ? GROUP BY s.sweep");
    sim__put_int(&other, sweep);
    if (sim__store_row(&other)) {
        for (int i = LIBRARY; i <= ASKED; i++) {
            const unsigned char *text = sqlite3_column_text(other.stmt, i);
            const char *there = text != NULL ? (const char *)text : "none";
            if (strcmp(there, text_of(merge, (enum column)i)) != 0) {
                refuse(merge, "%s %.60s, not %.60s", names[i], text_of(merge, (enum column)i),
                        there);
            }
        }
    }
    sim__store_done(&other);
}

static void
check_expected(const struct merge *merge, int64_t joined)
{
    bool must = !merge->merged->apart && number_of(merge, NEWEST) != 0;
    int64_t expected = must ? find_expected(merge) : 0;
    if (expected != 0 && joined != expected) {
        refuse_unlike(merge, expected);
    }
}

/* ---- Parts. ---------------------------------------------------------------------------------- */

/* Compares the shards of the row with those of a sweep in `to`. */
struct overlap {
    uint32_t parts; /* Of the row; of those: */
    uint32_t same;  /* in `to` with the same runs, */
    uint32_t now;   /* with others, copied from the same database in this batch, */
    uint32_t other; /* with others. */
    int64_t which;  /* One of `other`. */
};

static const struct sim__table overlap_table = {
        .columns = {SIM__EACH(struct overlap, parts, same, now, other, which)},
};

static const char overlap_sql[] =
        "SELECT count(*), coalesce(sum(same), 0), coalesce(sum(NOT same AND now), 0),"
        " coalesce(sum(NOT same AND NOT now), 0), max(iif(NOT same AND NOT now, shard, 0)) FROM ("
        " SELECT c.shard, c.runs = h.runs AND c.digest = h.digest AS same, EXISTS (SELECT 1"
        "  FROM merged_now AS m WHERE m.sweep = ?1 AND m.shard = c.shard) AS now"
        " FROM coming AS c LEFT JOIN shards AS h ON h.sweep = ?1 AND h.shard = c.shard)";

static struct overlap
compare_parts(const struct merge *merge, int64_t sweep)
{
    struct overlap overlap = {.parts = 0};
    const struct sim__move row = {
            .to = merge->to, .from = merge->from, .old = number_of(merge, SWEEP)};
    sim__store_execute(merge->to, "DELETE FROM coming");
    sim__move_rows(&row, "SELECT shard, runs, digest FROM shards WHERE sweep = ?1",
            "INSERT INTO coming VALUES (?, ?, ?)");
    struct sim__statement statement = sim__store_prepare(merge->to, overlap_sql);
    sim__put_int(&statement, sweep);
    if (sim__store_row(&statement)) {
        sim__row_read(statement.stmt, &overlap_table, &overlap);
    }
    sim__store_done(&statement);
    return overlap;
}

static void
refuse_overlap(const struct merge *merge, const struct overlap *overlap)
{
    if (overlap->other > 0) {
        refuse(merge, "part %lld of %s is there already, with other runs",
                (long long)overlap->which, text_of(merge, SHARDS));
    } else {
        refuse(merge, "%u of these %u parts are there already, and cannot be told from the others",
                overlap->same, overlap->parts);
    }
}

/* `text` and `sweep` of the row, in a table of this merge. */
static void
note(const struct merge *merge, const char *sql, enum column column, int64_t sweep)
{
    struct sim__statement statement = sim__store_prepare(merge->to, sql);
    sim__put_value(&statement, sqlite3_column_value(merge->row, (int)column));
    sim__put_int(&statement, sweep);
    sim__store_run(&statement);
    sim__store_done(&statement);
}

/* The sweep of the row is there already, as `sweep`. */
static void
note_known(const struct merge *merge, int64_t sweep)
{
    note(merge, "INSERT INTO known VALUES (?, ?)", SWEEP, sweep);
}

static void
move_row(struct merge *merge, int64_t sweep, bool part)
{
    merge->move.old = number_of(merge, SWEEP);
    merge->move.new = sweep;
    sim__move_sweep(&merge->move, part);
}

static void
merge_part(struct merge *merge)
{
    int64_t sweep = find_joined(merge);
    check_expected(merge, sweep);
    const struct overlap overlap = compare_parts(merge, sweep);
    uint32_t there = overlap.same + overlap.now;
    if (merge->to->err != SIM_STORE_OK) {
        return;
    }
    if (there == overlap.parts) {
        merge->merged->counts.known += overlap.parts;
        note_known(merge, sweep);
    } else if (there + overlap.other > 0) {
        refuse_overlap(merge, &overlap);
    } else {
        merge->merged->counts.parts += overlap.parts;
        move_row(merge, sweep, true);
        sweep = merge->move.new;
    }
    if (number_of(merge, NEWEST) != 0) {
        note(merge, "INSERT OR REPLACE INTO merging VALUES (?, ?)", SCENARIO, sweep);
    }
}

/* ---- Sweeps that are no parts. --------------------------------------------------------------- */

/* The same sweep, copied before. */
#define COPIED \
    "SELECT sweep FROM sweeps WHERE " SAME_KEY " AND started_ms = ?11" \
    " AND sweep NOT IN (SELECT sweep FROM shards)"

static void
merge_whole(struct merge *merge)
{
    int64_t there = ask(merge, COPIED);
    if (there == 0) {
        merge->merged->counts.sweeps++;
        move_row(merge, 0, false);
    } else if (ask(merge, COPIED " AND runs = ?12 AND digest = ?13") == 0) {
        refuse(merge, "the sweep is there already, as it was before it ended");
    } else {
        merge->merged->counts.known++;
        note_known(merge, there);
    }
}

/* ---- All of them. ---------------------------------------------------------------------------- */

static void
merge_each(struct merge *merge, const char *sql)
{
    struct sim__statement sweeps = sim__store_prepare(merge->from, sql);
    while (merge->to->err == SIM_STORE_OK && sim__store_row(&sweeps)) {
        merge->row = sweeps.stmt;
        bool whole = sqlite3_column_type(merge->row, SHARDS) == SQLITE_NULL;
        (whole ? merge_whole : merge_part)(merge);
    }
    merge->row = NULL;
    sim__store_done(&sweeps);
    sim__move_check(&merge->move);
}

static void
begin(struct merge *merge)
{
    sim__store_make(merge->to, "species", sim_shard_sql);
    sim__store_execute(merge->to, notes_sql);
    merge->move.run_shift = sim__store_ask_int(merge->to, "SELECT max(run) FROM runs", 0);
    merge->move.event_shift = sim__store_ask_int(merge->to, "SELECT max(id) FROM event_words", 0);
}

static void
note_counted(struct sim_store *from)
{
    sim__store_execute(from, counted_sql);
    if (sim__store_has(from, "sweep_notes")) {
        sim__store_execute(from, counted_notes_sql);
    }
    if (sim__store_has(from, "failed_again")) {
        sim__store_execute(from, counted_again_sql);
    }
}

enum sim_store_err
sim_store_merge(struct sim_store *store, struct sim_store *from, struct sim_merge *merged)
{
    rt_assert(store != from);
    struct merge merge = {
            .to = store, .from = from, .merged = merged, .move = {store, from, 0, 0, 0, 0}};
    sim__store_begin(store);
    sim__store_enter(from);
    begin(&merge);
    note_counted(from);
    merge_each(&merge, sim__store_has(from, "shards") ? sweeps_sql : wholes_sql);
    sim__move_rest(&merge.move);
    return sim__store_end(store);
}

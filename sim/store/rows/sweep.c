/*
 * sweep.c -- sweeps: totals, seeds, notes, coverage, and the rows of their runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/coverage.h"
#include "sim/store/internal.h"
#include "sim/store/shard.h"

/* The scripts of tables/, made into C arrays by the build. */
extern const char sim_notes_sql[];
extern const char sim_shard_sql[];

/* ---- The sweep itself. ----------------------------------------------------------------------- */

static const struct sim__table sweeps = {
        .name = "sweeps",
        .row_size = sizeof(struct sim_sweep),
        .columns = {SIM__EACH(struct sim_sweep, scenario, library, strategy, options, build, git,
                seed_first, started_ms)},
};

enum sim_store_err
sim_store_sweep_begin(struct sim_store *store, const struct sim_sweep *sweep, int64_t *ret_sweep)
{
    rt_assert(sweep->scenario != NULL && sweep->strategy != NULL && sweep->options != NULL);
    sim__store_begin(store);
    sim__store_insert(store, &sweeps, sweep, 1, 0);
    int64_t id = sqlite3_last_insert_rowid(store->db);
    sim__store_sites(store);
    enum sim_store_err err = sim__store_end(store);
    if (err == SIM_STORE_OK) {
        *ret_sweep = id;
    }
    return err;
}

static const struct sim__table sweep_totals = {
        .sql = "UPDATE sweeps SET (%s) = (SELECT %s FROM given) WHERE sweep = ?1",
        .row_size = sizeof(struct sim_sweep_totals),
        .columns = {SIM__EACH(
                struct sim_sweep_totals, runs, steps, sim_ns, digest, elapsed_ms, complete)},
};

/* The array's index is the verdict. */
static const struct sim__table sweep_verdicts = {
        .sql = "INSERT OR REPLACE INTO sweep_verdicts (sweep, verdict, %s)"
               " SELECT ?1, rowid, %s FROM given WHERE c0 <> 0",
        .row_size = sizeof(uint64_t),
        .columns = {{"runs", SIM__U64, 0, sizeof(uint64_t)}},
};

static uint64_t
sum_of_verdicts(const struct sim_sweep_totals *totals)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < SIM_VERDICTS; i++) {
        sum += totals->verdicts[i];
    }
    return sum;
}

enum sim_store_err
sim_store_sweep_update(
        struct sim_store *store, int64_t sweep, const struct sim_sweep_totals *totals)
{
    rt_assert(sum_of_verdicts(totals) == totals->runs);
    sim__store_begin(store);
    sim__store_insert(store, &sweep_totals, totals, 1, sweep);
    sim__store_insert(store, &sweep_verdicts, totals->verdicts, SIM_VERDICTS, sweep);
    return sim__store_end(store);
}

struct seeds {
    uint64_t first;
    uint64_t last;
    uint64_t stride;
};

/* Seeds arrive in order, so only the sweep's last range can grow: a range that continues it begins
 * where it begins, and replaces it. */
static const struct sim__table seeds = {
        .sql = "INSERT OR REPLACE INTO seeds (sweep, %s) SELECT ?1, %s FROM ("
               "SELECT c0, c1, coalesce((SELECT first FROM seeds WHERE sweep = ?1 AND stride = c1"
               " AND last = c2 - c1 AND first = (SELECT max(first) FROM seeds WHERE sweep = ?1)),"
               " c2) AS c2 FROM given)",
        .row_size = sizeof(struct seeds),
        .columns = {SIM__EACH(struct seeds, last, stride, first)},
};

enum sim_store_err
sim_store_sweep_seeds(
        struct sim_store *store, int64_t sweep, uint64_t first, uint64_t last, uint64_t stride)
{
    rt_assert(stride >= 1);
    rt_assert(first <= last);
    const struct seeds range = {first, last, stride};
    return sim__store_write(store, &seeds, &range, 1, sweep);
}

/* ---- Its command, and its shard. ------------------------------------------------------------- */

static const struct sim__table sweep_notes = {
        .name = "sweep_notes",
        .make = sim_notes_sql,
        .key = "held",
        .row_size = sizeof(struct sim_sweep_note),
        .columns = {SIM__EACH(struct sim_sweep_note, sweep, command_ms, about, file, stated, ended,
                checked, unequal)},
};

static const struct sim__table also_stated = {
        .name = "failed_again", /* The last of the script. */
        .make = sim_notes_sql,
        .sql = "INSERT OR REPLACE INTO also_stated (%s) SELECT %s FROM given WHERE c1 <> 0",
        .row_size = sizeof(struct sim_sweep_note),
        .columns = {SIM__EACH(struct sim_sweep_note, sweep),
                SIM__NAMED("verdict", struct sim_sweep_note, stated_also)},
};

enum sim_store_err
sim_store_sweep_note(struct sim_store *store, const struct sim_sweep_note *note)
{
    rt_assert(note->about != NULL && note->ended != NULL);
    int64_t held = (note->held_to_verdict ? 1 : 0) | (note->held_to_goals ? 2 : 0);
    sim__store_begin(store);
    sim__store_insert(store, &sweep_notes, note, 1, held);
    sim__store_insert(store, &also_stated, note, 1, 0);
    return sim__store_end(store);
}

static const struct sim__table shards = {
        .name = "shards",
        .make = sim_shard_sql,
        .sql = "INSERT OR REPLACE INTO shards (sweep, started_ms, elapsed_ms, runs, digest,"
               " complete, %s) SELECT sweep, started_ms, elapsed_ms, runs, digest, complete, %s"
               " FROM sweeps, given WHERE sweep = ?1",
        .row_size = sizeof(struct sim_shard),
        .columns = {SIM__EACH(struct sim_shard, shard, shards, asked, unit_runs)},
};

enum sim_store_err
sim_store_shard(struct sim_store *store, int64_t sweep, const struct sim_shard *shard)
{
    rt_assert(shard->shard >= 1 && shard->shard <= shard->shards);
    return sim__store_write(store, &shards, shard, 1, sweep);
}

/* ---- What it covered. ------------------------------------------------------------------------ */

static const struct sim__table coverage = {
        .name = "coverage",
        .key = "sweep",
        .row_size = sizeof(struct sim_covered),
        .columns = {SIM__NAMED("kind", struct sim_covered, element.kind),
                SIM__NAMED("site", struct sim_covered, element.first),
                SIM__NAMED("other", struct sim_covered, element.second),
                SIM__EACH(struct sim_covered, first_run, runs)},
};

enum sim_store_err
sim_store_covered(
        struct sim_store *store, int64_t sweep, const struct sim_covered *covered, uint32_t count)
{
    return sim__store_write(store, &coverage, covered, count, sweep);
}

static const struct sim__table waste = {
        .name = "waste",
        .key = "sweep",
        .row_size = sizeof(struct sim_waste_row),
        .columns = {SIM__EACH(struct sim_waste_row, kind, site, first_run, runs, times, most)},
};

enum sim_store_err
sim_store_waste(
        struct sim_store *store, int64_t sweep, const struct sim_waste_row *rows, uint32_t count)
{
    return sim__store_write(store, &waste, rows, count, sweep);
}

static const struct sim__table sweep_strategies = {
        .name = "sweep_strategies",
        .key = "sweep",
        .row_size = sizeof(struct sim_drawn),
        .columns = {SIM__EACH(struct sim_drawn, strategy, runs, failures)},
};

enum sim_store_err
sim_store_drawn(
        struct sim_store *store, int64_t sweep, const struct sim_drawn *drawn, uint32_t count)
{
    return sim__store_write(store, &sweep_strategies, drawn, count, sweep);
}

struct census {
    const char *strategy;
    struct sim_census counts;
};

static const struct sim__table sweep_species = {
        .name = "sweep_species",
        .key = "sweep",
        .row_size = sizeof(struct census),
        .columns = {SIM__EACH(struct census, strategy, counts.runs, counts.seen, counts.once,
                counts.twice, counts.level)},
};

void
sim__store_census(struct sim_store *store, int64_t sweep, const char *strategy,
        const struct sim_census *census)
{
    const struct census row = {strategy, *census};
    sim__store_insert(store, &sweep_species, &row, 1, sweep);
}

enum sim_store_err
sim_store_species(struct sim_store *store, int64_t sweep, const char *strategy,
        const struct sim_census *census)
{
    sim__store_begin(store);
    sim__store_census(store, sweep, strategy, census);
    return sim__store_end(store);
}

static const struct sim__table species_table = {
        .sql = "INSERT INTO species (sweep, %s) SELECT ?1, %s FROM given WHERE c0 <> 0",
        .row_size = sizeof(struct sim_species_entry),
        .columns = {SIM__EACH(struct sim_species_entry, species, runs)},
};

void
sim__store_species_list(struct sim_store *store, int64_t sweep, const struct sim_species *species)
{
    sim__store_make(store, "species", sim_shard_sql);
    sim__store_run_int(store, "DELETE FROM species WHERE sweep = ?", sweep);
    sim__store_insert(store, &species_table, species->entries, species->capacity, sweep);
}

enum sim_store_err
sim_store_species_list(struct sim_store *store, int64_t sweep, const struct sim_species *species)
{
    sim__store_begin(store);
    sim__store_species_list(store, sweep, species);
    return sim__store_end(store);
}

static const struct sim__table goals_table = {
        .name = "goals",
        .key = "sweep",
        .row_size = sizeof(struct sim_goal),
        .columns = {SIM__EACH(struct sim_goal, site, what, text)},
};

enum sim_store_err
sim_store_goals(
        struct sim_store *store, int64_t sweep, const struct sim_goal *goals, uint32_t count)
{
    return sim__store_write(store, &goals_table, goals, count, sweep);
}

/* ---- Rows of its runs. ----------------------------------------------------------------------- */

#define RUN_COLUMNS \
    { \
        SIM__EACH(struct sim_run_row, number, seed, digest, steps, sim_ns, decisions, deviations), \
                SIM__AS("actor", SIM__OPTIONAL, struct sim_run_row, actor), \
                SIM__EACH(struct sim_run_row, verdict, oracle, object, site, fail_step, \
                        missing_wake_step, events, fresh), \
                SIM__EACH(struct sim_run_row, news), \
                SIM__AS("tape", SIM__SLICE, struct sim_run_row, tape_offset) \
    }
_Static_assert(offsetof(struct sim_run_row, tape_length) ==
                       offsetof(struct sim_run_row, tape_offset) + sizeof(uint32_t),
        "a slice is an offset and a length");

static const struct sim__table runs = {
        .sql = "INSERT INTO runs (sweep, %s) SELECT ?1, %s FROM given",
        .row_size = sizeof(struct sim_run_row),
        .columns = RUN_COLUMNS,
};
static const struct sim__table one_run = {
        .sql = "UPDATE runs SET (%s) = (SELECT %s FROM given) WHERE run = ?1",
        .row_size = sizeof(struct sim_run_row),
        .columns = RUN_COLUMNS,
};

void
sim__store_insert_runs(struct sim_store *store, int64_t sweep, const struct sim_run_row *rows,
        uint32_t count, const uint8_t *tapes, size_t tapes_size)
{
    const struct sim__given given = {.table = &runs,
            .rows = rows,
            .count = count,
            .mask = UINT64_MAX,
            .bytes = tapes,
            .bytes_size = tapes_size};
    sim__store_give(store, &given, sweep);
}

void
sim__store_replace_run(struct sim_store *store, int64_t run, const struct sim_run_row *row,
        const uint8_t *tape, size_t tape_size)
{
    const struct sim__given given = {.table = &one_run,
            .rows = row,
            .count = 1,
            .mask = UINT64_MAX,
            .bytes = tape,
            .bytes_size = tape_size};
    sim__store_give(store, &given, run);
}

enum sim_store_err
sim_store_runs(struct sim_store *store, int64_t sweep, const struct sim_run_row *rows,
        uint32_t count, const uint8_t *tapes, size_t tapes_size)
{
    rt_assert(rows != NULL || count == 0);
    sim__store_begin(store);
    sim__store_insert_runs(store, sweep, rows, count, tapes, tapes_size);
    return sim__store_end(store);
}

/*
 * explained.c -- explanations, and the two runs that each shows: the smaller and the passing one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/explained.h"

#include "sim/store/internal.h"

/* explained.sql, made into a C array by the build. */
extern const char sim_explained_sql[];

/* ---- The two runs. --------------------------------------------------------------------------- */

struct shown {
    int64_t shown;
    int64_t run;
    uint64_t parts_step;
    struct sim_outcome outcome;
};

static const struct sim__table runs_table = {
        .name = "explained_runs",
        .row_size = sizeof(struct shown),
        .columns = {SIM__EACH(struct shown, shown, run, parts_step, outcome.seed, outcome.digest,
                            outcome.steps, outcome.sim_ns, outcome.decisions),
                SIM__EACH(struct shown, outcome.deviations, outcome.verdict, outcome.oracle,
                        outcome.object, outcome.site, outcome.fail_step, outcome.missing_wake_step,
                        outcome.events),
                SIM__AS("actor", SIM__OPTIONAL, struct shown, outcome.actor)},
};

static void
write_run(
        struct sim_store *store, int64_t number, int64_t run, const struct sim_explained_run *shown)
{
    const struct sim_full_run full = {
            .outcome = shown->outcome,
            .token = shown->token,
            .options = shown->options,
            .recorder = shown->recorder,
            .fifo = SIM_FIFO_NOT_ASKED,
    };
    const struct shown row = {number, run, shown->parts_step, *shown->outcome};
    sim__store_details(store, number, &full);
    sim__store_insert(store, &runs_table, &row, 1, 0);
}

/* ---- The explanation. ------------------------------------------------------------------------ */

static const struct sim__table explained_table = {
        .sql = "INSERT OR REPLACE INTO explained (failing, passing, %s)"
               " SELECT -2 * c0, iif(?1, -2 * c0 - 1, NULL), %s FROM given",
        .row_size = sizeof(struct sim_explained),
        .columns = {SIM__EACH(struct sim_explained, run, headline, cause, wake_outcome, answer,
                            decision, ordering, swapped),
                SIM__EACH(struct sim_explained, needed, why, refs, findings, build)},
};

static const struct sim__table places_table = {
        .name = "explained_places",
        .key = "run",
        .row_size = sizeof(struct sim_explained_place),
        .columns = {SIM__EACH(struct sim_explained_place, role, nth, file, function, line, step)},
};

static const struct sim__table lines_table = {
        .name = "explained_lines",
        .key = "run",
        .row_size = sizeof(struct sim_explained_line),
        .columns = {SIM__EACH(struct sim_explained_line, file, line),
                SIM__AS("text", SIM__TEXT, struct sim_explained_line, text)},
};

static const struct sim__table deciding_table = {
        .sql = "INSERT INTO deciding (%s) SELECT %s FROM given WHERE c2 IS NOT NULL",
        .row_size = sizeof(struct sim_explained),
        .columns = {SIM__EACH(struct sim_explained, run),
                SIM__NAMED("step", struct sim_explained, decided_step),
                SIM__NAMED("failing", struct sim_explained, decided_failing),
                SIM__NAMED("passing", struct sim_explained, decided_passing)},
};

static void
clear(struct sim_store *store, int64_t run)
{
    static const char *const statements[] = {
            "DELETE FROM explained_places WHERE run = ?",
            "DELETE FROM explained_runs WHERE run = ?",
            "DELETE FROM deciding WHERE run = ?",
            "DELETE FROM explained_lines WHERE run = ?",
    };
    sim__store_forget_details(store, SIM_FAILING_OF(run));
    sim__store_forget_details(store, SIM_PASSING_OF(run));
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
        sim__store_run_int(store, statements[i], run);
    }
}

enum sim_store_err
sim_store_explained(struct sim_store *store, const struct sim_explained *explained)
{
    int64_t run = explained->run;
    rt_assert(run > 0 && explained->failing != NULL);
    sim__store_begin(store);
    sim__store_known(store, run);
    sim__store_make(store, "explained_lines", sim_explained_sql);
    sim__store_sites(store); /* Those of this build, which has made the two runs. */
    clear(store, run);
    write_run(store, SIM_FAILING_OF(run), run, explained->failing);
    if (explained->passing != NULL) {
        write_run(store, SIM_PASSING_OF(run), run, explained->passing);
    }
    sim__store_insert(store, &explained_table, explained, 1, explained->passing != NULL);
    sim__store_insert(store, &deciding_table, explained, 1, 0);
    sim__store_insert(store, &places_table, explained->places, explained->places_count, run);
    sim__store_insert(store, &lines_table, explained->lines, explained->lines_count, run);
    return sim__store_end(store);
}

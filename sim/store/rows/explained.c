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

struct told {
    int64_t told;
    int64_t run;
    uint64_t parts_step;
    struct sim_outcome outcome;
};

static const struct sim__column told_columns[] = {
        SIM__COLUMN(struct told, told),
        SIM__COLUMN(struct told, run),
        SIM__COLUMN(struct told, parts_step),
        SIM__NAMED("seed", struct told, outcome.seed),
        SIM__NAMED("digest", struct told, outcome.digest),
        SIM__NAMED("steps", struct told, outcome.steps),
        SIM__NAMED("sim_ns", struct told, outcome.sim_ns),
        SIM__NAMED("decisions", struct told, outcome.decisions),
        SIM__NAMED("deviations", struct told, outcome.deviations),
        SIM__NAMED("verdict", struct told, outcome.verdict),
        SIM__NAMED("oracle", struct told, outcome.oracle),
        SIM__AS("actor", SIM__OPTIONAL, struct told, outcome.actor),
        SIM__NAMED("object", struct told, outcome.object),
        SIM__NAMED("site", struct told, outcome.site),
        SIM__NAMED("fail_step", struct told, outcome.fail_step),
        SIM__NAMED("missing_wake_step", struct told, outcome.missing_wake_step),
        SIM__NAMED("events", struct told, outcome.events),
};
static const struct sim__table told_table = {
        .sql = "INSERT OR REPLACE INTO told (%s) SELECT %s FROM given",
        SIM__TABLE(struct told, told_columns),
};

static enum sim_store_err
write_told(struct sim_store *store, int64_t number, int64_t run, const struct sim_told_run *told)
{
    const struct sim_full_run full = {
            .outcome = told->outcome,
            .token = told->token,
            .options = told->options,
            .recorder = told->recorder,
            .fifo = SIM_FIFO_NOT_ASKED,
    };
    const struct told row = {number, run, told->parts_step, *told->outcome};
    enum sim_store_err err = sim__store_details(store, number, &full);
    return err == SIM_STORE_OK ? sim__store_insert(store, &told_table, &row, 1, 0) : err;
}

/* ---- The explanation. ------------------------------------------------------------------------ */

static const struct sim__column explained_columns[] = {
        SIM__COLUMN(struct sim_explained, run),
        SIM__COLUMN(struct sim_explained, headline),
        SIM__COLUMN(struct sim_explained, cause),
        SIM__COLUMN(struct sim_explained, wake_outcome),
        SIM__COLUMN(struct sim_explained, answer),
        SIM__COLUMN(struct sim_explained, decision),
        SIM__COLUMN(struct sim_explained, ordering),
        SIM__COLUMN(struct sim_explained, swapped),
        SIM__COLUMN(struct sim_explained, needed),
        SIM__COLUMN(struct sim_explained, why),
        SIM__COLUMN(struct sim_explained, refs),
        SIM__COLUMN(struct sim_explained, build),
};
static const struct sim__table explained_table = {
        .sql = "INSERT OR REPLACE INTO explained (told, twin, %s)"
               " SELECT -2 * c0, iif(?1, -2 * c0 - 1, NULL), %s FROM given",
        SIM__TABLE(struct sim_explained, explained_columns),
};

static const struct sim__column place_columns[] = {
        SIM__COLUMN(struct sim_explained_place, role),
        SIM__COLUMN(struct sim_explained_place, nth),
        SIM__COLUMN(struct sim_explained_place, file),
        SIM__COLUMN(struct sim_explained_place, function),
        SIM__COLUMN(struct sim_explained_place, line),
        SIM__COLUMN(struct sim_explained_place, step),
};
static const struct sim__table places_table = {
        .sql = "INSERT OR REPLACE INTO explained_places (run, %s) SELECT ?1, %s FROM given",
        SIM__TABLE(struct sim_explained_place, place_columns),
};

static const struct sim__column deciding_columns[] = {
        SIM__COLUMN(struct sim_explained, run),
        SIM__NAMED("step", struct sim_explained, decided_step),
        SIM__NAMED("told", struct sim_explained, decided_told),
        SIM__NAMED("twin", struct sim_explained, decided_twin),
};
static const struct sim__table deciding_table = {
        .sql = "INSERT INTO deciding (%s) SELECT %s FROM given WHERE c2 IS NOT NULL",
        SIM__TABLE(struct sim_explained, deciding_columns),
};

static enum sim_store_err
clear(struct sim_store *store, int64_t run)
{
    static const char *const statements[] = {
            "DELETE FROM explained_places WHERE run = ?",
            "DELETE FROM told WHERE run = ?",
            "DELETE FROM deciding WHERE run = ?",
    };
    enum sim_store_err err = sim__store_forget_details(store, SIM_TOLD_OF(run));
    if (err == SIM_STORE_OK) {
        err = sim__store_forget_details(store, SIM_TWIN_OF(run));
    }
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]) && err == SIM_STORE_OK; i++) {
        err = sim__store_run_int(store, statements[i], run);
    }
    return err;
}

static enum sim_store_err
write_rows(struct sim_store *store, const struct sim_explained *explained)
{
    int64_t run = explained->run;
    enum sim_store_err err = write_told(store, SIM_TOLD_OF(run), run, explained->told);
    if (err == SIM_STORE_OK && explained->twin != NULL) {
        err = write_told(store, SIM_TWIN_OF(run), run, explained->twin);
    }
    if (err == SIM_STORE_OK) {
        err = sim__store_insert(store, &explained_table, explained, 1, explained->twin != NULL);
    }
    if (err == SIM_STORE_OK) {
        err = sim__store_insert(store, &deciding_table, explained, 1, 0);
    }
    return err != SIM_STORE_OK ? err
                               : sim__store_insert(store, &places_table, explained->places,
                                         explained->places_count, run);
}

static enum sim_store_err
write_all(struct sim_store *store, const struct sim_explained *explained)
{
    enum sim_store_err err = sim__store_known(store, explained->run);
    if (err == SIM_STORE_OK) {
        err = sim__store_make(store, "deciding", sim_explained_sql);
    }
    if (err == SIM_STORE_OK) {
        err = sim__store_sites(store); /* Those of this build, which has made the two runs. */
    }
    if (err == SIM_STORE_OK) {
        err = clear(store, explained->run);
    }
    return err == SIM_STORE_OK ? write_rows(store, explained) : err;
}

enum sim_store_err
sim_store_explained(struct sim_store *store, const struct sim_explained *explained)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(explained->run > 0 && explained->told != NULL);
    enum sim_store_err err = sim__store_begin(store);
    return err != SIM_STORE_OK ? err : sim__store_end(store, write_all(store, explained));
}

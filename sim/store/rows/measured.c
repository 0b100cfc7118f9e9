/*
 * measured.c -- the table of real bugs, and how many runs each strategy needs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/internal.h"

/* zoo.sql and measure.sql, made into C arrays by the build. */
extern const char sim_zoo_sql[];
extern const char sim_measure_sql[];

static const struct sim__column zoo_columns[] = {
        SIM__COLUMN(struct sim_zoo_row, name),
        SIM__COLUMN(struct sim_zoo_row, bug),
        SIM__COLUMN(struct sim_zoo_row, reference),
        SIM__COLUMN(struct sim_zoo_row, about),
        SIM__COLUMN(struct sim_zoo_row, verdict),
        SIM__COLUMN(struct sim_zoo_row, oracle),
        SIM__COLUMN(struct sim_zoo_row, as_stated),
        SIM__COLUMN(struct sim_zoo_row, baseline),
        SIM__COLUMN(struct sim_zoo_row, trials),
        SIM__COLUMN(struct sim_zoo_row, found),
        SIM__COLUMN(struct sim_zoo_row, trial_runs),
        SIM__COLUMN(struct sim_zoo_row, trial_steps),
        SIM__COLUMN(struct sim_zoo_row, fixed_runs),
        SIM__COLUMN(struct sim_zoo_row, fixed_failures),
        SIM__COLUMN(struct sim_zoo_row, build),
        SIM__COLUMN(struct sim_zoo_row, measured_ms),
};
static const struct sim__table zoo = {
        .sql = "INSERT OR REPLACE INTO zoo (%s) SELECT %s FROM given",
        SIM__TABLE(struct sim_zoo_row, zoo_columns),
        .name = "zoo",
        .make = sim_zoo_sql,
};

enum sim_store_err
sim_store_zoo(struct sim_store *store, const struct sim_zoo_row *row)
{
    rt_assert(row->name != NULL && row->bug != NULL && row->reference != NULL);
    rt_assert(row->found <= row->trials);
    return sim__store_write(store, &zoo, row, 1, 0);
}

static const struct sim__column measure_columns[] = {
        SIM__COLUMN(struct sim_measure_row, scenario),
        SIM__COLUMN(struct sim_measure_row, strategy),
        SIM__COLUMN(struct sim_measure_row, runs_max),
        SIM__COLUMN(struct sim_measure_row, trials),
        SIM__COLUMN(struct sim_measure_row, found),
        SIM__COLUMN(struct sim_measure_row, exhausted),
        SIM__COLUMN(struct sim_measure_row, trial_runs),
        SIM__COLUMN(struct sim_measure_row, trial_steps),
        SIM__COLUMN(struct sim_measure_row, verdict),
        SIM__COLUMN(struct sim_measure_row, oracle),
        SIM__COLUMN(struct sim_measure_row, as_stated),
        SIM__COLUMN(struct sim_measure_row, build),
        SIM__COLUMN(struct sim_measure_row, measured_ms),
};
static const struct sim__table measures = {
        .sql = "INSERT OR REPLACE INTO measures (%s) SELECT %s FROM given",
        SIM__TABLE(struct sim_measure_row, measure_columns),
        .name = "measures",
        .make = sim_measure_sql,
};

enum sim_store_err
sim_store_measure(struct sim_store *store, const struct sim_measure_row *row)
{
    rt_assert(row->scenario != NULL && row->strategy != NULL);
    rt_assert(row->found <= row->trials && row->exhausted <= row->trials);
    return sim__store_write(store, &measures, row, 1, 0);
}

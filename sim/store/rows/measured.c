/*
 * measured.c -- the table of real bugs, and how many runs each strategy needs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/internal.h"

/* zoo.sql and measure.sql, made into C arrays by the build. */
extern const char sim_zoo_sql[];
extern const char sim_measure_sql[];

static const struct sim__table zoo = {
        .name = "zoo",
        .make = sim_zoo_sql,
        .row_size = sizeof(struct sim_zoo_row),
        .columns = {SIM__EACH(struct sim_zoo_row, name, bug, reference, about, verdict, oracle,
                            as_stated, baseline),
                SIM__EACH(struct sim_zoo_row, trials, found, trial_runs, trial_steps, fixed_runs,
                        fixed_failures, build, measured_ms)},
};

enum sim_store_err
sim_store_zoo(struct sim_store *store, const struct sim_zoo_row *row)
{
    rt_assert(row->name != NULL && row->bug != NULL && row->reference != NULL);
    rt_assert(row->found <= row->trials);
    return sim__store_write(store, &zoo, row, 1, 0);
}

static const struct sim__table measures = {
        .name = "measures",
        .make = sim_measure_sql,
        .row_size = sizeof(struct sim_measure_row),
        .columns = {SIM__EACH(struct sim_measure_row, scenario, strategy, runs_max, trials, found,
                            exhausted, trial_runs, trial_steps),
                SIM__EACH(struct sim_measure_row, verdict, oracle, as_stated, build, measured_ms)},
};

enum sim_store_err
sim_store_measure(struct sim_store *store, const struct sim_measure_row *row)
{
    rt_assert(row->scenario != NULL && row->strategy != NULL);
    rt_assert(row->found <= row->trials && row->exhausted <= row->trials);
    return sim__store_write(store, &measures, row, 1, 0);
}

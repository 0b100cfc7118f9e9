/*
 * remember.c -- the failures that the next sweep tries first, and those that failed again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/internal.h"

#define COLUMNS \
    { \
        SIM__EACH(struct sim_remembered, scenario, verdict, oracle, site, library, token), \
                SIM__AS("run", SIM__ID, struct sim_remembered, run) \
    }

/* REPLACE gives the row a new number: it is the newest again. */
static const struct sim__table remembered = {
        .name = "remembered",
        .row_size = sizeof(struct sim_remembered),
        .columns = COLUMNS,
};
static const struct sim__table forgotten = {
        .sql = "DELETE FROM remembered WHERE (scenario, verdict, oracle, site)"
               " IN (SELECT c0, c1, c2, c3 FROM given)",
        .row_size = sizeof(struct sim_remembered),
        .columns = COLUMNS,
};
static const struct sim__table failed_again = {
        .name = "failed_again",
        .key = "sweep",
        .row_size = sizeof(int64_t),
        .columns = {{"run", SIM__U64, 0, sizeof(int64_t)}},
};

enum sim_store_err
sim_store_remember(struct sim_store *store, const struct sim_remembered *failure)
{
    rt_assert(failure->scenario != NULL && failure->token != NULL);
    return sim__store_write(store, &remembered, failure, 1, 0);
}

enum sim_store_err
sim_store_forget(struct sim_store *store, const struct sim_remembered *failure)
{
    rt_assert(failure->scenario != NULL);
    return sim__store_write(store, &forgotten, failure, 1, 0);
}

enum sim_store_err
sim_store_failed_again(struct sim_store *store, int64_t sweep, int64_t run)
{
    rt_assert(run > 0);
    return sim__store_write(store, &failed_again, &run, 1, sweep);
}

enum sim_store_err
sim_store_remembered(struct sim_store *store,
        bool (*each)(const struct sim_remembered *failure, void *argument), void *argument)
{
    sim__store_enter(store);
    rt_assert(each != NULL);
    struct sim__statement statement = sim__store_prepare(store,
            "SELECT scenario, verdict, oracle, site, library, token, run FROM remembered"
            " ORDER BY id DESC");
    bool more = true;
    while (more && sim__store_row(&statement)) {
        struct sim_remembered failure;
        sim__row_read(statement.stmt, &remembered, &failure);
        more = each(&failure, argument);
    }
    sim__store_done(&statement);
    return store->err;
}

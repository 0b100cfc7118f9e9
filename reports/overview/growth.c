/*
 * growth.c -- how coverage grew, run by run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/overview/growth.h"

#include <stdlib.h>

#include "reports/base/ask.h"
#include "sim/base/heap.h"

static void
add(struct report_growth *growth, int64_t x, int64_t y)
{
    sim_heap_grow(&growth->points, growth->count, &growth->capacity, sizeof(*growth->points));
    growth->points[growth->count++] = (struct report_point){x, y};
}

static int64_t
last_y(const struct report_growth *growth)
{
    return growth->count > 0 ? growth->points[growth->count - 1].y : 0;
}

static struct report_growth *
growth_of(const struct report_sweeps *list, struct report_growths *growths, int64_t sweep)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->sweeps[i].sweep == sweep) {
            return &growths->sweeps[i];
        }
    }
    return NULL;
}

static enum sim_store_err
read_steps(
        struct sim_store *store, const struct report_sweeps *list, struct report_growths *growths)
{
    int64_t sweep = -1;
    struct report_growth *growth = NULL;
    struct report_ask ask = report_ask(
            store, "SELECT sweep, number + 1, fresh FROM runs WHERE fresh > 0 ORDER BY 1, 2");
    while (report_row(&ask)) {
        if (report_int(&ask, 0) != sweep) {
            sweep = report_int(&ask, 0);
            growth = growth_of(list, growths, sweep);
        }
        if (growth != NULL) {
            growth->last_new = report_int(&ask, 1);
            add(growth, report_int(&ask, 1), last_y(growth) + report_int(&ask, 2));
        }
    }
    return report_done(&ask);
}

/* For each n, the points that the n-th runs of all sweeps added. */
static enum sim_store_err
read_all(struct sim_store *store, const struct report_sweeps *list, struct report_growth *all)
{
    struct sim_page sweeps;
    sim_page_init(&sweeps, false);
    report_sweeps_json(list, &sweeps);
    struct report_ask ask = report_ask(store,
            "SELECT number + 1, sum(fresh) FROM runs WHERE fresh > 0"
            " AND sweep IN (SELECT value FROM json_each(?)) GROUP BY number ORDER BY number");
    report_put_text(&ask, sim_page_text(&sweeps));
    while (report_row(&ask)) {
        all->last_new = report_int(&ask, 0);
        add(all, report_int(&ask, 0), last_y(all) + report_int(&ask, 1));
    }
    enum sim_store_err err = report_done(&ask);
    sim_page_fini(&sweeps);
    return err;
}

/* The curve is flat up to the last run. */
static void
extend(struct report_growth *growth, int64_t runs)
{
    if (growth->count > 0 && growth->points[growth->count - 1].x < runs) {
        add(growth, runs, last_y(growth));
    }
}

enum sim_store_err
report_growths_read(struct sim_store *store, const struct report_sweeps *list,
        struct report_growths *ret_growths)
{
    int64_t most = 0;
    *ret_growths = (struct report_growths){
            .sweeps = sim_heap_new(list->count, sizeof(struct report_growth)),
            .count = list->count};
    enum sim_store_err err = read_steps(store, list, ret_growths);
    if (err == SIM_STORE_OK) {
        err = read_all(store, list, &ret_growths->all);
    }
    for (size_t i = 0; i < list->count; i++) {
        int64_t runs = list->sweeps[i].runs;
        most = runs > most ? runs : most;
        extend(&ret_growths->sweeps[i], runs);
    }
    extend(&ret_growths->all, most);
    return err;
}

void
report_growths_done(struct report_growths *growths)
{
    for (size_t i = 0; i < growths->count; i++) {
        free(growths->sweeps[i].points);
    }
    free(growths->sweeps);
    free(growths->all.points);
    *growths = (struct report_growths){.count = 0};
}

/*
 * model.c -- the data of the page of one failure, read from the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/page/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/base/ask.h"
#include "sim/base/heap.h"
#include "sim/explain/view/columns.h"

#define WIDTH_ALONE 1180u
#define WIDTH_BESIDE 690u

/* ---- From the sweep. ------------------------------------------------------------------------- */

static enum sim_store_err
load_sweep(struct sim_store *store, int64_t run, struct report_model *model)
{
    struct report_ask ask = report_ask(store,
            "SELECT coalesce(h.token, ''), s.strategy, coalesce(s.build, ''), s.started_ms"
            " FROM runs AS r JOIN sweeps AS s USING (sweep) LEFT JOIN shrunk AS h USING (run)"
            " WHERE r.run = ?");
    report_put_int(&ask, run);
    if (report_row(&ask)) {
        model->shrunk_token = sim_heap_text(report_text(&ask, 0));
        model->strategy = sim_heap_text(report_text(&ask, 1));
        model->build = sim_heap_text(report_text(&ask, 2));
        model->started_ms = report_int(&ask, 3);
    }
    return report_done(&ask);
}

static void
read_frame(struct report_ask *ask, struct sim_frame *frame)
{
    *frame = (struct sim_frame){
            .line = (uint32_t)report_int(ask, 2),
            .times = (uint32_t)report_int(ask, 3),
            .offset = (uint64_t)report_int(ask, 5),
    };
    (void)snprintf(frame->function, sizeof(frame->function), "%s", report_text(ask, 0));
    (void)snprintf(frame->file, sizeof(frame->file), "%s", report_text(ask, 1));
    (void)snprintf(frame->module, sizeof(frame->module), "%s", report_text(ask, 4));
}

/* The table is missing in the database of an older rewake. */
static enum sim_store_err
load_frames(struct sim_store *store, int64_t run, struct sim_frames *frames)
{
    if (!report_has_table(store, "stacks")) {
        return SIM_STORE_OK;
    }
    struct report_ask ask = report_ask(store,
            "SELECT function, file, line, times, module, module_offset FROM stacks"
            " WHERE run = ? ORDER BY n");
    report_put_int(&ask, run);
    while (frames->count < SIM_FRAMES_MAX && report_row(&ask)) {
        read_frame(&ask, &frames->all[frames->count++]);
    }
    return report_done(&ask);
}

/* ---- The run that is shown, and the passing one. --------------------------------------------- */

const struct report_run *
report_model_shown(const struct report_model *model)
{
    return model->shown_run.number != 0 ? &model->shown_run : &model->found;
}

static void
collect_causes(struct report_model *model)
{
    for (uint32_t i = 0; i < model->explanation.locations_count; i++) {
        const struct report_location *location = &model->explanation.locations[i];
        bool cause = strcmp(location->role, "cause") == 0 && location->nth == 0;
        if (cause && location->step != 0 && model->causes_count < REPORT_CAUSES_MAX) {
            model->causes[model->causes_count++] = location->step;
        }
    }
}

/* UNKNOWN is no error: part of an explanation may be missing. */
static enum sim_store_err
load_shown(struct sim_store *store, const struct report_places *places, int64_t run,
        struct report_model *model)
{
    enum sim_store_err err = report_explained_load(store, run, &model->explanation);
    if (err == SIM_STORE_OK) {
        err = report_run_load(store, model->explanation.shown, places, &model->shown_run);
    }
    if (err == SIM_STORE_OK) {
        collect_causes(model);
    }
    if (err == SIM_STORE_OK && model->explanation.passing != 0) {
        err = report_run_load(store, model->explanation.passing, places, &model->passing);
    }
    return err == SIM_STORE_UNKNOWN ? SIM_STORE_OK : err;
}

/* ---- Both pictures; the passing run has the lanes of the failing one. ------------------------ */

static void
lay_out(struct report_model *model)
{
    bool beside = model->passing.number != 0;
    struct report_lanes_plan plan = {
            .run = report_model_shown(model),
            .beside = beside ? &model->passing : NULL,
            .diverge = beside ? model->explanation.shown_parts_step : 0,
            .decided = beside ? model->explanation.decided_step : 0,
            .decision = beside ? model->explanation.decided_shown : NULL,
            .causes = model->causes,
            .causes_count = model->causes_count,
            .rows_max = SIM_ROWS_DEFAULT,
            .width = beside ? WIDTH_BESIDE : WIDTH_ALONE,
    };
    if (report_lanes_make(&model->lanes, &plan) != RT_OK) {
        report_lanes_free(&model->lanes);
        return;
    }
    if (beside) {
        plan.run = &model->passing;
        plan.beside = report_model_shown(model);
        plan.diverge = model->explanation.passing_parts_step;
        plan.decision = model->explanation.decided_passing;
        plan.causes_count = 0;
        plan.second = true;
        if (report_lanes_make(&model->passing_lanes, &plan) != RT_OK) {
            report_lanes_free(&model->passing_lanes);
        }
        report_lanes_align(&model->lanes, &model->passing_lanes);
    }
}

enum sim_store_err
report_model_load(struct sim_store *store, const struct report_places *places, int64_t run,
        struct report_model *ret_model)
{
    *ret_model = (struct report_model){.db = NULL};
    enum sim_store_err err = report_run_load(store, run, places, &ret_model->found);
    if (err == SIM_STORE_OK) {
        err = load_sweep(store, run, ret_model);
    }
    if (err == SIM_STORE_OK) {
        err = load_frames(store, run, &ret_model->frames);
    }
    if (err == SIM_STORE_OK) {
        err = load_shown(store, places, run, ret_model);
    }
    if (err == SIM_STORE_OK) {
        lay_out(ret_model);
    }
    return err;
}

void
report_model_free(struct report_model *model)
{
    report_lanes_free(&model->lanes);
    report_lanes_free(&model->passing_lanes);
    report_run_free(&model->found);
    report_run_free(&model->shown_run);
    report_run_free(&model->passing);
    report_explained_free(&model->explanation);
    free(model->shrunk_token);
    free(model->strategy);
    free(model->build);
}

/*
 * story.c -- all that a page tells of one failure, read from the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/page/story.h"

#include <sqlite3.h>
#include <stdio.h>

#include "reports/base/ask.h"
#include "reports/base/grow.h"
#include "reports/model/failures.h"
#include "sim/explain/view/columns.h"

#define WIDTH_ALONE 1180u
#define WIDTH_BESIDE 690u

/* ---- What the sweep knows. ------------------------------------------------------------------- */

static enum sim_store_err
load_sweep(struct sim_store *store, int64_t run, struct report_story *story)
{
    struct report_ask ask = report_ask(store,
            "SELECT coalesce(h.token, ''), s.strategy, coalesce(s.build, ''), s.started_ms"
            " FROM runs AS r JOIN sweeps AS s USING (sweep) LEFT JOIN shrunk AS h USING (run)"
            " WHERE r.run = ?");
    report_put_int(&ask, run);
    if (report_row(&ask)) {
        story->shrunk_token = strdup(report_text(&ask, 0));
        story->strategy = strdup(report_text(&ask, 1));
        story->build = strdup(report_text(&ask, 2));
        story->started_ms = report_int(&ask, 3);
    }
    enum sim_store_err err = report_done(&ask);
    bool room = story->shrunk_token != NULL && story->strategy != NULL && story->build != NULL;
    return err == SIM_STORE_OK && !room ? sim_store_refused(store, SQLITE_NOMEM) : err;
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

/* A database of an older rewake has none. */
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

/* ---- What is told. --------------------------------------------------------------------------- */

const struct report_run *
report_story_told(const struct report_story *story)
{
    return story->told_run.number != 0 ? &story->told_run : &story->found;
}

static void
collect_blamed(struct report_story *story)
{
    for (uint32_t i = 0; i < story->explanation.locations_count; i++) {
        const struct report_location *location = &story->explanation.locations[i];
        bool cause = strcmp(location->role, "cause") == 0 && location->nth == 0;
        if (cause && location->step != 0 && story->blamed_count < REPORT_BLAMED_MAX) {
            story->blamed[story->blamed_count++] = location->step;
        }
    }
}

/* UNKNOWN is fine: a database may have lost part of an explanation. */
static enum sim_store_err
load_told(struct sim_store *store, const struct report_places *places, int64_t run,
        struct report_story *story)
{
    enum sim_store_err err = report_explained_load(store, run, &story->explanation);
    if (err == SIM_STORE_OK) {
        err = report_run_load(store, story->explanation.told, places, &story->told_run);
    }
    if (err == SIM_STORE_OK) {
        collect_blamed(story);
    }
    if (err == SIM_STORE_OK && story->explanation.twin != 0) {
        err = report_run_load(store, story->explanation.twin, places, &story->twin);
    }
    return err == SIM_STORE_UNKNOWN ? SIM_STORE_OK : err;
}

/* ---- Both pictures: the lanes of the twin stand as those of the run. ------------------------- */

static void
lay_out(struct report_story *story)
{
    bool beside = story->twin.number != 0;
    struct report_lanes_plan plan = {
            .run = report_story_told(story),
            .beside = beside ? &story->twin : NULL,
            .parts = beside ? story->explanation.told_parts : 0,
            .decided = beside ? story->explanation.decided_step : 0,
            .decision = beside ? story->explanation.decided_told : NULL,
            .blamed = story->blamed,
            .blamed_count = story->blamed_count,
            .rows_max = SIM_ROWS_DEFAULT,
            .width = beside ? WIDTH_BESIDE : WIDTH_ALONE,
    };
    if (report_lanes_make(&story->lanes, &plan) != RT_OK) {
        report_lanes_free(&story->lanes);
        return;
    }
    if (beside) {
        plan.run = &story->twin;
        plan.beside = report_story_told(story);
        plan.parts = story->explanation.twin_parts;
        plan.decision = story->explanation.decided_twin;
        plan.blamed_count = 0;
        plan.second = true;
        if (report_lanes_make(&story->twin_lanes, &plan) != RT_OK) {
            report_lanes_free(&story->twin_lanes);
        }
    }
}

enum sim_store_err
report_story_load(struct sim_store *store, const struct report_places *places, int64_t run,
        struct report_story *ret_story)
{
    *ret_story = (struct report_story){.db = NULL};
    enum sim_store_err err = report_run_load(store, run, places, &ret_story->found);
    if (err == SIM_STORE_OK) {
        err = load_sweep(store, run, ret_story);
    }
    if (err == SIM_STORE_OK) {
        err = load_frames(store, run, &ret_story->frames);
    }
    if (err == SIM_STORE_OK) {
        err = load_told(store, places, run, ret_story);
    }
    if (err == SIM_STORE_OK) {
        lay_out(ret_story);
    }
    return err;
}

void
report_story_free(struct report_story *story)
{
    report_lanes_free(&story->lanes);
    report_lanes_free(&story->twin_lanes);
    report_run_free(&story->found);
    report_run_free(&story->told_run);
    report_run_free(&story->twin);
    report_explained_free(&story->explanation);
    free(story->shrunk_token);
    free(story->strategy);
    free(story->build);
}

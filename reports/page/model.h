/*
 * model.h -- the data of the page of one failure, read from the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "reports/base/html.h"
#include "reports/model/explained.h"
#include "reports/page/lanes.h"
#include "sim/core/code/frames.h"

#define REPORT_CAUSES_MAX 24u

struct report_model {
    struct report_run found;             /* As the sweep found it. */
    struct report_explained explanation; /* run 0: there is none. */
    struct report_run shown_run;         /* The smaller run that the explanation shows … */
    struct report_run passing;           /* … and the nearest passing one; number 0: none. */
    struct report_lanes lanes;           /* lanes_count 0: nothing to draw. */
    struct report_lanes passing_lanes;
    uint64_t causes[REPORT_CAUSES_MAX]; /* Steps that the explanation names. */
    uint32_t causes_count;
    struct sim_frames frames; /* Where it failed; none: not known, or no line of the program. */
    char *shrunk_token;       /* "": none. */
    char *strategy;
    char *build;
    int64_t started_ms;
    const char *db; /* For --db in commands; NULL: the usual one. */
};

/* Reads it; UNKNOWN: there is no such run. report_model_free must follow in any case. */
RT_MUST_CHECK enum sim_store_err report_model_load(struct sim_store *store,
        const struct report_places *places, int64_t run, struct report_model *ret_model);
void report_model_free(struct report_model *model);

/* The run that is shown: the smaller one, else the one that was found. */
const struct report_run *report_model_shown(const struct report_model *model);

/* ---- prose.c: steps that are on the page, and sentences with links to them. ------------------ */

/* Steps that the table of steps has. */
#define REPORT_STEPS_MAX 2000u

/* True when the run's steps[index] has a row in the table of steps. */
bool report_has_row(const struct report_run *run, uint32_t index);

/* True when #step-N of the run that is shown is on the page. */
bool report_has_step(const struct report_model *model, uint64_t step);

/* Adds `text` with its lines as paragraphs of class `style` (NULL: none), names as code, steps and
 * lines of source as links. */
void report_put_prose(struct report_html *html, const struct report_model *model, const char *style,
        const struct report_text *text);

/* Adds a link to a step of the run that is shown, or its number where it is not on the page. */
void report_put_step(struct report_html *html, const struct report_model *model, uint64_t step);

/* ---- tables.c: waiting tasks, the wake ledger, all steps. ------------------------------------ */

/* Adds a cell with a line, empty for NULL. */
void report_put_place(struct report_html *html, const struct report_place *place);

void report_put_waiting(struct report_html *html, const struct report_model *model);
void report_put_ledger(struct report_html *html, const struct report_model *model);
void report_put_steps(struct report_html *html, const struct report_model *model);

/* ---- sources.c: a few lines around each location, and the line of each step. ----------------- */

/* The excerpt with that line is #source-N of the page; 0: there is none. */
uint32_t report_source_of(const struct report_model *model, const char *file, uint32_t line);

void report_put_sources(struct report_html *html, const struct report_model *model);
void report_put_lines(struct report_html *html, const struct report_model *model);

/*
 * story.h -- all that a page tells of one failure, read from the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_PAGE_STORY_H
#define REPORTS_PAGE_STORY_H

#include "reports/base/html.h"
#include "reports/model/explained.h"
#include "reports/page/lanes.h"
#include "sim/core/frames.h"

#define REPORT_BLAMED_MAX 24u

struct report_story {
    struct report_run found;             /* As the sweep has found it. */
    struct report_explained explanation; /* run 0: nobody has explained it. */
    struct report_run told_run;          /* Where it is explained: what is told of it … */
    struct report_run twin;              /* … and the nearest that passes; number 0: none. */
    struct report_lanes lanes;           /* lanes_count 0: there is nothing to draw. */
    struct report_lanes twin_lanes;
    uint64_t blamed[REPORT_BLAMED_MAX]; /* Steps that the explanation names. */
    uint32_t blamed_count;
    struct sim_frames frames; /* Where it failed; none: not known, or no line of the reader's. */
    char *shrunk_token;       /* "": none. */
    char *strategy;
    char *build;
    int64_t started_ms;
    const char *db; /* As it is named in commands; NULL: it is not. */
};

/* Reads it; UNKNOWN: there is no such run. report_story_free must follow in any case. */
RT_MUST_CHECK enum sim_store_err report_story_load(struct sim_store *store,
        const struct report_places *places, int64_t run, struct report_story *ret_story);
void report_story_free(struct report_story *story);

/* The run that is told: the smaller one, else the one that was found. */
const struct report_run *report_story_told(const struct report_story *story);

/* ---- anchors.c: which steps a page has. ----------------------------------------------------- */

/* Steps that the table of steps has. */
#define REPORT_STEPS_MAX 2000u

/* True when the run's steps[index] has a row in the table of steps. */
bool report_has_row(const struct report_run *run, uint32_t index);

/* True when #step-N of the run that is told is on the page. */
bool report_has_step(const struct report_story *story, uint64_t step);

/* ---- prose.c: what the explanation says. ----------------------------------------------------- */

/* Adds `text` with its lines as paragraphs of class `style` (NULL: none), names as code, and steps
 * as links. */
void report_put_prose(struct report_html *html, const struct report_story *story, const char *style,
        const struct report_text *text);

/* Adds a link to a step of the run that is told, or its number where it is not on the page. */
void report_put_step(struct report_html *html, const struct report_story *story, uint64_t step);

/* ---- tables.c: who waits, every wait, every step. -------------------------------------------- */

void report_put_waiting(struct report_html *html, const struct report_story *story);
void report_put_ledger(struct report_html *html, const struct report_story *story);
void report_put_steps(struct report_html *html, const struct report_story *story);

/* ---- sources.c: a few lines around each place that matters. ---------------------------------- */

void report_put_sources(struct report_html *html, const struct report_story *story);

#endif

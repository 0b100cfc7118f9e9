/*
 * lanes.h -- a run as swim lanes: the layout.
 *
 *      step   client            server
 *       1     +------------+       :
 *      0ns    | poll       |       :
 *             | stores ... |       :
 *             +------------+       :
 *       2           <===== +---------------+      the row of the wake
 *     100ns         |      | wakes client  |
 *                   |      +---------------+
 *
 * One row is one step, with one box, so an arrow to the woken task crosses only the lines of lanes.
 * Rows are those of sim/explain/view/rows: repeated ones are folded, and beyond a limit some are
 * left out, with a note.
 *
 * This is the layout; draw.c writes the picture. All sizes are pixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "reports/model/run.h"
#include "runtime/base/error.h"
#include "sim/explain/view/rows.h"

#define REPORT_FONT 12u
#define REPORT_LINE 15u  /* Height of a line of text. */
#define REPORT_PAD 5u    /* Of a box, around its text. */
#define REPORT_MARGIN 4u /* Between a box and the border of its lane. */
#define REPORT_GUTTER 66u
#define REPORT_LANES_MAX 12u
#define REPORT_LANE_NONE UINT32_MAX

/* The last two are bold. */
enum report_tone { REPORT_PLAIN, REPORT_DIM, REPORT_WAKE, REPORT_LOST, REPORT_DECIDED };

/* A line of text. */
struct report_line {
    char *text;
    char *whole;    /* Of a line that had to be cut: all of it; else NULL. */
    uint64_t event; /* The event whose text it begins; SIM_EVENT_NONE: it continues one. */
    uint32_t link;  /* A step that it leads to; 0: none. */
    uint8_t tone;   /* enum report_tone */
};

enum report_item_kind {
    REPORT_ITEM_BOX,     /* What one actor did in one step. */
    REPORT_ITEM_JUMP,    /* The clock moved while all actors waited. */
    REPORT_ITEM_FOLD,    /* Steps like those above. */
    REPORT_ITEM_GAP,     /* Steps that are left out. */
    REPORT_ITEM_LOST,    /* The missing wake. */
    REPORT_ITEM_DIVERGE, /* The deciding step, or the first step where the runs differ. */
    REPORT_ITEM_END
};

struct report_item {
    uint64_t time_ns;
    uint32_t step;  /* Of a box; of a fold or a gap the first that is in it. */
    uint32_t until; /* Of a fold or a gap: the last. */
    uint32_t lane;  /* Of a box. */
    uint32_t actor; /* Likewise. */
    uint32_t y;
    uint32_t height;
    uint32_t line; /* Its text begins at lines[line]. */
    uint32_t lines;
    uint8_t kind;
    bool first; /* The first box of its step, which has the number. */
    bool cause;
};

struct report_lane {
    const char *title; /* Borrowed. */
    const char *kind;
    uint32_t actor; /* REPORT_LANE_NONE: none of this run, or several. */
    uint32_t line;  /* The text at its foot. */
    uint32_t lines;
    bool shared;  /* The lane of several actors, as there are too many. */
    bool matched; /* The other run has an actor of this name as well. */
    bool lost;    /* The wake of its task is missing. */
};

struct report_lanes {
    const struct report_run *run;
    struct sim_rows rows;
    struct sim_plan plan;
    struct report_lane lanes[REPORT_LANES_MAX];
    uint32_t lanes_count;
    uint32_t *lane_of; /* By actor; REPORT_LANE_NONE: it has none. */
    struct report_item *items;
    struct report_line *lines;
    uint32_t items_count;
    uint32_t items_capacity;
    uint32_t lines_count;
    uint32_t lines_capacity;
    uint32_t lane_width;
    uint32_t head_height;
    uint32_t foot_y; /* Where the lanes end. */
    uint32_t width;
    uint32_t height;
    uint32_t waiter;            /* Actor whose wake is missing; REPORT_LANE_NONE: none is. */
    struct sim_missing missing; /* Where its wake is missing. */
    uint64_t diverge;           /* The first step that differs in the other run; 0: no other run. */
    uint64_t decided;           /* The deciding step; 0: before the first. */
    const char *decision;       /* The decision there; "": not known. */
    const uint64_t *causes;     /* Steps that an explanation names. */
    uint32_t causes_count;
};

/* What is to be shown. */
struct report_lanes_plan {
    const struct report_run *run;
    const struct report_run *beside; /* The other run, which gets the same lanes; NULL: none. */
    bool second;                     /* The lanes of the other run come first. */
    uint64_t diverge;
    uint64_t decided;
    const char *decision; /* NULL: as "". */
    const uint64_t *causes;
    uint32_t causes_count;
    uint32_t rows_max;
    uint32_t width; /* To fill. */
};

/* Lays the run out. RT_E_FULL: no memory, or the run has no steps on record. report_lanes_free may
 * follow in any case. */
RT_MUST_CHECK rt_err report_lanes_make(
        struct report_lanes *lanes, const struct report_lanes_plan *plan);
void report_lanes_free(struct report_lanes *lanes);

/* Moves rows down until those that both runs have before they diverge, and the lines where they
 * do, are side by side. */
void report_lanes_align(struct report_lanes *lanes, struct report_lanes *beside);

/* The anchor of `step`: the step, or the fold that has it; 0: it is not in the picture. */
uint32_t report_lanes_anchor(const struct report_lanes *lanes, uint64_t step);

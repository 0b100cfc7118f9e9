/*
 * lanes.h -- a run as swim lanes: where each thing stands.
 *
 *      step   client            server
 *       1     +------------+       :
 *      0ns    | poll       |       :
 *             | stores ... |       :
 *             +------------+       :
 *       2           <===== +---------------+      the row of the wake
 *     100ns         |      | fires it      |
 *                   |      +---------------+
 *
 * One row is one turn, so that there is one box in it, and an arrow to whoever is woken crosses
 * nothing but the lines of lanes. Rows are those of sim/explain/view/rows: what repeats is folded,
 * and where there are too many some are left out, and it is said.
 *
 * Here it is decided what is shown, and where; draw.c writes it down. All sizes are pixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_PAGE_LANES_H
#define REPORTS_PAGE_LANES_H

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
    uint64_t event; /* Whose words it begins; SIM_EVENT_NONE: it goes on with them. */
    uint32_t link;  /* A step that it leads to; 0: none. */
    uint8_t tone;   /* enum report_tone */
};

enum report_item_kind {
    REPORT_ITEM_BOX,  /* What somebody did in one turn. */
    REPORT_ITEM_JUMP, /* The clock moved while everybody waited. */
    REPORT_ITEM_FOLD, /* Steps like those above. */
    REPORT_ITEM_GAP,  /* Steps that are left out. */
    REPORT_ITEM_LOST, /* The wake that did not come. */
    REPORT_ITEM_PART, /* Here it is decided, or from here on the other run is another one. */
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
    uint32_t line; /* Its text: lines[line] and on. */
    uint32_t lines;
    uint8_t kind;
    bool first; /* Of its step: it bears its number. */
    bool cause;
};

struct report_lane {
    const char *title; /* Borrowed. */
    const char *kind;
    uint32_t actor; /* REPORT_LANE_NONE: nobody of this run, or several. */
    uint32_t line;  /* What stands at its foot. */
    uint32_t lines;
    bool shared;  /* Several stand here, because there are too many. */
    bool matched; /* The other run has somebody of this name, too. */
    bool lost;    /* Whose wake is missing. */
};

struct report_lanes {
    const struct report_run *run;
    struct sim_rows rows;
    struct sim_plan plan;
    struct report_lane lanes[REPORT_LANES_MAX];
    uint32_t lanes_count;
    uint32_t *lane_of; /* By actor; REPORT_LANE_NONE: nobody to be seen. */
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
    uint64_t parts;         /* Before this step the other run is the same; 0: there is no other. */
    uint64_t decided;       /* In this step it is decided; 0: before the first. */
    const char *decision;   /* What is decided; "": it is not known. */
    const uint64_t *causes; /* Steps that an explanation names. */
    uint32_t causes_count;
    struct report_item nowhere; /* Written to when there is no memory. */
    bool failed;
};

/* What is to be shown. */
struct report_lanes_plan {
    const struct report_run *run;
    const struct report_run *beside; /* The other run, which gets the same lanes; NULL: none. */
    bool second;                     /* The other one stands in front. */
    uint64_t parts;
    uint64_t decided;
    const char *decision; /* NULL: as "". */
    const uint64_t *causes;
    uint32_t causes_count;
    uint32_t rows_max;
    uint32_t width; /* That is to be filled. */
};

/* Lays the run out. RT_E_FULL: no memory, or the run has no steps on record. report_lanes_free may
 * follow in any case. */
RT_MUST_CHECK rt_err report_lanes_make(
        struct report_lanes *lanes, const struct report_lanes_plan *plan);
void report_lanes_free(struct report_lanes *lanes);

/* The anchor of `step`: itself, or what it is folded into; 0: it is nowhere. */
uint32_t report_lanes_anchor(const struct report_lanes *lanes, uint64_t step);

#endif

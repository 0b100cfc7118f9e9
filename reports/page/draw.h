/*
 * draw.h -- lanes as a picture: one <svg>, with its own style.
 *
 * It needs nothing around it: taken out of the page it is a picture that follows the reader's light
 * or dark scheme.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_PAGE_DRAW_H
#define REPORTS_PAGE_DRAW_H

#include "reports/base/html.h"
#include "reports/page/lanes.h"

/*
 * Adds the picture. `prefix` begins the anchors of its steps: "step-" gives #step-12. `id` is its
 * own; `title` says in a sentence what is to be seen.
 */
void report_draw(struct report_html *html, const struct report_lanes *lanes, const char *id,
        const char *prefix, const char *title);

/* How narrow it may be drawn, in pixels, before a reader has to scroll. */
/* Whether it is higher than a sheet of paper; and then, for paper, the same in slices that end
 * between two rows, each with the names of the lanes. They use what report_draw has put. */
#define REPORT_PAPER 700u /* Width of a sheet, less its margins. */
#define REPORT_SLICE 960u /* And its height, less a caption. */
bool report_draw_sliced(const struct report_lanes *lanes);
void report_draw_slices(struct report_html *html, const struct report_lanes *lanes, const char *id);

uint32_t report_draw_width(const struct report_lanes *lanes);

/* Adds what the signs mean. */
void report_draw_legend(struct report_html *html);

#endif

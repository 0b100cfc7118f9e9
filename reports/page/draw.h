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
uint32_t report_draw_width(const struct report_lanes *lanes);

/* Adds what the signs mean. */
void report_draw_legend(struct report_html *html);

#endif

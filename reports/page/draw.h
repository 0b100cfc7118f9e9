/*
 * draw.h -- lanes as a picture: one <svg>, with its own style.
 *
 * It also works outside of the page, and follows the reader's light or dark scheme.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "reports/base/html.h"
#include "reports/page/lanes.h"

/*
 * Adds the picture. `prefix` begins the anchors of its steps: "step-" gives #step-12. `id` is that
 * of the picture; `title` describes it in a sentence.
 */
void report_draw(struct report_html *html, const struct report_lanes *lanes, const char *id,
        const char *prefix, const char *title);

/* The smallest width in pixels at which its text is readable. */
uint32_t report_draw_width(const struct report_lanes *lanes);

/* Adds the legend. */
void report_draw_legend(struct report_html *html);

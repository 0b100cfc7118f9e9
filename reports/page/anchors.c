/*
 * anchors.c -- which steps a page has, in the picture and in the table of steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/page/model.h"

/* The table of a long run has its first and its last steps. */
bool
report_has_row(const struct report_run *run, uint32_t index)
{
    return run->steps_count <= REPORT_STEPS_MAX || index < REPORT_STEPS_MAX / 2 ||
           index >= run->steps_count - REPORT_STEPS_MAX / 2;
}

bool
report_has_step(const struct report_model *model, uint64_t step)
{
    const struct report_run *run = report_model_shown(model);
    const struct report_step *found = step != 0 ? report_run_step(run, step) : NULL;
    return found != NULL && (report_lanes_anchor(&model->lanes, step) == step ||
                                    report_has_row(run, (uint32_t)(found - run->steps)));
}

/*
 * report.h -- an explanation as text: the answer in a paragraph, then what it rests on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_EXPLAIN_REPORT_H
#define SIM_EXPLAIN_REPORT_H

#include "sim/explain/explain.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds the report, at most 100 columns wide. RT_E_FULL: no memory. */
RT_MUST_CHECK rt_err sim_report_put(
        struct sim_page *page, const struct sim_explanation *explanation);

/* Adds the sentence about the cause, without what it rests on. */
void sim_report_put_cause(struct sim_page *page, const struct sim_explanation *explanation);

/* Its other parts, each one line however long; the last two add nothing where there is nothing to
 * say. What decides; which order decides; how much of the failure as it came is needed. */
void sim_report_put_decision(struct sim_page *page, const struct sim_explanation *explanation);
void sim_report_put_order(struct sim_page *page, const struct sim_explanation *explanation);
void sim_report_put_needed(struct sim_page *page, const struct sim_explanation *explanation);

#ifdef __cplusplus
}
#endif
#endif

/*
 * report_priv.h -- what the files of the report share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_EXPLAIN_REPORT_PRIV_H
#define SIM_EXPLAIN_REPORT_PRIV_H

#include "sim/explain/report.h"

/* Adds what is known of the cause. */
void sim__find_cause(const struct sim_explanation *explanation, struct sim_findings *findings);

#endif

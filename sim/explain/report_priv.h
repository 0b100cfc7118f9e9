/*
 * report_priv.h -- what the files of the report share.
 *
 *      report          all of it, in its order
 *      report_cause    the cause
 *      report_loop     … of a loop, a thread, or whoever nobody wakes however it is asked
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_EXPLAIN_REPORT_PRIV_H
#define SIM_EXPLAIN_REPORT_PRIV_H

#include "sim/explain/report.h"

/* ---- report_cause.c -------------------------------------------------------------------------- */

uint32_t sim__waiter(const struct sim_explanation *explanation);
bool sim__say_names(struct sim_page *page, const struct sim_cause *cause, uint32_t from,
        uint32_t to, bool trail, const char *before);
void sim__say_place(
        struct sim_page *page, const struct sim_cause *cause, uint32_t from, uint32_t to);
void sim__say_at(struct sim_page *page, const struct sim_cause *cause);
void sim__say_when(
        struct sim_page *page, const struct sim_explanation *explanation, const char *before);

/* ---- report_loop.c --------------------------------------------------------------------------- */

void sim__say_unregistered(struct sim_page *page, const struct sim_explanation *explanation);
void sim__say_not_rearmed(struct sim_page *page, const struct sim_explanation *explanation);
void sim__say_left(struct sim_page *page, const struct sim_explanation *explanation);
void sim__say_attempted(struct sim_page *page, const struct sim_explanation *explanation);
void sim__say_not_notified(struct sim_page *page, const struct sim_explanation *explanation);
void sim__say_falls_asleep(struct sim_page *page, const struct sim_explanation *explanation);
void sim__say_met_nobody(struct sim_page *page, const struct sim_explanation *explanation);
void sim__say_blocked_on(struct sim_page *page, const struct sim_explanation *explanation);
void sim__say_turned_away(struct sim_page *page, const struct sim_explanation *explanation);
void sim__say_elsewhere(struct sim_page *page, const struct sim_explanation *explanation);
void sim__say_untaken(struct sim_page *page, const struct sim_explanation *explanation);

#endif

/*
 * report.h -- an explanation as findings and as text: the answer in a paragraph, then what it rests
 * on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/base/json.h"
#include "sim/explain/explain.h"
#include "sim/explain/finding.h"
#include "sim/explain/view/describe.h"

enum sim_report_section {
    SIM_REPORT_CAUSE,
    SIM_REPORT_DECISION, /* What decides. */
    SIM_REPORT_ORDER,    /* Which order decides; may be empty. */
    SIM_REPORT_NEEDED,   /* How much of the failure is needed; may be empty. */
    SIM_REPORT_SECTIONS
};

/* What the answer is followed by. */
enum sim_report_evidence {
    SIM_REPORT_COLUMNS, /* The failing run. */
    SIM_REPORT_BESIDE   /* The nearest that passes beside it, where there is one. */
};

/*
 * Adds the report, as wide as the page: what is blocked, why, the order that decides, the lines of
 * source that were named, which decision it depends on; then the evidence, and where threads are.
 */
void sim_report_put(struct sim_page *page, const struct sim_explanation *explanation,
        enum sim_report_evidence evidence);

/* Adds one section, in one line. */
void sim_report_put_section(struct sim_page *page, const struct sim_explanation *explanation,
        enum sim_report_section section);

/* Adds the deciding choice as it is in this run, or (`passing`) in the nearest that passes; nothing
 * for a number that the run beside does not draw. */
void sim_report_put_choice(
        struct sim_page *page, const struct sim_explanation *explanation, bool passing);

/* The actor whose wait is explained, a part of the failing run; SIM_PART_NONE: none is known. */
uint32_t sim_report_explained(const struct sim_explanation *explanation);

/* The explained run; borrows of `explanation`. */
struct sim_run_view sim_report_view(const struct sim_explanation *explanation);

/* What is known of the cause (report_cause.c). */
void sim__find_cause(const struct sim_explanation *explanation, struct sim_findings *findings);

/* … where it is what became of a wake (report_fate.c). */
void sim__find_fate(const struct sim_explanation *explanation, struct sim_findings *findings);
void sim__find_unnotified(const struct sim_explanation *explanation, struct sim_findings *findings);
/* What a condition was decided on; ends the sentence. */
void sim__find_operand(const struct sim_guard *guard, struct sim_findings *findings);
void sim__find_guard(const struct sim_guard *guard, struct sim_findings *findings);
void sim__find_meanwhile(const struct sim_explanation *explanation, struct sim_findings *findings);
void sim__find_unusual(const struct sim_unusual *unusual, struct sim_findings *findings);
void sim__find_waiting(const struct sim_cause *cause, struct sim_findings *findings);
void sim__find_failed(const struct sim_failed_value *failed, struct sim_findings *findings);
void sim__find_unanswered(const struct sim_explanation *explanation, struct sim_findings *findings);

/* Adds the findings of all sections, as an array "findings". */
void sim_report_json(struct sim_json *json, const struct sim_explanation *explanation);

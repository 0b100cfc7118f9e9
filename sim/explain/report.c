/*
 * report.c -- the answer first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/report.h"

#include <string.h>

#include "sim/explain/sides.h"
#include "sim/explain/view/columns.h"
#include "sim/explain/view/phrase.h"
#include "sim/explain/view/tell.h"
#include "sim/explain/words.h"

#define ROWS 12u

struct report {
    struct sim_page *page;
    struct sim_page line;
    const struct sim_explanation *explanation;
};

static void
end_paragraph(struct report *report, uint32_t indent)
{
    sim_page_paragraph(report->page, &report->line, indent);
    sim_page_clear(&report->line);
}

/* ---- The decision. --------------------------------------------------------------------------- */

static void
put_tally(struct sim_page *page, const struct sim_tally *tally, const char *verb, bool fails)
{
    uint32_t count = fails ? tally->failed : tally->runs - tally->failed;
    sim_page_printf(page, "%s in %u of %u", verb, count, tally->runs);
    if (fails && tally->otherwise > 0) {
        sim_page_printf(page, " (%u of them with another verdict)", tally->otherwise);
    }
}

/* All runs below fail, and all beside pass. */
static bool
decides_alone(const struct sim_decision *decision)
{
    return decision->below.failed == decision->below.runs && decision->beside.failed == 0;
}

/* Only what was tried: that no run passes is more than a search can know. */
static void
put_not_found(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_decision *decision = &explanation->decision;
    if (explanation->given.verdict == SIM_VERDICT_HANG) {
        sim_page_put(page, "Whether another decision avoids it was not tried: each run of a hang "
                           "takes its full time limit.");
        return;
    }
    sim_page_put(page, "What decides is not known: no run that passes was found");
    if (decision->failing.count > 0) {
        sim_page_put(page, " by undoing one or two of its decisions");
    }
    if (decision->seeds_tried > 0) {
        sim_page_printf(page, "%s among %u random run%s with its options",
                decision->failing.count > 0 ? ", nor" : "", decision->seeds_tried,
                decision->seeds_tried == 1 ? "" : "s");
    }
    sim_page_put(page, ".");
}

void
sim_report_put_decision(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_decision *decision = &explanation->decision;
    const struct sim_actor_table *actor_table =
            decision->added ? &explanation->passing_actor_table : &explanation->actor_table;
    if (!decision->found) {
        put_not_found(page, explanation);
        return;
    }
    if (decision->added) {
        sim_page_put(page, "It fails on the baseline run already. It passes when ");
    } else {
        sim_page_put(page, "What decides: ");
    }
    if (explanation->number.found) {
        sim_deciding_number_put(
                actor_table, page, &explanation->number, decision->deciding.ordinal);
    } else {
        sim_words_put_decision(actor_table, page, &decision->deciding);
    }
    const struct sim_deciding_number *number = &explanation->number;
    if (number->found && (number->both || decision->added)) {
        sim_page_put(page, decision->added ? "" : "; it passes ");
        if (number->both) {
            sim_page_printf(page, decision->added ? "; here it is %llu" : "with %llu",
                    (unsigned long long)number->beside.value);
        }
    } else if (!decision->added) {
        sim_page_put(page, "; it passes when ");
        sim_words_put_plain(actor_table, page, &decision->deciding);
    }
    if (decision->below.runs == 0 || decision->beside.runs == 0) {
        sim_page_put(page, ".");
        return;
    }
    sim_page_put(page, ". With everything after that drawn at random, ");
    put_tally(page, &decision->below, "the former fails", true);
    put_tally(page, &decision->beside, " runs, the latter passes", false);
    sim_page_put(page, decides_alone(decision)
                               ? "."
                               : ": it does not decide alone, what comes after it matters too.");
}

static void
put_incomplete(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_budget *budget = &explanation->budget;
    if (budget->cut_count == 0) {
        return;
    }
    sim_page_put(page, "This is incomplete: ");
    if (budget->by_clock) {
        sim_page_printf(page, "%llu ms of real time were", (unsigned long long)budget->time_ms);
    } else {
        sim_page_printf(page, "the budget of %llu replayed steps was",
                (unsigned long long)budget->steps_max);
    }
    sim_page_put(page, " used up while ");
    for (uint32_t i = 0; i < budget->cut_count; i++) {
        const char *joint = i == 0 ? "" : i + 1 < budget->cut_count ? ", " : " and ";
        sim_page_printf(page, "%s%s", joint, budget->cuts[i]);
    }
    sim_page_printf(page, "; --time %llus asks for more. ",
            (unsigned long long)(budget->time_ms + 999) / 1000 * 6);
}

void
sim_report_put_needed(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_decision *decision = &explanation->decision;
    put_incomplete(page, explanation);
    if (decision->given != decision->failing.count) {
        sim_page_printf(page,
                "Of the %u decisions in which the failure differs from the baseline run it needs "
                "%u; "
                "the run below has no others.",
                decision->given, decision->failing.count);
    }
}

/* "What comes too early: `writer` fires "a hello" in … before `greeter` …" */
static void
put_event(struct sim_page *line, const struct sim_explanation *explanation, uint64_t event,
        const struct sim_location *location)
{
    struct sim_page words;
    sim_page_init(&words, false);
    sim_words_put_who(&explanation->actor_table, line, location->part);
    if (sim_phrase_put(&explanation->actor_table, &words, event)) {
        sim_page_put(line, " ");
        sim_page_join(line, &words);
    }
    sim_page_fini(&words);
    sim_page_put(line, " ");
    sim_words_put_place(line, &location->place);
}

/* What that claim rests on. */
static void
put_swapped(struct sim_page *page, const struct sim_swap *order)
{
    switch (order->swapped) {
    case SIM_SWAPPED_PASSES:
        sim_page_put(page, " With these two exchanged and nothing else, it passes.");
        return;
    case SIM_SWAPPED_FAILS:
        sim_page_printf(page,
                " That alone does not decide: with these two exchanged and nothing else, it ends "
                "in %s.",
                sim_verdict_name(order->verdict));
        return;
    case SIM_SWAPPED_NEVER:
        sim_page_put(page, " These two cannot be exchanged alone: the second needs the first in "
                           "other ways too.");
        return;
    case SIM_SWAPPED_NOT_TRIED:
        sim_page_put(page, " Whether that alone decides was not tried.");
        return;
    }
}

void
sim_report_put_order(struct sim_page *line, const struct sim_explanation *explanation)
{
    const struct sim_swap *order = &explanation->order;
    /* That something stood in another order adds nothing to a wake that is known to be missing,
     * where it is not what decides. */
    bool adds =
            order->swapped == SIM_SWAPPED_PASSES || explanation->cause.kind == SIM_CAUSE_NOT_A_WAKE;
    if (!order->found || order->writes || !adds) {
        return;
    }
    sim_page_put(line, order->swapped == SIM_SWAPPED_PASSES ? "The order that decides: "
                                                            : "The order that differs: ");
    if (order->events) {
        put_event(line, explanation, order->first_event, &order->first);
        sim_page_put(line, " before ");
        put_event(line, explanation, order->second_event, &order->second);
    } else {
        sim_page_put(line, "here the run first reaches the line ");
        sim_words_put_place(line, &order->first.place);
        sim_page_put(line, " and then that ");
        sim_words_put_place(line, &order->second.place);
    }
    sim_page_put(line, "; in the run that passes it is the other way round.");
    put_swapped(line, order);
}

/* ---- The report. ----------------------------------------------------------------------------- */

/* The answer, as a sentence that begins a paragraph. */
static void
put_cause(struct sim_page *page, const struct sim_explanation *explanation)
{
    size_t from = page->length;
    sim_report_put_cause(page, explanation);
    if (page->length > from && page->bytes[from] >= 'a' && page->bytes[from] <= 'z') {
        page->bytes[from] = (char)(page->bytes[from] - 'a' + 'A');
    }
}

static void
put_answer(struct report *report)
{
    const struct sim_explanation *explanation = report->explanation;
    put_cause(&report->line, explanation);
    sim_page_put(&report->line, " ");
    sim_report_put_decision(&report->line, explanation);
    end_paragraph(report, 0);
}

rt_err
sim_report_put(struct sim_page *page, const struct sim_explanation *explanation)
{
    struct report report = {.page = page, .explanation = explanation};
    const struct sim_tale tale = {
            .recorder = sim_single_recorder(&explanation->failing),
            .outcome = sim_explanation_outcome(explanation),
            .went_on = explanation->cause.by_counterfactual != SIM_COUNTERFACTUAL_NONE,
            .rows_max = SIM_ROWS_DEFAULT,
    };
    sim_page_init(&report.line, false);
    rt_err err = sim_tell_headline(page, &tale);
    sim_page_put(page, "\n");
    put_answer(&report);
    sim_page_put(page, "\n");
    sim_report_put_order(&report.line, explanation);
    if (report.line.length > 0) {
        end_paragraph(&report, 0);
        sim_page_put(page, "\n");
    }
    sim_report_put_needed(&report.line, explanation);
    if (report.line.length > 0) {
        end_paragraph(&report, 0);
    }
    if (explanation->compared) {
        sim_sides_put(page, &explanation->actor_table, "this run fails",
                &explanation->passing_actor_table, "the nearest that passes", ROWS);
        sim_page_put(page, "\n");
    }
    if (err == RT_OK) {
        err = sim_tell_why(page, &tale);
    }
    sim_page_fini(&report.line);
    return err;
}

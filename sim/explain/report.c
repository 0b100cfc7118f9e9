/*
 * report.c -- the answer first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/report.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/code/source.h"
#include "sim/core/decide/choice.h"
#include "sim/core/record/call_fault.h"
#include "sim/core/world.h"
#include "sim/explain/cause/reads.h"
#include "sim/explain/sides.h"
#include "sim/explain/view/columns.h"

#define ROWS 12u
#define SOURCE_MAX 160u  /* Bytes of a line of source. */
#define WHERE_COLUMNS 24 /* What "  lost.c:22  " usually takes. */

static struct sim_finding_context
names_of(const struct sim_explanation *explanation)
{
    return (struct sim_finding_context){
            .actor_table = &explanation->actor_table,
            .passing = explanation->compared ? &explanation->passing_actor_table : NULL,
            .ledger = &explanation->ledger,
            .horizon = explanation->wake_outcome.horizon,
    };
}

/* ---- A choice. ------------------------------------------------------------------------------- */

/* The run that has the deciding choice. */
static const struct sim_actor_table *
deciding_table(const struct sim_explanation *explanation)
{
    return explanation->decision.added ? &explanation->passing_actor_table
                                       : &explanation->actor_table;
}

/* The actor that makes the choices of `kind` on `stream`; SIM_PART_NONE: none on record. */
static uint32_t
actor_of_stream(const struct sim_actor_table *actor_table, uint32_t stream, uint32_t kind)
{
    const struct sim_actor world = {.id = 1};
    rt_assert(kind < SIM_KINDS);
    if (sim__stream_id(&world, (enum sim_kind)kind) == stream) {
        return 0;
    }
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        const struct sim_actor actor = {.id = (uint32_t)event->argument};
        if (event->kind == SIM_EVENT_ACTOR &&
                sim__stream_id(&actor, (enum sim_kind)kind) == stream) {
            return sim_actor_table_actor(actor_table, event->actor);
        }
    }
    return SIM_PART_NONE;
}

/* … also where the beginning of that run is not on record: then by its name in the other one. */
static uint32_t
deciding_actor(const struct sim_explanation *explanation, uint32_t stream, uint32_t kind)
{
    const struct sim_actor_table *actor_table = deciding_table(explanation);
    uint32_t part = actor_of_stream(actor_table, stream, kind);
    if (part == SIM_PART_NONE && explanation->compared) {
        const struct sim_actor_table *passing = &explanation->passing_actor_table;
        uint32_t there = actor_of_stream(passing, stream, kind);
        part = there != SIM_PART_NONE ? sim__part_like(actor_table, passing, there) : part;
    }
    return part;
}

/* What the deciding choice did: the event of `kind` that it made in a step of `actor`;
 * SIM_EVENT_NONE: none is known to be its. */
static uint64_t
event_of_choice(const struct sim_explanation *explanation, uint32_t actor, uint32_t kind)
{
    const struct sim_actor_table *actor_table = deciding_table(explanation);
    const struct sim_decision *decision = &explanation->decision;
    const struct sim_tape *tape = decision->added ? &decision->passing : &decision->failing;
    const struct sim_deviation *deciding = &decision->deciding;
    char text[SIM_CALL_FAULT_TEXT_MAX];
    uint64_t found = SIM_EVENT_NONE;
    uint32_t before = 0;
    uint32_t choices = 0;
    uint32_t events = 0;
    for (uint32_t i = 0; i < tape->count; i++) {
        const struct sim_deviation *other = &tape->entries[i];
        bool like = other->kind == deciding->kind && other->stream == deciding->stream;
        choices += like;
        before += like && other->ordinal < deciding->ordinal;
    }
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->kind == kind && sim_actor_table_actor(actor_table, event->actor) == actor &&
                (kind != SIM_EVENT_FAULT || sim_call_fault_text(event->argument, text)) &&
                events++ == before) {
            found = i;
        }
    }
    /* Not each such choice makes an event. */
    return kind == SIM_EVENT_FAULT || events == choices ? found : SIM_EVENT_NONE;
}

/* What is said of a choice of each kind, and of the default in its place. */
static const struct {
    enum sim_finding_kind choice;
    enum sim_finding_kind instead;
    bool alternatives; /* It is one of many, of which the first is the default. */
} choices[SIM_KINDS] = {
        [SIM_KIND_RUN] = {SIM_FINDING_CHOICE_RUN, SIM_FINDING_DEFAULT_RUN, false},
        [SIM_KIND_SLOW] = {SIM_FINDING_CHOICE_SLOW, SIM_FINDING_DEFAULT_SLOW, false},
        [SIM_KIND_LATE] = {SIM_FINDING_CHOICE_LATE, SIM_FINDING_DEFAULT_NOT, false},
        [SIM_KIND_SPURIOUS] = {SIM_FINDING_CHOICE_SPURIOUS, SIM_FINDING_DEFAULT_NOT, false},
        [SIM_KIND_SWITCH] = {SIM_FINDING_CHOICE_SWITCH, SIM_FINDING_DEFAULT_SWITCH, false},
        [SIM_KIND_LATENCY] = {SIM_FINDING_CHOICE_LATENCY, SIM_FINDING_DEFAULT_FIRST, true},
        [SIM_KIND_SUBSET] = {SIM_FINDING_CHOICE_SUBSET, SIM_FINDING_DEFAULT_FIRST, true},
        [SIM_KIND_ORDER] = {SIM_FINDING_CHOICE_ORDER, SIM_FINDING_DEFAULT_FIRST, true},
        [SIM_KIND_LENGTH] = {SIM_FINDING_CHOICE_LENGTH, SIM_FINDING_DEFAULT_FIRST, true},
        [SIM_KIND_FAULT] = {SIM_FINDING_CHOICE_FAULT, SIM_FINDING_DEFAULT_NOT, true},
        [SIM_KIND_USER] = {SIM_FINDING_CHOICE_USER, SIM_FINDING_DEFAULT_FIRST, true},
        [SIM_KIND_FREEDOM] = {SIM_FINDING_CHOICE_FREEDOM, SIM_FINDING_DEFAULT_FIRST, true},
        [SIM_KIND_AUDIT] = {SIM_FINDING_CHOICE_OTHER, SIM_FINDING_DEFAULT_FIRST, true},
};

/* … where the event that it made is known. */
static const enum sim_finding_kind seen[SIM_KINDS] = {
        [SIM_KIND_SLOW] = SIM_FINDING_CHOICE_SLOW_STEP,
        [SIM_KIND_SWITCH] = SIM_FINDING_CHOICE_SWITCH_CALL,
        [SIM_KIND_FAULT] = SIM_FINDING_CHOICE_CALL,
};

/* The event that the choice made, with its step and line; a step of the passing run is none that
 * the reader sees. */
static bool
find_event(const struct sim_explanation *explanation, struct sim_finding *finding)
{
    static const uint32_t events[SIM_KINDS] = {
            [SIM_KIND_SLOW] = SIM_EVENT_SLOW,
            [SIM_KIND_SWITCH] = SIM_EVENT_SWITCH,
            [SIM_KIND_FAULT] = SIM_EVENT_FAULT,
    };
    uint32_t kind = events[explanation->decision.deciding.kind];
    finding->event = kind != 0 && (kind == SIM_EVENT_FAULT || !explanation->decision.added)
                             ? event_of_choice(explanation, finding->actor, kind)
                             : SIM_EVENT_NONE;
    if (finding->event != SIM_EVENT_NONE) {
        const struct sim_event *event =
                sim_actor_table_event(deciding_table(explanation), finding->event);
        finding->step = event->step;
        finding->await = event->await;
        finding->site = event->site;
    }
    return finding->event != SIM_EVENT_NONE;
}

/* The deciding choice, by its kind; `instead`: the default in its place. */
static void
find_choice(const struct sim_explanation *explanation, bool instead, struct sim_findings *findings)
{
    static const char *const lasts[] = {"no longer than it costs",
            "until just before what is due next", "until exactly what is due next",
            "past what is due next", "500 us longer", "4 ms longer", "16 ms longer"};
    const uint32_t last = sizeof(lasts) / sizeof(*lasts) - 1;
    const struct sim_actor_table *actor_table = deciding_table(explanation);
    const struct sim_deviation *deviation = &explanation->decision.deciding;
    rt_assert(deviation->kind < SIM_KINDS);
    bool alternatives = choices[deviation->kind].alternatives;
    struct sim_finding finding = {
            .kind = instead ? choices[deviation->kind].instead : choices[deviation->kind].choice,
            .actor = deciding_actor(explanation, deviation->stream, deviation->kind),
            .other = sim_actor_table_of_id(actor_table, deviation->id),
            .number = deviation->ordinal,
            .text = lasts[deviation->index < last ? deviation->index : last],
    };
    if (find_event(explanation, &finding)) {
        finding.kind = instead ? choices[deviation->kind].instead : seen[deviation->kind];
        alternatives = false;
    }
    if (!instead && alternatives && finding.actor == 0 && deviation->kind == SIM_KIND_USER) {
        finding.kind = SIM_FINDING_CHOICE_SETUP;
    } else if (!instead && alternatives) {
        struct sim_finding of = finding;
        of.kind = SIM_FINDING_CHOICE_OF;
        of.text = sim_kind_name(deviation->kind);
        sim_findings_add(findings, of);
    }
    sim_findings_add(findings, finding);
    if (!instead && alternatives) {
        SIM_FIND(findings, SIM_FINDING_ALTERNATIVE, .number = deviation->index + 1u,
                .limit = deviation->n);
    }
}

/* A number that decides: what is drawn. */
static void
find_value(const struct sim_explanation *explanation, const struct sim_number *value,
        struct sim_findings *findings)
{
    struct sim_finding finding = {
            .kind = SIM_FINDING_DRAWN,
            .actor = deciding_actor(explanation, value->stream, value->kind),
            .number = value->value,
    };
    if (value->kind == SIM_KIND_LATENCY) {
        finding.kind = SIM_FINDING_DRAWN_LATENCY;
    } else if (value->kind == SIM_KIND_LENGTH) {
        finding.kind = value->value == 1 ? SIM_FINDING_DRAWN_BYTE : SIM_FINDING_DRAWN_BYTES;
    } else if (finding.actor == 0) {
        finding.kind = SIM_FINDING_DRAWN_SETUP;
    }
    sim_findings_add(findings, finding);
}

static void
find_number(const struct sim_explanation *explanation, struct sim_findings *findings)
{
    const struct sim_deciding_number *number = &explanation->number;
    bool time = number->below.kind == SIM_KIND_LATENCY;
    uint32_t nth = explanation->decision.deciding.ordinal;
    find_value(explanation, &number->below, findings);
    SIM_FIND(findings, time ? SIM_FINDING_DRAWN_TIMES : SIM_FINDING_DRAWN_RANGE,
            .place = &number->place, .number = number->below.lo, .limit = number->below.hi,
            .step = number->step);
    if (nth > 0 && number->step == 0) {
        SIM_FIND(findings, SIM_FINDING_DRAWN_NTH, .number = nth);
    }
}

/* The number of the run beside. */
static void
find_beside(const struct sim_explanation *explanation, struct sim_findings *findings)
{
    bool time = explanation->number.beside.kind == SIM_KIND_LATENCY;
    SIM_FIND(findings,
            explanation->decision.added ? SIM_FINDING_HERE_IT_IS : SIM_FINDING_PASSES_WITH);
    SIM_FIND(findings, time ? SIM_FINDING_DURATION : SIM_FINDING_NUMBER,
            .number = explanation->number.beside.value);
}

/* ---- The decision. --------------------------------------------------------------------------- */

/* Only what was tried: that no run passes is more than a search can know. */
static void
find_no_passing(const struct sim_explanation *explanation, struct sim_findings *findings)
{
    const struct sim_decision *decision = &explanation->decision;
    bool undone = decision->failing.count > 0;
    if (explanation->given.verdict == SIM_VERDICT_HANG) {
        SIM_FIND(findings, SIM_FINDING_UNTRIED_HANG);
        return;
    }
    SIM_FIND(findings, SIM_FINDING_NO_PASSING);
    if (undone) {
        SIM_FIND(findings, SIM_FINDING_NO_PASSING_UNDONE);
    }
    if (decision->seeds_tried > 0) {
        if (undone) {
            SIM_FIND(findings, SIM_FINDING_NO_PASSING_NOR);
        }
        SIM_FIND(findings, SIM_FINDING_NO_PASSING_RANDOM, .number = decision->seeds_tried);
    }
    SIM_FIND(findings, SIM_FINDING_STOP);
}

/* Whether more of the random continuations fail after the one choice than after the other, by two
 * standard deviations of chance. */
static bool
separates(const struct sim_decision *decision)
{
    const struct sim_tally *below = &decision->below;
    const struct sim_tally *beside = &decision->beside;
    int64_t n = below->runs;
    int64_t m = beside->runs;
    int64_t more = below->failed * m - beside->failed * n;
    int64_t failed = (int64_t)below->failed + beside->failed;
    rt_assert(below->failed <= below->runs && beside->failed <= beside->runs);
    return more > 0 && more * more * (n + m) > 4 * failed * (n + m - failed) * n * m;
}

/* In how many random continuations each of both choices fails. */
static void
find_tallies(const struct sim_decision *decision, struct sim_findings *findings)
{
    const struct sim_tally *below = &decision->below;
    const struct sim_tally *beside = &decision->beside;
    SIM_FIND(findings, SIM_FINDING_FORMER_FAILS, .number = below->failed, .limit = below->runs);
    if (below->otherwise > 0) {
        SIM_FIND(findings, SIM_FINDING_FORMER_OTHERWISE, .number = below->otherwise);
    }
    SIM_FIND(findings, SIM_FINDING_LATTER_FAILS, .number = beside->failed, .limit = beside->runs);
}

/* When it fails, and when it passes. */
static void
find_deciding(const struct sim_explanation *explanation, struct sim_findings *findings)
{
    const struct sim_decision *decision = &explanation->decision;
    const struct sim_deciding_number *number = &explanation->number;
    SIM_FIND(findings, decision->added ? SIM_FINDING_BASELINE_FAILS : SIM_FINDING_DECIDES);
    if (number->found) {
        find_number(explanation, findings);
    } else {
        find_choice(explanation, false, findings);
    }
    if (number->found && number->both) {
        find_beside(explanation, findings);
    } else if (!decision->added) {
        SIM_FIND(findings, SIM_FINDING_PASSES_WHEN);
        find_choice(explanation, true, findings);
    }
}

static void
find_decision(const struct sim_explanation *explanation, struct sim_findings *findings)
{
    const struct sim_decision *decision = &explanation->decision;
    bool counted = decision->below.runs > 0 && decision->beside.runs > 0;
    if (!decision->found) {
        find_no_passing(explanation, findings);
    } else if (counted && !separates(decision) && decision->added) {
        SIM_FIND(findings, SIM_FINDING_BASELINE_ALONE);
    } else if (!counted || separates(decision)) {
        find_deciding(explanation, findings);
        if (counted) {
            find_tallies(decision, findings);
        } else {
            SIM_FIND(findings, SIM_FINDING_STOP);
        }
    }
    if (!explanation->meanwhile_first) {
        sim__find_meanwhile(explanation, findings);
    }
}

static void
find_incomplete(const struct sim_budget *budget, struct sim_findings *findings)
{
    if (budget->cut_count == 0) {
        return;
    }
    SIM_FIND(findings,
            budget->by_clock ? SIM_FINDING_INCOMPLETE_TIME : SIM_FINDING_INCOMPLETE_STEPS,
            .number = budget->by_clock ? budget->clock_ms : budget->steps_max);
    for (uint32_t i = 0; i < budget->cut_count; i++) {
        if (i > 0) {
            SIM_FIND(
                    findings, SIM_FINDING_TEXT, .text = i + 1 < budget->cut_count ? ", " : " and ");
        }
        SIM_FIND(findings, SIM_FINDING_TEXT, .text = budget->cuts[i]);
    }
    SIM_FIND(findings, SIM_FINDING_MORE_TIME, .number = (budget->time_ms + 999) / 1000 * 6);
}

static void
find_needed(const struct sim_explanation *explanation, struct sim_findings *findings)
{
    const struct sim_decision *decision = &explanation->decision;
    find_incomplete(&explanation->budget, findings);
    if (decision->given != decision->failing.count) {
        SIM_FIND(findings, SIM_FINDING_NEEDED, .number = decision->given,
                .limit = decision->failing.count);
    }
}

/* ---- The order. ------------------------------------------------------------------------------ */

static void
add_event(struct sim_findings *findings, const struct sim_location *location, uint64_t event)
{
    SIM_FIND(findings, SIM_FINDING_ORDER_EVENT, .at = {location, 1}, .event = event);
}

/* Only one that decides: that something came in another order may follow from what does. */
static void
find_order(const struct sim_explanation *explanation, struct sim_findings *findings)
{
    const struct sim_swap *order = &explanation->order;
    const struct sim_cause *cause = &explanation->cause;
    bool adds = cause->fate.kind == SIM_FATE_NONE || cause->fate.kind == SIM_FATE_TURNED;
    if (!order->found || order->writes || !adds || order->swapped != SIM_SWAPPED_PASSES) {
        return;
    }
    SIM_FIND(findings, SIM_FINDING_ORDER_DECIDES);
    add_event(findings, &order->first, order->first_event);
    SIM_FIND(findings, SIM_FINDING_ORDER_BEFORE);
    add_event(findings, &order->second, order->second_event);
    SIM_FIND(findings, SIM_FINDING_ORDER_PASSING);
}

/* ---- The report. ----------------------------------------------------------------------------- */

typedef void find_fn(const struct sim_explanation *explanation, struct sim_findings *findings);

static find_fn *const finders[SIM_REPORT_SECTIONS] = {
        [SIM_REPORT_CAUSE] = sim__find_cause,
        [SIM_REPORT_DECISION] = find_decision,
        [SIM_REPORT_ORDER] = find_order,
        [SIM_REPORT_NEEDED] = find_needed,
};

static struct sim_finding_context
names_of_section(const struct sim_explanation *explanation, enum sim_report_section section)
{
    struct sim_finding_context names = names_of(explanation);
    if (section == SIM_REPORT_DECISION) {
        names.actor_table = deciding_table(explanation);
    }
    return names;
}

/* Notes the lines that are named; `named` may be NULL. */
static void
put_section(struct sim_page *page, const struct sim_explanation *explanation,
        enum sim_report_section section, struct sim_named_lines *named)
{
    struct sim_findings findings = {0};
    struct sim_finding_context names = names_of_section(explanation, section);
    rt_assert((unsigned)section < (unsigned)SIM_REPORT_SECTIONS);
    names.named = named;
    finders[section](explanation, &findings);
    sim_findings_put_line(page, &names, &findings);
    sim_findings_fini(&findings);
}

void
sim_report_put_section(struct sim_page *page, const struct sim_explanation *explanation,
        enum sim_report_section section)
{
    put_section(page, explanation, section, NULL);
}

void
sim_report_put_choice(
        struct sim_page *page, const struct sim_explanation *explanation, bool passing)
{
    struct sim_findings findings = {0};
    const struct sim_deciding_number *number = &explanation->number;
    const struct sim_finding_context names = names_of_section(explanation, SIM_REPORT_DECISION);
    bool instead = passing != explanation->decision.added;
    if (number->found && (!instead || number->both)) {
        find_value(explanation, instead ? &number->beside : &number->below, &findings);
    } else if (!number->found) {
        find_choice(explanation, instead, &findings);
    }
    sim_findings_put_line(page, &names, &findings);
    sim_findings_fini(&findings);
}

void
sim_report_json(struct sim_json *json, const struct sim_explanation *explanation)
{
    sim_json_open(json, "findings", '[');
    for (uint32_t i = 0; i < SIM_REPORT_SECTIONS; i++) {
        struct sim_findings findings = {0};
        const struct sim_finding_context names =
                names_of_section(explanation, (enum sim_report_section)i);
        finders[i](explanation, &findings);
        sim_findings_json(json, &names, &findings);
        sim_findings_fini(&findings);
    }
    sim_json_close(json, ']');
}

struct sim_run_view
sim_report_view(const struct sim_explanation *explanation)
{
    return (struct sim_run_view){
            .recorder = sim_single_recorder(&explanation->failing),
            .outcome = sim_explanation_outcome(explanation),
            .progressed = explanation->cause.by_counterfactual != SIM_COUNTERFACTUAL_NONE,
            .first = sim_report_explained(explanation),
            .rows_max = SIM_ROWS_DEFAULT,
    };
}

/* "  lost.c:22     pthread_cond_signal(&arrived);" of each line that was named. */
static void
put_source(struct sim_page *page, const struct sim_named_lines *named)
{
    size_t begin = page->length;
    for (uint32_t i = 0; i < named->count; i++) {
        const struct sim_named_line *line = &named->all[i];
        char text[SOURCE_MAX];
        struct sim_page where;
        if (sim_source_line(line->file, line->line, text, sizeof(text))) {
            sim_page_init(&where, false);
            sim_page_put(&where, "  ");
            sim_page_put_line(&where, line->file, line->line);
            bool fits = where.length + 2 < WHERE_COLUMNS;
            sim_page_fill(&where, ' ', fits ? WHERE_COLUMNS - where.length : 2);
            sim_page_put_referring(page, &where);
            sim_page_clean(page, text);
            sim_page_put(page, "\n");
            sim_page_fini(&where);
        }
    }
    sim_page_put(page, page->length > begin ? "\n" : "");
}

/* Steps that were named. */
struct cited {
    uint64_t all[SIM_CITED_MAX];
    uint32_t count;
};

/* Adds the line, and an empty one, where it says anything. */
static void
put_paragraph(struct sim_page *page, struct sim_page *line, struct cited *cited)
{
    cited->count = sim_describe_cited(line, cited->all, cited->count);
    if (line->length > 0) {
        sim_page_paragraph(page, line, 0);
        sim_page_put(page, "\n");
    }
    sim_page_clear(line);
}

/* Returns how many lines of source it names. */
static uint32_t
put_answer(struct sim_page *page, const struct sim_explanation *explanation, struct cited *cited)
{
    struct sim_page line;
    struct sim_named_lines named = {.count = 0};
    sim_page_init(&line, false);
    put_section(&line, explanation, SIM_REPORT_CAUSE, &named);
    if (line.length > 0 && line.bytes[0] >= 'a' && line.bytes[0] <= 'z') {
        line.bytes[0] = (char)(line.bytes[0] - 'a' + 'A'); /* It begins a paragraph. */
    }
    put_paragraph(page, &line, cited);
    put_section(&line, explanation, SIM_REPORT_ORDER, &named);
    put_paragraph(page, &line, cited);
    put_source(page, &named);
    put_section(&line, explanation, SIM_REPORT_DECISION, NULL);
    sim_page_put(&line, line.length > 0 ? " " : "");
    put_section(&line, explanation, SIM_REPORT_NEEDED, NULL);
    sim_page_trim(&line);
    put_paragraph(page, &line, cited);
    sim_page_fini(&line);
    return named.count;
}

void
sim_report_put(struct sim_page *page, const struct sim_explanation *explanation,
        enum sim_report_evidence evidence)
{
    struct sim_run_view view = sim_report_view(explanation);
    struct cited cited = {.count = 0};
    /* Not where the beginning of the run is not on record. */
    bool beside = evidence == SIM_REPORT_BESIDE && explanation->compared &&
                  explanation->actor_table.first == 0;
    sim_describe_run(page, &view, SIM_DESCRIBE_HEADLINE);
    sim_page_put(page, "\n");
    /* Where no wake is missing, or no line known, the ledger knows more; of a crash the stack says
     * it all. */
    bool why = put_answer(page, explanation, &cited) == 0 ||
               (explanation->cause.kind == SIM_CAUSE_NOT_A_WAKE &&
                       (explanation->cause.at_count == 0 ||
                               view.outcome->verdict != SIM_VERDICT_CRASH));
    if (beside) {
        sim_sides_put(page, &explanation->actor_table, "this run fails",
                &explanation->passing_actor_table, "the nearest that passes", ROWS);
        sim_page_put(page, "\n");
    }
    view.cited = cited.all;
    view.cited_count = cited.count;
    sim_describe_run(page, &view,
            (evidence == SIM_REPORT_COLUMNS ? SIM_DESCRIBE_COLUMNS : 0) |
                    (why ? SIM_DESCRIBE_WHY : 0) | SIM_DESCRIBE_STACKS);
    sim_page_trim(page);
    sim_page_put(page, "\n");
}

/*
 * finding.h -- what is known about a run, as typed facts; one renderer makes text of them.
 *
 * A finding has a kind and refers to steps, actors, objects, waits and places in the source. The
 * text of each kind is one template in finding_list.h; code that finds something out writes no
 * text, and code that writes text decides nothing. Each piece of text that stands for a step or a
 * name refers to it (struct sim_ref), so that no reader of a page has to search it.
 *
 * Findings of a paragraph follow each other without a blank: their templates begin with one where
 * one is due. Which fields a finding needs is what its template names; all others are ignored.
 *
 * Ownership. Findings own nothing: waits, places and texts must stay until they are rendered. A
 * list owns its array (malloc).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/base/json.h"
#include "sim/base/page.h"
#include "sim/core/record/outcome.h"
#include "sim/explain/cause/cause.h"
#include "sim/explain/finding_list.h"
#include "sim/explain/ledger.h"

enum sim_finding_kind {
#define SIM_FINDING_ENUM(name, text) SIM_FINDING_##name,
    SIM_FINDING_LIST(SIM_FINDING_ENUM)
#undef SIM_FINDING_ENUM
            SIM_FINDINGS
};

/* Locations of one actor: the place itself first, then its callers and what it passed through. */
struct sim_locations {
    const struct sim_location *all; /* Borrowed. */
    uint32_t count;
};

struct sim_finding {
    enum sim_finding_kind kind;
    uint32_t actor;  /* The actor it is about. */
    uint32_t other;  /* Another actor. */
    uint32_t object; /* As {actor} calls it, or ({object}) as a third party does. */
    uint32_t await;  /* {site}: the user's line, … */
    uint32_t site;   /* … else the runtime's. */
    uint64_t step;
    uint64_t event; /* {phrase}: its index. */
    uint64_t number;
    uint64_t limit; /* Another number: what the first is out of. */
    const char *text;
    const struct sim_wait *wait;
    struct sim_locations at;
    struct sim_locations then;
    const struct sim_place *place; /* Stands in for `at` where that is empty. */
};

#define SIM_NAMED_MAX 6u

/* Lines that texts have named, each once, the first ones; what they borrow stays with the run. */
struct sim_named_lines {
    struct sim_named_line {
        const char *file; /* As the compiler was given it. */
        const char *function;
        uint32_t line;
    } all[SIM_NAMED_MAX];
    uint32_t count;
};

/* Where the names of a finding come from; all borrowed, all but `actor_table` may be NULL. */
struct sim_finding_context {
    const struct sim_actor_table *actor_table;
    const struct sim_actor_table *passing; /* Of the nearest passing run. */
    const struct sim_ledger *ledger;       /* For what children of a combinator wait. */
    const struct sim_outcome *outcome;     /* Its actor_name stands in for an unknown actor. */
    uint64_t horizon;                      /* Waits count as open at this event. */
    struct sim_named_lines *named;         /* Lines that are named are added to it. */
};

struct sim_findings {
    struct sim_finding *all;
    uint32_t count;
    uint32_t capacity;
    uint32_t actor;          /* That findings without an actor are about. */
    struct sim_locations at; /* Where, of those that name no place. */
};

/* Adds a finding of `kind`, and its fields: SIM_FIND(findings, SIM_FINDING_SINCE, .step = 3). */
#define SIM_FIND(findings, ...) \
    sim_findings_add(findings, (struct sim_finding){.kind = __VA_ARGS__})
void sim_findings_add(struct sim_findings *findings, struct sim_finding finding);

/* The finding that was added last. */
struct sim_finding *sim_findings_last(struct sim_findings *findings);
void sim_findings_fini(struct sim_findings *findings);

/* Adds the text of `finding` to the line `page`. */
void sim_finding_put(struct sim_page *page, const struct sim_finding_context *names,
        const struct sim_finding *finding);

/* Adds the texts of all as one line; where a paragraph ends the next one begins with a capital. */
void sim_findings_put_line(struct sim_page *page, const struct sim_finding_context *names,
        const struct sim_findings *findings);

/* Adds them as paragraphs: each SIM_FINDING_END wraps what came before it, `number` blanks deep.
 * What follows the last one is wrapped too. */
void sim_findings_put(struct sim_page *page, const struct sim_finding_context *names,
        const struct sim_findings *findings);

/* Adds an object for each to an array: "kind", "text", and "steps" and "actors", to which the text
 * refers. */
void sim_findings_json(struct sim_json *json, const struct sim_finding_context *names,
        const struct sim_findings *findings);

/* "waker-erased" … */
void sim_finding_put_name(struct sim_page *page, enum sim_finding_kind kind);

/* The template of `kind`: static. False: `hole` ("{step}" without braces) is the name of none. */
const char *sim_finding_template(enum sim_finding_kind kind);
bool sim_finding_has_hole(const char *hole, size_t length);

/* The first open wait of `actor` after `after` (NULL: the first) that a reader knows: no question
 * to the host, which is there as a waker too, and no child of a combinator, named with it. */
const struct sim_wait *sim_finding_next_wait(
        const struct sim_finding_context *names, uint32_t actor, const struct sim_wait *after);

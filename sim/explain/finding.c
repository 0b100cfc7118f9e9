/*
 * finding.c -- templates become text.
 *
 * In a template {name} is a hole, which the field of that name fills; what stands in brackets is
 * left out when one of its holes has nothing to say: a step 0, a place that is not known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/finding.h"

#include <ctype.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/code/source.h"
#include "sim/core/record/site.h"
#include "sim/explain/view/phrase.h"

#define SOURCE_MAX 160u /* Bytes of a line of source. */
#define CHILDREN_NAMED 3u
#define CHILDREN_DEEP 3u
#define FUNCTIONS_NAMED 4u /* Beside the place itself. */

static const char *const templates[SIM_FINDINGS] = {
#define FINDING_TEMPLATE(name, text) text,
        SIM_FINDING_LIST(FINDING_TEMPLATE)
#undef FINDING_TEMPLATE
};

/* One finding on its way into a page. */
struct render {
    struct sim_page *page;
    const struct sim_finding_context *names;
    const struct sim_finding *finding;
    const struct sim_locations *at; /* finding->at, or ->then for holes that begin so. */
};

/* ---- Actors, objects, steps. ----------------------------------------------------------------- */

static bool
put_actor_of(const struct render *r, const struct sim_actor_table *actor_table, uint32_t actor)
{
    const struct sim_outcome *outcome = r->names->outcome;
    if (actor == 0) {
        sim_page_put(r->page, "the world");
    } else if (actor != SIM_PART_NONE) {
        rt_assert(actor_table != NULL && actor < actor_table->count);
        size_t from = r->page->length;
        sim_page_put(r->page, "`");
        sim_actor_table_put_part(actor_table, r->page, actor);
        sim_page_put(r->page, "`");
        sim_page_refer(r->page, SIM_REF_NAME, from, 0);
    } else if (outcome != NULL && outcome->actor_name[0] != '\0') {
        char name[sizeof(outcome->actor_name) + 1] = {0};
        memcpy(name, outcome->actor_name, sizeof(outcome->actor_name));
        sim_page_put_name(r->page, name);
    } else {
        sim_page_put(r->page, "another actor");
    }
    return true;
}

static bool
put_actor(const struct render *r)
{
    return put_actor_of(r, r->names->actor_table, r->finding->actor);
}

static bool
put_other(const struct render *r)
{
    return put_actor_of(r, r->names->actor_table, r->finding->other);
}

/* As the actor itself calls it: what is its own is not said to be "of" it. */
static bool
put_own(const struct render *r)
{
    sim_actor_table_put_object(
            r->names->actor_table, r->page, r->finding->object, r->finding->actor);
    return true;
}

static bool
put_named(const struct render *r)
{
    size_t from = r->page->length;
    sim_page_put(r->page, "`");
    (void)put_own(r);
    sim_page_put(r->page, "`");
    sim_page_refer(r->page, SIM_REF_NAME, from, 0);
    return true;
}

static bool
put_object(const struct render *r)
{
    sim_actor_table_put_object(r->names->actor_table, r->page, r->finding->object, SIM_PART_NONE);
    return true;
}

static bool
put_step(const struct render *r)
{
    if (r->finding->step != 0) {
        sim_page_put_step(r->page, r->finding->step);
    }
    return r->finding->step != 0;
}

/* "step 41 (3.1ms)" */
static bool
put_time(const struct render *r)
{
    uint64_t ns = 0;
    if (!put_step(r)) {
        sim_page_put(r->page, "the start");
    } else if (sim_actor_table_step_time(r->names->actor_table, r->finding->step, &ns)) {
        sim_page_put(r->page, " (");
        sim_page_time(r->page, ns);
        sim_page_put(r->page, ")");
    }
    return true;
}

static bool
put_since(const struct render *r)
{
    sim_page_put(r->page, r->finding->step != 0 ? "at " : "from ");
    return put_time(r);
}

/* "step 41 (3.1ms), a step of `response`: is ready" */
static bool
put_deed(const struct render *r)
{
    const struct sim_actor_table *actor_table = r->names->actor_table;
    struct sim_page deed;
    (void)put_time(r);
    if (r->finding->step == 0) {
        return true;
    }
    sim_page_put(r->page, ", a step of ");
    (void)put_actor_of(r, actor_table, sim_phrase_whose_step(actor_table, r->finding->step));
    sim_page_init(&deed, false);
    if (sim_phrase_put_step(actor_table, &deed, r->finding->step, SIM_EVENT_NONE)) {
        sim_page_put(r->page, ": ");
        sim_page_join(r->page, &deed);
    }
    sim_page_fini(&deed);
    return true;
}

static bool
put_phrase(const struct render *r)
{
    return sim_phrase_put(r->names->actor_table, r->page, r->finding->event);
}

static void
note_line(const struct render *r, const char *file, const char *function, uint32_t line)
{
    struct sim_named_lines *named = r->names->named;
    for (uint32_t i = 0; named != NULL && i < named->count; i++) {
        if (named->all[i].line == line && strcmp(named->all[i].file, file) == 0) {
            return;
        }
    }
    if (named != NULL && named->count < SIM_NAMED_MAX && line != 0) {
        named->all[named->count++] = (struct sim_named_line){file, function, line};
    }
}

/* "f() (file.c:41)" */
static void
put_function_at(struct sim_page *page, const char *function, const char *file, uint32_t line)
{
    sim_page_printf(page, "%s() (", function);
    sim_page_put_line(page, file, line);
    sim_page_put(page, ")");
}

/* "in f() (file.c:41)" of the line of a probe. */
static bool
put_line(const struct render *r)
{
    const struct rt_site *site = sim_actor_table_place(r->finding->await, r->finding->site);
    if (site != NULL) {
        note_line(r, site->file, site->function, (uint32_t)site->line);
        sim_page_put(r->page, "in ");
        put_function_at(r->page, site->function, site->file, site->line);
    }
    return site != NULL;
}

static bool
put_site(const struct render *r)
{
    return sim_actor_table_put_place(r->page, r->finding->await, r->finding->site);
}

/* ---- Numbers and texts. ---------------------------------------------------------------------- */

static bool
put_number_of(const struct render *r, uint64_t number)
{
    sim_page_printf(r->page, "%llu", (unsigned long long)number);
    return number != 0;
}

static bool
put_number(const struct render *r)
{
    return put_number_of(r, r->finding->number);
}

static bool
put_limit(const struct render *r)
{
    return put_number_of(r, r->finding->limit);
}

static bool
put_plural(const struct render *r)
{
    sim_page_put(r->page, r->finding->number == 1 ? "" : "s");
    return true;
}

/* "1st", "2nd", "11th", of a number that counts from 0. */
static bool
put_nth(const struct render *r)
{
    static const char *const endings[] = {"th", "st", "nd", "rd"};
    uint64_t n = r->finding->number + 1;
    bool teen = n % 100 >= 11 && n % 100 <= 13;
    (void)put_number_of(r, n);
    sim_page_put(r->page, endings[!teen && n % 10 < 4 ? n % 10 : 0]);
    return true;
}

static bool
put_due(const struct render *r)
{
    sim_phrase_put_due(r->page, r->finding->limit);
    return true;
}

static bool
put_moved_to(const struct render *r)
{
    sim_phrase_put_due(r->page, r->finding->number);
    return true;
}

static bool
put_duration(const struct render *r)
{
    sim_page_time(r->page, r->finding->number);
    return true;
}

static bool
put_text(const struct render *r)
{
    sim_page_clean(r->page, r->finding->text);
    return r->finding->text != NULL;
}

/* ---- Waits. ---------------------------------------------------------------------------------- */

static bool
is_combinator(uint32_t object)
{
    return SIM_OBJECT_KIND(object) == RT_OBJECT_GROUP || SIM_OBJECT_KIND(object) == RT_OBJECT_JOIN;
}

/* True when `child` is a wait, open at the horizon, for a child of what `wait` is for. */
static bool
is_child_of(const struct sim_finding_context *names, const struct sim_wait *child,
        const struct sim_wait *wait)
{
    bool open = child->end_event == SIM_EVENT_NONE || child->end_event >= names->horizon;
    return open && child != wait && child->kind == SIM_WAIT_SLOT && wait->kind == SIM_WAIT_SLOT &&
           child->store_event < names->horizon && child->part == wait->part &&
           child->whose == wait->object && is_combinator(wait->object);
}

/* One child of a race is enough to continue, of the other combinators each one is waited for. */
static const char *
between_children(const struct sim_wait *wait)
{
    bool any = wait->reason != NULL &&
               (strcmp(wait->reason, "race") == 0 || strcmp(wait->reason, "select") == 0);
    return any ? " or " : " and ";
}

static void
put_wanted_of(const struct render *r, const struct sim_wait *wait)
{
    sim_actor_table_put_wanted(
            r->names->actor_table, r->page, wait->object, wait->reason, wait->part);
}

/* Returns how many there are. */
static uint32_t
put_children(const struct render *r, const struct sim_wait *wait, uint32_t depth)
{
    const struct sim_ledger *ledger = r->names->ledger;
    uint32_t count = 0;
    for (uint32_t i = 0; i < ledger->count && depth < CHILDREN_DEEP; i++) {
        const struct sim_wait *child = &ledger->waits[i];
        if (!is_child_of(r->names, child, wait) || ++count > CHILDREN_NAMED) {
            continue;
        }
        sim_page_put(r->page, count > 1 ? between_children(wait) : "");
        sim_page_put(r->page, put_children(r, child, depth + 1) > 0 ? ", in " : "");
        put_wanted_of(r, child);
    }
    if (count > CHILDREN_NAMED) {
        sim_page_printf(r->page, "%s%u more", between_children(wait), count - CHILDREN_NAMED);
    }
    return count;
}

/* What is waited for; of a combinator, for what its children wait: "a connection or sleep (timer
 * 3), in race (group 1),". */
static bool
put_wait(const struct render *r)
{
    rt_assert(r->finding->wait != NULL && r->names->ledger != NULL);
    uint32_t children = put_children(r, r->finding->wait, 0);
    sim_page_put(r->page, children > 0 ? ", in " : "");
    put_wanted_of(r, r->finding->wait);
    sim_page_put(r->page, children > 0 ? "," : "");
    return true;
}

static bool
put_wanted(const struct render *r)
{
    const struct sim_finding *finding = r->finding;
    if (finding->wait != NULL) {
        put_wanted_of(r, finding->wait);
    } else {
        sim_actor_table_put_wanted(
                r->names->actor_table, r->page, finding->object, NULL, finding->actor);
    }
    return true;
}

/* The combinator whose child waits. */
static bool
put_parent(const struct render *r)
{
    const struct sim_wait *wait = r->finding->wait;
    rt_assert(wait != NULL);
    sim_actor_table_put_object(r->names->actor_table, r->page, wait->whose, wait->part);
    return true;
}

/* Named with the combinator that waits for it. */
static bool
is_child(const struct sim_finding_context *names, const struct sim_wait *child)
{
    const struct sim_wait *wait = NULL;
    do {
        wait = sim_ledger_open_of(names->ledger, child->part, wait);
    } while (wait != NULL && !is_child_of(names, child, wait));
    return wait != NULL;
}

const struct sim_wait *
sim_finding_next_wait(
        const struct sim_finding_context *names, uint32_t actor, const struct sim_wait *after)
{
    const struct sim_wait *wait = after;
    rt_assert(names->ledger != NULL);
    do {
        wait = sim_ledger_open_of(names->ledger, actor, wait);
    } while (wait != NULL && (wait->kind == SIM_WAIT_HOST || is_child(names, wait)));
    return wait;
}

/* ---- Places in the source. ------------------------------------------------------------------- */

/* The place itself, where it is known. */
static const struct sim_place *
place_of(const struct render *r)
{
    const struct sim_locations *at = r->at;
    const struct sim_place *place = at->count > 0 ? &at->all[0].place : r->finding->place;
    return place != NULL && place->function[0] != '\0' ? place : NULL;
}

/* Whether it deserves a name: not one that was given, and the runtime's only where all are. */
static bool
is_new_name(const struct sim_locations *at, uint32_t index, bool trail)
{
    const struct sim_location *location = &at->all[index];
    if (location->traced != trail ||
            (sim_place_is_runtime(&location->place) && !sim_place_is_runtime(&at->all[0].place))) {
        return false;
    }
    for (uint32_t i = 0; i < index; i++) {
        if (strcmp(at->all[i].place.function, location->place.function) == 0) {
            return false;
        }
    }
    return true;
}

/* "f() (file.c:41)" */
static bool
put_call(const struct render *r)
{
    const struct sim_place *place = place_of(r);
    if (place != NULL) {
        if (!sim_source_ends_block(place->file, place->line)) {
            note_line(r, place->file, place->function, place->line);
        }
        put_function_at(r->page, place->function, place->file, place->line);
    }
    return place != NULL;
}

static bool
put_function(const struct render *r)
{
    const struct sim_place *place = place_of(r);
    sim_page_printf(r->page, "%s()", place != NULL ? place->function : "");
    return place != NULL;
}

/* With the line from where that function was called, where that is known. */
static bool
put_in(const struct render *r)
{
    const struct sim_place *place = place_of(r);
    const struct sim_place *caller = r->at->count > 0 ? &r->at->all[0].caller : NULL;
    if (place != NULL) {
        sim_page_put(r->page, sim_source_ends_block(place->file, place->line)
                                      ? "at the end of a block in "
                                      : "in ");
    }
    bool known = put_call(r);
    if (known && caller != NULL && caller->line != 0) {
        note_line(r, caller->file, caller->function, caller->line);
        sim_page_put(r->page, ", called from ");
        put_function_at(r->page, caller->function, caller->file, caller->line);
    }
    return known;
}

/* The text of its line: "`if (left > 0)`". */
static bool
put_source(const struct render *r)
{
    const struct sim_place *place = place_of(r);
    char text[SOURCE_MAX];
    bool known = place != NULL && sim_source_line(place->file, place->line, text, sizeof(text));
    if (known) {
        sim_page_put(r->page, "`");
        sim_page_clean(r->page, text);
        sim_page_put(r->page, "`");
    }
    return known;
}

/* The names after the first, with `before` in front; false: there are none. */
static bool
put_names(const struct render *r, bool trail, const char *before)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < r->at->count && count < FUNCTIONS_NAMED; i++) {
        if (is_new_name(r->at, i, trail)) {
            sim_page_printf(
                    r->page, "%s%s()", count++ == 0 ? before : ", ", r->at->all[i].place.function);
        }
    }
    return count > 0;
}

/* The callers with their lines: "lookup() (x.c:69), main() (x.c:123)". */
static bool
put_from(const struct render *r)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < r->at->count && count < FUNCTIONS_NAMED; i++) {
        const struct sim_place *place = &r->at->all[i].place;
        if (is_new_name(r->at, i, false)) {
            note_line(r, place->file, place->function, place->line);
            sim_page_put(r->page, count++ == 0 ? "" : ", ");
            put_function_at(r->page, place->function, place->file, place->line);
        }
    }
    return count > 0;
}

static bool
put_callers(const struct render *r)
{
    return put_names(r, false, "");
}

static bool
put_passed(const struct render *r)
{
    return put_names(r, true, "");
}

/* "in permit_release() (tokio-2854.c:84), called from author_poll()" */
static bool
put_place(const struct render *r)
{
    (void)put_in(r);
    (void)put_names(r, false, ", called from ");
    return r->at->count > 0;
}

/* The same with what it passed through: "in timeout_of() (mio-1948.c:80), after kernel_wait()". */
static bool
put_path(const struct render *r)
{
    bool trail = r->at->count > 0 && r->at->all[0].traced;
    (void)put_place(r);
    (void)put_names(r, true, trail ? ", after " : "; gone through in that step: ");
    return r->at->count > 0;
}

/* "in actor_poll() (mail.c:33), before that in drain() (mail.c:24), handle() (mail.c:12)": which of
 * them goes wrong is not known, so each is given with the line where it was left. */
static bool
put_lines(const struct render *r)
{
    if (r->at->count == 0 || !r->at->all[0].traced) {
        return put_path(r);
    }
    (void)put_in(r);
    for (uint32_t i = 1, count = 0; i < r->at->count && count < FUNCTIONS_NAMED; i++) {
        if (is_new_name(r->at, i, true)) {
            const struct sim_place *place = &r->at->all[i].place;
            sim_page_put(r->page, count++ == 0 ? ", before that in " : ", ");
            put_function_at(r->page, place->function, place->file, place->line);
        }
    }
    return true;
}

static bool
put_at_step(const struct render *r)
{
    rt_assert(r->at->count > 0);
    sim_page_put_step(r->page, r->at->all[0].step);
    return true;
}

/* A step of the passing run: no reader of this one can go there. */
static bool
put_at_there(const struct render *r)
{
    rt_assert(r->at->count > 0);
    sim_page_printf(r->page, "step %llu of that run", (unsigned long long)r->at->all[0].step);
    return true;
}

static bool
put_at_actor(const struct render *r)
{
    rt_assert(r->at->count > 0);
    return put_actor_of(r, r->names->actor_table, r->at->all[0].part);
}

/* False where no actor is known. */
static bool
put_at_passing(const struct render *r)
{
    rt_assert(r->at->count > 0);
    return put_actor_of(r, r->names->passing, r->at->all[0].part) &&
           r->at->all[0].part != SIM_PART_NONE;
}

/* "at step 6 `author`" */
static bool
put_when(const struct render *r)
{
    const struct sim_location *at = r->at->count > 0 ? &r->at->all[0] : NULL;
    if (at == NULL || at->step == 0 || at->part == SIM_PART_NONE) {
        sim_page_put(r->page, "something");
        return true;
    }
    sim_page_put(r->page, "at ");
    sim_page_put_step(r->page, at->step);
    sim_page_put(r->page, " ");
    return put_at_actor(r);
}

/* ---- Templates. ------------------------------------------------------------------------------ */

struct hole {
    const char *name;
    bool (*put)(const struct render *); /* False: nothing to say. */
};

/* After "then." those of a place are about the second one. */
static const struct hole holes[] = {
        {"actor", put_actor},
        {"other", put_other},
        {"own", put_own},
        {"named", put_named},
        {"object", put_object},
        {"step", put_step},
        {"time", put_time},
        {"since", put_since},
        {"deed", put_deed},
        {"phrase", put_phrase},
        {"site", put_site},
        {"line", put_line},
        {"number", put_number},
        {"limit", put_limit},
        {"s", put_plural},
        {"nth", put_nth},
        {"due", put_due},
        {"moved-to", put_moved_to},
        {"duration", put_duration},
        {"text", put_text},
        {"wait", put_wait},
        {"wanted", put_wanted},
        {"parent", put_parent},
        {"call", put_call},
        {"function", put_function},
        {"source", put_source},
        {"in", put_in},
        {"callers", put_callers},
        {"from", put_from},
        {"passed", put_passed},
        {"place", put_place},
        {"path", put_path},
        {"lines", put_lines},
        {"at.step", put_at_step},
        {"at.there", put_at_there},
        {"at.actor", put_at_actor},
        {"at.passing", put_at_passing},
        {"when", put_when},
};

#define THEN "then."
#define THEN_LENGTH (sizeof(THEN) - 1)

static bool
is_then(const char *name, size_t length)
{
    return length > THEN_LENGTH && strncmp(name, THEN, THEN_LENGTH) == 0;
}

static const struct hole *
hole_of(const char *name, size_t length)
{
    size_t skip = is_then(name, length) ? THEN_LENGTH : 0;
    for (size_t i = 0; i < sizeof(holes) / sizeof(holes[0]); i++) {
        if (strlen(holes[i].name) == length - skip &&
                strncmp(holes[i].name, name + skip, length - skip) == 0) {
            return &holes[i];
        }
    }
    return NULL;
}

static bool
put_hole(struct render *r, const char *name, size_t length)
{
    const struct hole *hole = hole_of(name, length);
    rt_assert(hole != NULL);
    r->at = is_then(name, length) ? &r->finding->then : &r->finding->at;
    return hole->put(r);
}

static bool put_template(struct render *r, const char *text, const char *end);

/* What stands in brackets: all or nothing. */
static void
put_option(const struct render *r, const char *text, const char *end)
{
    struct sim_page page;
    struct render inner = *r;
    sim_page_init(&page, false);
    inner.page = &page;
    if (put_template(&inner, text, end)) {
        sim_page_join(r->page, &page);
    }
    sim_page_fini(&page);
}

static bool
put_template(struct render *r, const char *text, const char *end)
{
    bool whole = true;
    while (text < end) {
        size_t plain = strcspn(text, "{[");
        plain = plain < (size_t)(end - text) ? plain : (size_t)(end - text);
        sim_page_add(r->page, text, plain);
        text += plain;
        if (text < end) {
            const char *close = strchr(text, *text == '{' ? '}' : ']');
            rt_assert(close != NULL && close < end);
            if (*text == '{') {
                whole = put_hole(r, text + 1, (size_t)(close - text) - 1) && whole;
            } else {
                put_option(r, text + 1, close);
            }
            text = close + 1;
        }
    }
    return whole;
}

void
sim_finding_put(struct sim_page *page, const struct sim_finding_context *names,
        const struct sim_finding *finding)
{
    struct render r = {.page = page, .names = names, .finding = finding};
    const char *text = sim_finding_template(finding->kind);
    (void)put_template(&r, text, text + strlen(text));
}

const char *
sim_finding_template(enum sim_finding_kind kind)
{
    rt_assert((unsigned)kind < (unsigned)SIM_FINDINGS);
    return templates[kind];
}

bool
sim_finding_has_hole(const char *hole, size_t length)
{
    return hole_of(hole, length) != NULL;
}

/* ---- Lists. ---------------------------------------------------------------------------------- */

void
sim_findings_add(struct sim_findings *findings, struct sim_finding finding)
{
    rt_assert((unsigned)finding.kind < (unsigned)SIM_FINDINGS);
    finding.actor = finding.actor != 0 ? finding.actor : findings->actor;
    if (finding.at.all == NULL && finding.place == NULL) {
        finding.at = findings->at;
    }
    sim_heap_grow(&findings->all, findings->count, &findings->capacity, sizeof(finding));
    findings->all[findings->count++] = finding;
}

struct sim_finding *
sim_findings_last(struct sim_findings *findings)
{
    rt_assert(findings->count > 0);
    return &findings->all[findings->count - 1];
}

void
sim_findings_fini(struct sim_findings *findings)
{
    free(findings->all);
    *findings = (struct sim_findings){0};
}

void
sim_findings_put_line(struct sim_page *page, const struct sim_finding_context *names,
        const struct sim_findings *findings)
{
    bool begins = false; /* What follows is the beginning of a paragraph. */
    for (uint32_t i = 0; i < findings->count; i++) {
        size_t from = page->length;
        sim_finding_put(page, names, &findings->all[i]);
        if (begins && page->length > from && page->bytes[from] >= 'a' && page->bytes[from] <= 'z') {
            page->bytes[from] = (char)(page->bytes[from] - 'a' + 'A');
        }
        begins = findings->all[i].kind == SIM_FINDING_END;
    }
}

void
sim_findings_put(struct sim_page *page, const struct sim_finding_context *names,
        const struct sim_findings *findings)
{
    struct sim_page line;
    sim_page_init(&line, false);
    for (uint32_t i = 0; i < findings->count; i++) {
        const struct sim_finding *finding = &findings->all[i];
        if (finding->kind != SIM_FINDING_END) {
            sim_finding_put(&line, names, finding);
        } else if (line.length > 0) {
            sim_page_paragraph(page, &line, (uint32_t)finding->number);
            sim_page_clear(&line);
        }
    }
    if (line.length > 0) {
        sim_page_paragraph(page, &line, 0);
    }
    sim_page_fini(&line);
}

void
sim_finding_put_name(struct sim_page *page, enum sim_finding_kind kind)
{
    static const char *const names[SIM_FINDINGS] = {
#define FINDING_NAME(name, text) #name,
            SIM_FINDING_LIST(FINDING_NAME)
#undef FINDING_NAME
    };
    rt_assert((unsigned)kind < (unsigned)SIM_FINDINGS);
    for (const char *c = names[kind]; *c != '\0'; c++) {
        char lower = *c == '_' ? '-' : (char)tolower((unsigned char)*c);
        sim_page_add(page, &lower, 1);
    }
}

static void
json_refs(
        struct sim_json *json, const char *key, const struct sim_page *page, enum sim_ref_kind kind)
{
    sim_json_open(json, key, '[');
    for (uint32_t i = 0; i < page->refs_count; i++) {
        const struct sim_ref *ref = &page->refs[i];
        rt_assert(ref->from < ref->to && ref->to <= page->length);
        if (ref->kind == kind && kind == SIM_REF_STEP) {
            sim_json_number(json, NULL, ref->number);
        } else if (ref->kind == kind && kind == SIM_REF_LINE) {
            sim_json_open(json, NULL, '{');
            sim_json_text(json, "file", ref->file);
            sim_json_number(json, "line", ref->number);
            sim_json_close(json, '}');
        } else if (ref->kind == kind) { /* Without its quotes. */
            struct sim_page name;
            sim_page_init(&name, false);
            sim_page_add(&name, page->bytes + ref->from + 1, ref->to - ref->from - 2);
            sim_json_text(json, NULL, sim_page_text(&name));
            sim_page_fini(&name);
        }
    }
    sim_json_close(json, ']');
}

void
sim_findings_json(struct sim_json *json, const struct sim_finding_context *names,
        const struct sim_findings *findings)
{
    for (uint32_t i = 0; i < findings->count; i++) {
        struct sim_page text;
        struct sim_page kind;
        sim_page_init(&text, false);
        sim_page_init(&kind, false);
        sim_finding_put(&text, names, &findings->all[i]);
        sim_finding_put_name(&kind, findings->all[i].kind);
        sim_json_open(json, NULL, '{');
        sim_json_text(json, "kind", sim_page_text(&kind));
        sim_json_text(json, "text", sim_page_text(&text));
        json_refs(json, "steps", &text, SIM_REF_STEP);
        json_refs(json, "actors", &text, SIM_REF_NAME);
        json_refs(json, "lines", &text, SIM_REF_LINE);
        sim_json_close(json, '}');
        sim_page_fini(&kind);
        sim_page_fini(&text);
    }
}

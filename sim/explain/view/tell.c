/*
 * tell.c -- a failure report, part by part.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/view/tell.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/explain/view/columns.h"
#include "sim/explain/view/phrase.h"
#include "sim/explain/view/tell_priv.h"

#define CHILDREN_TOLD 3u
#define CHILDREN_DEEP 3u

/* ---- Words. ---------------------------------------------------------------------------------- */

void
sim__put_who(struct sim__telling *telling, uint32_t part)
{
    struct sim_page *line = &telling->line;
    const struct sim_outcome *outcome = telling->outcome;
    size_t from = line->length;
    if (part != SIM_PART_NONE && part != 0) {
        sim_page_put(line, "`");
        sim_actor_table_put_part(&telling->actor_table, line, part);
        sim_page_put(line, "`");
        sim_page_refer(line, SIM_REF_NAME, from, 0);
    } else if (part == SIM_PART_NONE && outcome->actor_name[0] != '\0') {
        char name[sizeof(outcome->actor_name) + 1] = {0};
        memcpy(name, outcome->actor_name, sizeof(outcome->actor_name));
        sim_page_put_name(line, name);
    } else {
        sim_page_put(line, part == 0 ? "the world" : "another actor");
    }
}

void
sim__put_step(struct sim__telling *telling, uint64_t step)
{
    uint64_t ns = 0;
    if (step == 0) {
        sim_page_put(&telling->line, "the start");
        return;
    }
    sim_page_put_step(&telling->line, step);
    if (sim_actor_table_step_time(&telling->actor_table, step, &ns)) {
        sim_page_put(&telling->line, " (");
        sim_page_time(&telling->line, ns);
        sim_page_put(&telling->line, ")");
    }
}

void
sim__put_at(struct sim__telling *telling, uint32_t await, uint32_t site)
{
    struct sim_page place;
    sim_page_init(&place, false);
    if (sim_actor_table_put_place(&place, await, site)) {
        sim_page_printf(&telling->line, " at %s", sim_page_text(&place));
    }
    sim_page_fini(&place);
}

void
sim__put_at_event(struct sim__telling *telling, uint64_t event)
{
    const struct sim_event *at = sim_actor_table_event(&telling->actor_table, event);
    sim__put_at(telling, at->await, at->site);
}

void
sim__put_deed(struct sim__telling *telling, uint64_t step)
{
    struct sim_page deed;
    sim_page_init(&deed, false);
    sim__put_step(telling, step);
    if (step != 0) {
        sim_page_put(&telling->line, ", a step of ");
        sim__put_who(telling, sim_phrase_whose_step(&telling->actor_table, step));
        if (sim_phrase_put_step(&telling->actor_table, &deed, step, SIM_EVENT_NONE)) {
            sim_page_put(&telling->line, ": ");
            sim_page_join(&telling->line, &deed);
        }
    }
    sim_page_fini(&deed);
}

static bool
is_combinator(uint32_t object)
{
    return SIM_OBJECT_KIND(object) == RT_OBJECT_GROUP || SIM_OBJECT_KIND(object) == RT_OBJECT_JOIN;
}

/* True when `child` is a wait, open when the verdict fell, for a child of what `wait` is for. */
static bool
is_child_of(const struct sim__telling *telling, const struct sim_wait *child,
        const struct sim_wait *wait)
{
    bool open =
            child->end_event == SIM_EVENT_NONE || child->end_event >= telling->wake_outcome.horizon;
    return open && child != wait && child->kind == SIM_WAIT_SLOT && wait->kind == SIM_WAIT_SLOT &&
           child->store_event < telling->wake_outcome.horizon && child->part == wait->part &&
           child->whose == wait->object && is_combinator(wait->object);
}

/* One child of a race is enough to go on, of the other combinators each one is waited for. */
static const char *
between_children(const struct sim_wait *wait)
{
    bool any = wait->reason != NULL &&
               (strcmp(wait->reason, "race") == 0 || strcmp(wait->reason, "select") == 0);
    return any ? " or " : " and ";
}

/* Returns how many there are. */
static uint32_t
put_children(struct sim__telling *telling, const struct sim_wait *wait, uint32_t depth)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < telling->ledger.count && depth < CHILDREN_DEEP; i++) {
        const struct sim_wait *child = &telling->ledger.waits[i];
        if (!is_child_of(telling, child, wait) || ++count > CHILDREN_TOLD) {
            continue;
        }
        sim_page_put(&telling->line, count > 1 ? between_children(wait) : "");
        uint32_t inner = put_children(telling, child, depth + 1);
        sim_page_put(&telling->line, inner > 0 ? ", in " : "");
        sim_actor_table_put_wanted(
                &telling->actor_table, &telling->line, child->object, child->reason, child->part);
    }
    if (count > CHILDREN_TOLD) {
        sim_page_printf(&telling->line, "%s%u more", between_children(wait), count - CHILDREN_TOLD);
    }
    return count;
}

void
sim__put_wait(struct sim__telling *telling, const struct sim_wait *wait)
{
    uint32_t children = put_children(telling, wait, 0);
    sim_page_put(&telling->line, children > 0 ? ", in " : "");
    sim_actor_table_put_wanted(
            &telling->actor_table, &telling->line, wait->object, wait->reason, wait->part);
    sim_page_put(&telling->line, children > 0 ? "," : "");
}

/* Told with the combinator that waits for it. */
static bool
is_child(const struct sim__telling *telling, const struct sim_wait *child)
{
    const struct sim_wait *wait = NULL;
    do {
        wait = sim_ledger_open_of(&telling->ledger, child->part, wait);
    } while (wait != NULL && !is_child_of(telling, child, wait));
    return wait != NULL;
}

const struct sim_wait *
sim__next_wait(const struct sim__telling *telling, uint32_t part, const struct sim_wait *after)
{
    const struct sim_wait *wait = after;
    do {
        wait = sim_ledger_open_of(&telling->ledger, part, wait);
    } while (wait != NULL && (wait->kind == SIM_WAIT_HOST || is_child(telling, wait)));
    return wait;
}

bool
sim__put_waiting(struct sim__telling *telling, uint32_t part, const struct sim_wait **after)
{
    const struct sim_wait *wait = sim__next_wait(telling, part, *after);
    if (wait == NULL) {
        return false;
    }
    *after = wait;
    if (wait->kind == SIM_WAIT_CLONE) {
        sim_page_put(&telling->line, "a wake through a clone of its waker");
    } else {
        sim__put_wait(telling, wait);
    }
    if (wait->unknown == 0) {
        sim_page_put(&telling->line, " since ");
        sim__put_step(telling, wait->store_step);
    }
    return true;
}

bool
sim__is_left(const struct sim__telling *telling, uint32_t part)
{
    const struct sim_part *who = &telling->actor_table.parts[part];
    return !who->finished && (who->kind == SIM_ACTOR_TASK || who->kind == SIM_ACTOR_LOOP);
}

bool
sim__found_by_rounds(const struct sim_outcome *outcome)
{
    return outcome->verdict == SIM_VERDICT_LOST_WAKEUP && outcome->missing_wake_step == 0 &&
           outcome->reason == SIM_REASON_ROUNDS;
}

void
sim__end_line(struct sim__telling *telling, uint32_t indent)
{
    sim_page_paragraph(telling->page, &telling->line, indent);
    sim_page_clear(&telling->line);
}

/* ---- Parts. ---------------------------------------------------------------------------------- */

static rt_err
begin(struct sim__telling *telling, struct sim_page *page, const struct sim_tale *tale)
{
    rt_assert(page != NULL);
    rt_assert(tale->recorder != NULL && tale->outcome != NULL);
    *telling =
            (struct sim__telling){.page = page, .outcome = tale->outcome, .went_on = tale->went_on};
    rt_err err = sim_actor_table_make(&telling->actor_table, tale->recorder);
    if (err == RT_OK) {
        err = sim_ledger_make(&telling->ledger, &telling->actor_table);
    }
    if (err != RT_OK) {
        sim_actor_table_free(&telling->actor_table);
        return err;
    }
    sim_wake_outcome_find(&telling->ledger, tale->outcome, &telling->wake_outcome);
    sim_frames_find(&tale->outcome->stack, &telling->frames);
    return RT_OK;
}

static rt_err
end(struct sim__telling *telling)
{
    sim_page_fini(&telling->line);
    sim_ledger_free(&telling->ledger);
    sim_actor_table_free(&telling->actor_table);
    return RT_OK;
}

static void
headline(struct sim__telling *telling)
{
    sim_page_tone(telling->page, SIM_TONE_BAD);
    sim__tell_headline(telling);
    sim_page_tone(telling->page, SIM_TONE_PLAIN);
}

/* The steps between which the story of the waker plays. */
static rt_err
columns(struct sim__telling *telling, uint32_t rows_max)
{
    const struct sim_wake_outcome *wake_outcome = &telling->wake_outcome;
    uint64_t steps[3];
    uint32_t count = 0;
    if (wake_outcome->wait != NULL) {
        steps[count++] = wake_outcome->wait->store_step;
    }
    if (wake_outcome->poll != SIM_EVENT_NONE) {
        steps[count++] = sim_actor_table_event(&telling->actor_table, wake_outcome->poll)->step;
    }
    if (wake_outcome->root_cause != SIM_EVENT_NONE) {
        steps[count++] =
                sim_actor_table_event(&telling->actor_table, wake_outcome->root_cause)->step;
    }
    return sim_columns_put(
            telling->page, &telling->actor_table, telling->outcome, steps, count, rows_max);
}

static void
why(struct sim__telling *telling)
{
    if (!telling->page->flat) {
        sim_page_put(&telling->line, "Why: ");
    }
    sim__tell_why(telling);
    if (telling->outcome->verdict != SIM_VERDICT_PASS) {
        const char *name = sim_verdict_name(telling->outcome->verdict);
        const char *article = strchr("aeiou", name[0]) != NULL ? "an" : "a";
        sim_page_printf(&telling->line, "What %s %s is: ", article, name);
        sim__put_kind(telling);
        sim_page_put(&telling->line, ".");
        sim__end_line(telling, 0);
    }
}

rt_err
sim_tell_headline(struct sim_page *page, const struct sim_tale *tale)
{
    struct sim__telling telling;
    rt_err err = begin(&telling, page, tale);
    if (err != RT_OK) {
        return err;
    }
    headline(&telling);
    return end(&telling);
}

rt_err
sim_tell_columns(struct sim_page *page, const struct sim_tale *tale)
{
    struct sim__telling telling;
    rt_err err = begin(&telling, page, tale);
    if (err != RT_OK) {
        return err;
    }
    err = columns(&telling, tale->rows_max);
    rt_err ended = end(&telling);
    return err != RT_OK ? err : ended;
}

rt_err
sim_tell_why(struct sim_page *page, const struct sim_tale *tale)
{
    struct sim__telling telling;
    rt_err err = begin(&telling, page, tale);
    if (err != RT_OK) {
        return err;
    }
    why(&telling);
    return end(&telling);
}

rt_err
sim_tell_ledger(struct sim_page *page, const struct sim_tale *tale)
{
    struct sim__telling telling;
    rt_err err = begin(&telling, page, tale);
    if (err != RT_OK) {
        return err;
    }
    sim_ledger_put(&telling.ledger, page, SIM_PART_NONE, tale->rows_max);
    return end(&telling);
}

void
sim_tell_commands(struct sim_page *page, const struct sim_tale *tale)
{
    rt_assert(page != NULL);
    if (tale->replay != NULL) {
        sim_page_printf(page, "replay: %s\n", tale->replay);
    }
    if (tale->show != NULL) {
        sim_page_printf(page, "show:   %s\n", tale->show);
    }
    if (tale->debug != NULL && tale->outcome->stack.count > 0) {
        sim_page_printf(page, "debug:  %s\n", tale->debug);
    }
}

rt_err
sim_tell(struct sim_page *page, const struct sim_tale *tale)
{
    struct sim__telling telling;
    rt_err err = begin(&telling, page, tale);
    if (err != RT_OK) {
        return err;
    }
    headline(&telling);
    sim_page_put(page, "\n");
    err = columns(&telling, tale->rows_max);
    sim_page_put(page, "\n");
    why(&telling);
    if (tale->replay != NULL || tale->show != NULL) {
        sim_page_put(page, "\n");
    }
    sim_tell_commands(page, tale);
    rt_err ended = end(&telling);
    return err != RT_OK ? err : ended;
}

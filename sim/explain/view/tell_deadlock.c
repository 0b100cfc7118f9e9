/*
 * tell_deadlock.c -- everybody sleeps: who waits for what, and what was tried.
 *
 * Only what was done is claimed. A task can be polled once more; a loop, code on a
 * fiber, cannot: a wake that was lost inside one looks like a deadlock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/explain/view/tell_priv.h"

#define NAMED_IN_HEADLINE 3u
#define LISTED 12u
#define WAITS_LISTED 4u
#define EMPTY_TOLD 3u

/* ---- Loops. ---------------------------------------------------------------------------------- */

/* The loop has blocked in the host, or is waited for: one that the world drives never is. */
static bool
is_own_loop(const struct sim__telling *telling, uint32_t part)
{
    const struct sim_actor_table *actor_table = &telling->actor_table;
    if (actor_table->parts[part].kind != SIM_ACTOR_LOOP) {
        return false;
    }
    if (part == telling->wake_outcome.part ||
            sim_actor_table_waits_for(&telling->actor_table, part) != NULL) {
        return true;
    }
    for (uint64_t i = actor_table->first; i < telling->wake_outcome.horizon; i++) {
        if (sim_actor_table_event(actor_table, i)->kind == SIM_EVENT_BLOCK &&
                sim_actor_table_part_of(actor_table, i) == part) {
            return true;
        }
    }
    return false;
}

/* A loop that the world drives has no wait of its own: it is there for others. */
static bool
is_idle_loop(const struct sim__telling *telling, uint32_t part)
{
    return telling->actor_table.parts[part].kind == SIM_ACTOR_LOOP && !is_own_loop(telling, part) &&
           sim_ledger_open_of(&telling->ledger, part, NULL) == NULL;
}

/* The step in which a loop was seen last; 0: none. */
static uint64_t
last_step(const struct sim__telling *telling, uint32_t part)
{
    const struct sim_actor_table *actor_table = &telling->actor_table;
    for (uint64_t i = telling->wake_outcome.horizon; i-- > actor_table->first;) {
        if (sim_actor_table_event(actor_table, i)->kind == SIM_EVENT_STEP &&
                sim_actor_table_part_of(actor_table, i) == part) {
            return sim_actor_table_event(actor_table, i)->step;
        }
    }
    return 0;
}

/* "mail since step 14 (875us)" */
static void
put_said(struct sim__telling *telling, uint32_t part)
{
    const char *said = sim_actor_table_waits_for(&telling->actor_table, part);
    uint64_t block =
            sim_actor_table_blocked(&telling->actor_table, part, telling->wake_outcome.horizon);
    if (said != NULL) {
        sim_page_clean(&telling->line, said);
    } else if (block != SIM_EVENT_NONE) {
        sim_actor_table_put_wanted(&telling->actor_table, &telling->line,
                sim_actor_table_event(&telling->actor_table, block)->object, NULL, part);
    } else {
        sim_page_put(&telling->line, "nothing on record");
    }
    uint64_t step = last_step(telling, part);
    if (step != 0) {
        sim_page_put(&telling->line, " since ");
        sim__put_step(telling, step);
    }
}

/* ---- The first sentence. --------------------------------------------------------------------- */

/* "`client` waits for the reply since step 3 (2us)", after NAMED_IN_HEADLINE only counted. */
static void
name(struct sim__telling *telling, uint32_t part, uint32_t *named)
{
    const struct sim_wait *wait = NULL;
    bool open = sim_ledger_open_of(&telling->ledger, part, NULL) != NULL;
    if (!sim__is_left(telling, part) || (!open && !is_own_loop(telling, part)) ||
            (*named)++ >= NAMED_IN_HEADLINE) {
        return;
    }
    sim_page_put(&telling->line, *named == 1 ? "" : "; ");
    sim__put_who(telling, part);
    sim_page_put(&telling->line, " waits for ");
    if (!sim__put_waiting(telling, part, &wait)) {
        put_said(telling, part);
    }
}

void
sim__head_deadlock(struct sim__telling *telling)
{
    uint32_t first = telling->wake_outcome.part;
    uint32_t named = 0;
    sim_page_put(&telling->line,
            telling->went_on ? "no task makes progress: " : "no task can make progress: ");
    if (first != SIM_PART_NONE && first != 0) {
        name(telling, first, &named);
    }
    for (uint32_t part = 1; part < telling->actor_table.count; part++) {
        if (part != first) {
            name(telling, part, &named);
        }
    }
    if (named == 0) {
        sim_page_put(&telling->line, "no record says what it waits for");
    } else if (named > NAMED_IN_HEADLINE) {
        sim_page_printf(&telling->line, "; and %u more", named - NAMED_IN_HEADLINE);
    }
    sim_page_put(&telling->line, ".");
}

/* ---- Who waits. ----------------------------------------------------------------------------- */

/* "the reply since step 3 (2us) at …, and for a timer since …, and more" */
static void
put_waits(struct sim__telling *telling, uint32_t part)
{
    const struct sim_wait *wait = NULL;
    uint32_t count = 0;
    if (!sim__put_waiting(telling, part, &wait)) {
        put_said(telling, part);
        return;
    }
    do {
        sim__put_at(telling, wait->await, wait->site);
        count++;
        if (sim__next_wait(telling, part, wait) == NULL) {
            return;
        }
        sim_page_put(&telling->line, count == WAITS_LISTED ? ", and for more" : ", and for ");
    } while (count < WAITS_LISTED && sim__put_waiting(telling, part, &wait));
}

void
sim__list_waits(struct sim__telling *telling)
{
    uint32_t listed = 0;
    uint32_t more = 0;
    for (uint32_t part = 1; part < telling->actor_table.count; part++) {
        if (!sim__is_left(telling, part) || is_idle_loop(telling, part)) {
            continue;
        }
        if (listed == LISTED) {
            more++;
            continue;
        }
        sim_page_put(&telling->line, "- ");
        sim__put_who(telling, part);
        sim_page_put(&telling->line, " waits for ");
        put_waits(telling, part);
        sim__end_line(telling, 2);
        listed++;
    }
    if (more > 0) {
        sim_page_printf(&telling->line, "- and %u more", more);
        sim__end_line(telling, 2);
    }
}

/* The last wake of an empty place by `part` since it began to wait, where somebody had waited
 * before; SIM_EVENT_NONE. */
static uint64_t
woke_empty(const struct sim__telling *telling, uint32_t part)
{
    const struct sim_actor_table *actor_table = &telling->actor_table;
    const struct sim_wait *wait = sim__next_wait(telling, part, NULL);
    uint64_t from = wait != NULL && wait->unknown == 0
                            ? sim_actor_table_step_first(actor_table, wait->store_step)
                            : SIM_EVENT_NONE;
    for (uint64_t i = telling->wake_outcome.horizon; i-- > from;) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->kind == RT_PROBE_FIRE_EMPTY && sim_actor_table_part_of(actor_table, i) == part &&
                sim_wake_outcome_last_in(&telling->ledger, event->object, i) != NULL) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* "At step 21 (3ms) `client` woke the empty slot "a job"; the last waker in there …" */
static void
tell_empty(struct sim__telling *telling)
{
    const struct sim_actor_table *actor_table = &telling->actor_table;
    uint32_t told = 0;
    for (uint32_t part = 1; part < actor_table->count && told < EMPTY_TOLD; part++) {
        uint64_t at = sim__is_left(telling, part) ? woke_empty(telling, part) : SIM_EVENT_NONE;
        if (at == SIM_EVENT_NONE) {
            continue;
        }
        const struct sim_event *event = sim_actor_table_event(actor_table, at);
        const struct sim_wait *last = sim_wake_outcome_last_in(&telling->ledger, event->object, at);
        sim_page_put(&telling->line, event->step != 0 ? "At " : "From ");
        sim__put_step(telling, event->step);
        sim_page_put(&telling->line, " ");
        sim__put_who(telling, part);
        sim_page_put(&telling->line, " woke the empty slot ");
        sim_actor_table_put_object(actor_table, &telling->line, event->object, SIM_PART_NONE);
        sim__put_last_waker(telling, last);
        sim_page_put(&telling->line, ".");
        if (last->part != 0 && actor_table->parts[last->part].finished) {
            sim_page_put(&telling->line, " ");
            sim__put_who(telling, last->part);
            sim_page_put(&telling->line, " has finished.");
        }
        sim__end_line(telling, 0);
        told++;
    }
}

/* Whom `part` waits for to finish; SIM_PART_NONE. */
static uint32_t
joins(const struct sim__telling *telling, uint32_t part)
{
    const struct sim_wait *wait = NULL;
    do {
        wait = sim_ledger_open_of(&telling->ledger, part, wait);
        uint32_t joined = wait != NULL ? sim_actor_table_object(&telling->actor_table, wait->object)
                                       : SIM_PART_NONE;
        if (joined != SIM_PART_NONE && sim__is_left(telling, joined)) {
            return joined;
        }
    } while (wait != NULL);
    return SIM_PART_NONE;
}

/* "`a` waits for `b`, which waits for `a`", where tasks wait for each other's end. */
static void
tell_circle(struct sim__telling *telling)
{
    for (uint32_t start = 1; start < telling->actor_table.count; start++) {
        uint32_t length = 0;
        uint32_t part = start;
        do {
            part = sim__is_left(telling, part) ? joins(telling, part) : SIM_PART_NONE;
            length++;
        } while (part != SIM_PART_NONE && part != start && length < LISTED);
        if (part != start) {
            continue;
        }
        sim_page_put(&telling->line, "They wait in a cycle: ");
        sim__put_who(telling, start);
        for (uint32_t i = 0; i < length; i++) {
            part = joins(telling, part);
            sim_page_put(&telling->line, i == 0 ? " waits for " : ", which waits for ");
            sim__put_who(telling, part);
        }
        sim_page_put(&telling->line, ".");
        sim__end_line(telling, 0);
        return;
    }
}

/* ---- What was tried. ------------------------------------------------------------------------- */

/* "`a`, `b`" of the loops that are left; returns how many. */
static uint32_t
put_loops(struct sim__telling *telling)
{
    uint32_t count = 0;
    for (uint32_t part = 1; part < telling->actor_table.count; part++) {
        if (!sim__is_left(telling, part) || !is_own_loop(telling, part)) {
            continue;
        }
        if (count < LISTED) {
            sim_page_put(&telling->line, count == 0 ? "" : ", ");
            sim__put_who(telling, part);
        }
        count++;
    }
    return count;
}

static void
tell_loops(struct sim__telling *telling)
{
    uint32_t count = put_loops(telling);
    if (count == 0) {
        return;
    }
    sim_page_put(&telling->line,
            count == 1 ? " is a loop of the program: it cannot be polled, only its host can be "
                         "made to report again; a wake lost inside it looks like this too."
                       : " are loops of the program: they cannot be polled, only their host can be "
                         "made to report again; a wake lost inside one looks like this too.");
    sim__end_line(telling, 0);
}

static bool
is_left_of(const struct sim__telling *telling, bool loops)
{
    for (uint32_t part = 1; part < telling->actor_table.count; part++) {
        bool loop = telling->actor_table.parts[part].kind == SIM_ACTOR_LOOP;
        if (sim__is_left(telling, part) && loop == loops && !is_idle_loop(telling, part)) {
            return true;
        }
    }
    return false;
}

/* Where the answer stands elsewhere, the judge's questions are only why it is called a deadlock. */
static void
end_tried(struct sim__telling *telling, bool loops)
{
    if (telling->went_on) {
        sim_page_put(&telling->line, ", so the verdict is deadlock and not lost-wakeup. In a "
                                     "replay with the above put right a task made progress.");
        sim__end_line(telling, 0);
        return;
    }
    sim_page_put(&telling->line,
            loops ? "."
                  : ": no poll and no report is missing, but something was never done (a permit "
                    "granted, a message sent, a lock released).");
    sim__end_line(telling, 0);
    tell_loops(telling);
}

static void
tell_tried(struct sim__telling *telling)
{
    struct sim_page *line = &telling->line;
    bool tasks = is_left_of(telling, false);
    bool loops = is_left_of(telling, true);
    if (tasks || !loops) {
        sim_page_printf(line,
                "In replays each %s was polled once more, the host reported everything ready "
                "again, and then all were polled in turn, up to 64 rounds; none made progress",
                loops ? "task" : "blocked task");
    } else {
        sim_page_put(line,
                "In a replay the host reported everything ready again; no task made progress");
    }
    end_tried(telling, loops);
}

void
sim__why_deadlock(struct sim__telling *telling)
{
    bool known = is_left_of(telling, false) || is_left_of(telling, true);
    sim_page_put(&telling->line, "no actor can run, no timer is running, no host event is pending, "
                                 "and all that are left are blocked");
    sim_page_put(&telling->line, known ? ":" : ".");
    sim__end_line(telling, 0);
    sim__list_waits(telling);
    tell_circle(telling);
    tell_empty(telling);
    tell_tried(telling);
}

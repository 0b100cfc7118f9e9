/*
 * diff.c -- the first divergence of two runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/view/diff.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/record/outcome.h"
#include "sim/explain/view/actor_table.h"
#include "sim/explain/view/phrase.h"

#define STEPS_BEFORE 4u

static uint64_t
smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The first chunk whose hash differs, or the number of chunks that both have in full. */
static uint64_t
same_chunks(const struct sim_recorder *a, const struct sim_recorder *b)
{
    uint64_t chunks = smaller(a->hashes, b->hashes);
    /* The hash of the last chunk may be that of a shorter one. */
    chunks = smaller(chunks, smaller(a->count, b->count) / SIM_CHUNK);
    uint64_t i = 0;
    while (i < chunks && a->memory.hashes[i] == b->memory.hashes[i]) {
        i++;
    }
    return i;
}

static bool
same_event(const struct sim_event *a, const struct sim_event *b)
{
    return a->step == b->step && a->cause == b->cause && a->object == b->object &&
           a->site == b->site && a->await == b->await && a->actor == b->actor &&
           a->kind == b->kind && a->flags == b->flags && a->argument == b->argument;
}

void
sim_diff_find(const struct sim_recorder *a, const struct sim_recorder *b,
        struct sim_difference *ret_difference)
{
    rt_assert(a != NULL && b != NULL);
    rt_assert(ret_difference != NULL);
    uint64_t from = same_chunks(a, b) * SIM_CHUNK;
    uint64_t end = smaller(a->count, b->count);
    *ret_difference = (struct sim_difference){.from = from, .to = from + SIM_CHUNK};
    for (uint64_t i = from; i < end; i++) {
        const struct sim_event *in_a = sim_recorder_event(a, i);
        const struct sim_event *in_b = sim_recorder_event(b, i);
        if (in_a == NULL || in_b == NULL) {
            ret_difference->kind = SIM_DIFF_LOST;
            return;
        }
        if (!same_event(in_a, in_b)) {
            ret_difference->kind = SIM_DIFF_EVENT;
            ret_difference->event = i;
            return;
        }
    }
    ret_difference->event = end;
    ret_difference->kind = a->count != b->count ? SIM_DIFF_ENDS : SIM_DIFF_SAME;
}

/* ---- In words. ------------------------------------------------------------------------------- */

/* An event without words is described by its name, so that no difference is invisible. */
static void
put_event(const struct sim_actor_table *actor_table, struct sim_page *line, uint64_t index)
{
    const struct sim_event *event = sim_actor_table_event(actor_table, index);
    sim_page_printf(line, "step %u, ", event->step);
    sim_actor_table_put_part(actor_table, line, sim_actor_table_part_of(actor_table, index));
    sim_page_put(line, ": ");
    if (!sim_phrase_put(actor_table, line, index)) {
        sim_page_put(line, sim_event_name(event->kind));
        if (event->kind == SIM_EVENT_END) {
            sim_page_printf(line, " (%s)", sim_verdict_name((uint32_t)event->argument));
        }
        if (event->kind == SIM_EVENT_STEP || event->kind == SIM_EVENT_CLOCK) {
            sim_page_put(line, " at ");
            sim_page_time(line, event->argument);
        }
    }
    struct sim_page place;
    sim_page_init(&place, false);
    if (sim_actor_table_put_place(&place, event->await, event->site)) {
        sim_page_printf(line, " at %s", sim_page_text(&place));
    }
    sim_page_fini(&place);
}

/* Names the field in which they differ, where the words may be the same. */
static void
put_fields(struct sim_page *line, const struct sim_event *a, const struct sim_event *b)
{
    const struct {
        const char *name;
        uint64_t a;
        uint64_t b;
    } fields[] = {
            {"kind", a->kind, b->kind},
            {"actor", a->actor, b->actor},
            {"step", a->step, b->step},
            {"object", a->object, b->object},
            {"argument", a->argument, b->argument},
            {"cause", a->cause, b->cause},
            {"line", a->site, b->site},
            {"awaiting line", a->await, b->await},
            {"flags", a->flags, b->flags},
    };
    const char *comma = "They differ in: ";
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (fields[i].a != fields[i].b) {
            sim_page_printf(line, "%s%s", comma, fields[i].name);
            if (fields[i].a <= UINT32_MAX && fields[i].b <= UINT32_MAX && i > 1 && i != 3 &&
                    i < 6) {
                sim_page_printf(line, " (%llu, %llu)", (unsigned long long)fields[i].a,
                        (unsigned long long)fields[i].b);
            }
            comma = ", ";
        }
    }
    sim_page_put(line, ".");
}

static void
end_line(struct sim_page *page, struct sim_page *line, uint32_t indent)
{
    sim_page_wrap(page, sim_page_text(line), indent, indent + 2, sim_page_width(page));
    sim_page_clear(line);
}

/* The steps before the event at which they part; the same in both. There is at least one. */
static void
put_before(struct sim_page *page, struct sim_page *line, const struct sim_actor_table *actor_table,
        uint64_t event)
{
    uint64_t last = sim_actor_table_event(actor_table, event - 1)->step;
    uint64_t step = last > STEPS_BEFORE ? last - STEPS_BEFORE + 1 : 1;
    sim_page_put(page, "Before that, in both:\n");
    for (; step <= last; step++) {
        uint64_t first = sim_actor_table_step_first(actor_table, step);
        if (first == SIM_EVENT_NONE || first >= event) {
            continue;
        }
        sim_page_printf(line, "step %llu, ", (unsigned long long)step);
        sim_actor_table_put_part(actor_table, line, sim_phrase_whose_step(actor_table, step));
        sim_page_put(line, ": ");
        if (!sim_phrase_put_step(actor_table, line, step, event)) {
            sim_page_put(line, "begins");
        }
        end_line(page, line, 2);
    }
}

static void
put_event_or_end(struct sim_page *line, const struct sim_actor_table *actor_table, uint64_t event)
{
    if (event >= actor_table->end) {
        sim_page_put(line, "the run has ended");
    } else if (event >= actor_table->first) {
        put_event(actor_table, line, event);
    }
}

static void
put_side(struct sim_page *page, struct sim_page *line, const struct sim_actor_table *actor_table,
        const char *name, uint64_t event)
{
    sim_page_clean(line, name);
    sim_page_put(line, ": ");
    put_event_or_end(line, actor_table, event);
    end_line(page, line, 2);
}

static void
put_lost(struct sim_page *line, const struct sim_difference *difference)
{
    sim_page_printf(line,
            "The runs diverge somewhere in events %llu to %llu; these were not kept. Replay both "
            "with more capacity for events, or with a smaller scenario.",
            (unsigned long long)difference->from, (unsigned long long)difference->to - 1);
}

static void
put_parting(struct sim_page *page, struct sim_page *line, const struct sim_difference *difference,
        const struct sim_actor_table *a, const char *name_a, const struct sim_actor_table *b,
        const char *name_b)
{
    uint64_t event = difference->event;
    const struct sim_actor_table *longer = a->end > event ? a : b;
    if (event == 0) {
        sim_page_put(page, "They differ from the first event on:\n");
    } else if (event <= longer->first || sim_actor_table_event(longer, event - 1)->step == 0) {
        sim_page_printf(page,
                "The first difference is event %llu; in common is only what was set "
                "up before the first step:\n",
                (unsigned long long)event);
    } else {
        sim_page_printf(page, "The first difference is event %llu.\n", (unsigned long long)event);
        put_before(page, line, longer, event);
        sim_page_put(page, "Then:\n");
    }
    put_side(page, line, a, name_a, event);
    put_side(page, line, b, name_b, event);
    if (difference->kind == SIM_DIFF_EVENT) {
        put_fields(line, sim_actor_table_event(a, event), sim_actor_table_event(b, event));
        end_line(page, line, 0);
    }
}

void
sim_diff_put(struct sim_page *page, const struct sim_recorder *a, const char *name_a,
        const struct sim_recorder *b, const char *name_b)
{
    rt_assert(page != NULL);
    rt_assert(name_a != NULL && name_b != NULL);
    struct sim_difference difference;
    struct sim_actor_table actor_table_a;
    struct sim_actor_table actor_table_b;
    struct sim_page line;
    sim_diff_find(a, b, &difference);
    sim_actor_table_make(&actor_table_a, a);
    sim_actor_table_make(&actor_table_b, b);
    sim_page_init(&line, false);
    if (difference.kind == SIM_DIFF_SAME) {
        sim_page_printf(&line, "The runs are the same: %llu events.", (unsigned long long)a->count);
        end_line(page, &line, 0);
    } else if (difference.kind == SIM_DIFF_LOST) {
        put_lost(&line, &difference);
        end_line(page, &line, 0);
    } else {
        put_parting(page, &line, &difference, &actor_table_a, name_a, &actor_table_b, name_b);
    }
    sim_page_fini(&line);
    sim_actor_table_free(&actor_table_a);
    sim_actor_table_free(&actor_table_b);
}

void
sim_diff_put_event(struct sim_page *page, const struct sim_recorder *run, uint64_t event)
{
    rt_assert(page != NULL);
    struct sim_actor_table actor_table;
    sim_actor_table_make(&actor_table, run);
    put_event_or_end(page, &actor_table, event);
    sim_actor_table_free(&actor_table);
}

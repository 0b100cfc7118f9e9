/*
 * until.c -- cutting the recording off behind a step, and printing what is left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/step/until.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/explain/view/columns.h"
#include "sim/explain/view/phrase.h"

#define WHO_MIN 8u
#define WHO_MAX 24u
#define WHAT_WIDTH 44u
/* Step and time, in front. */
#define FRONT 16u

/* Behind the last event of `step`. Its tail may tell how the run was closed: that comes later. */
static uint64_t
end_of(const struct sim_recorder *recorder, uint64_t step)
{
    rt_assert(recorder != NULL);
    uint64_t reported = sim_recorder_run_end(recorder);
    for (uint64_t i = sim_recorder_first(recorder); i < reported; i++) {
        const struct sim_event *event = sim_recorder_event(recorder, i);
        if (event->step > step || (event->step == step && event->kind == SIM_EVENT_CLOCK)) {
            return i;
        }
    }
    return reported;
}

/* ---- One line an event. ---------------------------------------------------------------------- */

struct verbose {
    const struct sim_actor_table *actor_table;
    struct sim_page *page;
    struct sim_page line;
    struct sim_page what;
    uint32_t who_width;
    uint32_t shown_step;
};

static uint32_t
widest_name(const struct sim_actor_table *actor_table)
{
    uint32_t widest = WHO_MIN;
    struct sim_page name;
    sim_page_init(&name, false);
    for (uint32_t i = 0; i < actor_table->count; i++) {
        sim_page_clear(&name);
        sim_actor_table_put_part(actor_table, &name, i);
        uint32_t width = sim_text_width(sim_page_text(&name), name.length);
        widest = width > widest ? width : widest;
    }
    sim_page_fini(&name);
    return widest < WHO_MAX ? widest : WHO_MAX;
}

static void
put_front(struct verbose *verbose, const struct sim_event *event)
{
    uint64_t ns = 0;
    bool again = event->step == verbose->shown_step;
    if (again || event->step == 0) {
        sim_page_fill(verbose->page, ' ', FRONT);
        return;
    }
    verbose->shown_step = event->step;
    sim_page_clear(&verbose->line);
    if (sim_actor_table_step_time(verbose->actor_table, event->step, &ns)) {
        sim_page_time(&verbose->line, ns);
    }
    sim_page_printf(verbose->page, "%4u %9s  ", event->step, sim_page_text(&verbose->line));
}

static void
put_who(struct verbose *verbose, uint64_t event)
{
    rt_assert(event < verbose->actor_table->end);
    sim_page_clear(&verbose->line);
    sim_actor_table_put_part(verbose->actor_table, &verbose->line,
            sim_actor_table_part_of(verbose->actor_table, event));
    const char *name = sim_page_text(&verbose->line);
    size_t fits = sim_text_fit(name, strlen(name), verbose->who_width);
    sim_page_add(verbose->page, name, fits);
    sim_page_fill(verbose->page, ' ', verbose->who_width - sim_text_width(name, fits) + 2);
}

/* Whether a line of source tells the reader anything: all polls come from one line. */
static bool
has_place(const struct sim_event *event)
{
    return event->kind != RT_PROBE_POLL && event->kind != RT_PROBE_POLLED;
}

/* The words, and behind them the place, below them where both do not fit. */
static void
put_what(struct verbose *verbose, const struct sim_event *event)
{
    rt_assert(event->kind != SIM_EVENT_CLOCK);
    uint32_t indent = FRONT + verbose->who_width + 2;
    sim_page_clear(&verbose->line);
    if (has_place(event) && sim_actor_table_put_place(&verbose->line, event->await, event->site)) {
        const char *what = sim_page_text(&verbose->what);
        uint32_t width = sim_text_width(what, strlen(what));
        sim_page_fill(&verbose->what, ' ', width < WHAT_WIDTH ? WHAT_WIDTH - width : 1);
        sim_page_printf(&verbose->what, "  %s", sim_page_text(&verbose->line));
    }
    const char *text = sim_page_text(&verbose->what);
    if (sim_text_width(text, strlen(text)) + indent <= sim_page_width(verbose->page)) {
        sim_page_put(verbose->page, text);
        sim_page_put(verbose->page, "\n");
    } else {
        sim_page_wrap(verbose->page, text, 0, indent, sim_page_width(verbose->page) - indent);
    }
}

static void
put_clock(struct verbose *verbose, const struct sim_event *event)
{
    rt_assert(event->kind == SIM_EVENT_CLOCK);
    sim_page_fill(verbose->page, ' ', 5);
    sim_page_put(verbose->page, "~~~ all wait; it becomes ");
    sim_page_time(verbose->page, event->argument);
    sim_page_put(verbose->page, " ~~~\n");
}

static void
put_event(struct verbose *verbose, uint64_t index)
{
    rt_assert(index < verbose->actor_table->end);
    const struct sim_event *event = sim_actor_table_event(verbose->actor_table, index);
    if (event->kind == SIM_EVENT_CLOCK) {
        put_clock(verbose, event);
        return;
    }
    sim_page_clear(&verbose->what);
    if (sim_phrase_put(verbose->actor_table, &verbose->what, index)) {
        put_front(verbose, event);
        put_who(verbose, index);
        put_what(verbose, event);
    }
}

static void
put_verbose(struct sim_page *page, const struct sim_actor_table *actor_table)
{
    rt_assert(actor_table->first <= actor_table->end);
    struct verbose verbose = {.actor_table = actor_table,
            .page = page,
            .who_width = widest_name(actor_table),
            .shown_step = 0};
    sim_page_init(&verbose.line, false);
    sim_page_init(&verbose.what, false);
    sim_page_printf(page, "step %9s  %-*s  what\n", "time", (int)verbose.who_width, "who");
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        put_event(&verbose, i);
    }
    sim_page_fini(&verbose.line);
    sim_page_fini(&verbose.what);
}

void
sim_until_print(
        struct sim_page *page, const struct sim_recorder *recorder, uint64_t step, bool verbose)
{
    rt_assert(page != NULL);
    rt_assert(recorder != NULL);
    struct sim_recorder cut = *recorder;
    struct sim_actor_table actor_table;
    if (sim_recorder_first(recorder) > 0) {
        /* Where a cut ring begins is not known. */
        sim_page_printf(page,
                "the run has so many events that the first %llu of them are lost; --step shows one "
                "step\n",
                (unsigned long long)sim_recorder_first(recorder));
        return;
    }
    /* What lies behind is not looked at; names that were given later do no harm. */
    cut.count = end_of(recorder, step);
    cut.over = cut.count;
    sim_actor_table_make(&actor_table, &cut);
    if (verbose) {
        put_verbose(page, &actor_table);
    } else {
        sim_columns_put(page, &actor_table, NULL, NULL, 0, 0);
    }
    sim_actor_table_free(&actor_table);
}

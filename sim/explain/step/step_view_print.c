/*
 * step_view_print.c -- a step in words: its actor, the alternatives, and the state of all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/explain/step/step_view.h"
#include "sim/explain/view/phrase.h"

/* More than so many who have finished, or never began, are counted only. */
#define NAME_MAX_WIDTH 24u

struct printer {
    const struct sim_step_view *view;
    struct sim_actor_table actor_table;
    struct sim_page *page;
    struct sim_page line;
};

static void
flush(struct printer *printer, uint32_t first, uint32_t indent)
{
    sim_page_wrap(printer->page, sim_page_text(&printer->line), first, indent,
            sim_page_width(printer->page));
    sim_page_clear(&printer->line);
}

static void
put_actor(struct printer *printer, uint32_t actor)
{
    uint32_t part = sim_actor_table_actor(&printer->actor_table, actor);
    if (part == SIM_PART_NONE) {
        sim_page_printf(&printer->line, "actor %u", actor);
    } else {
        sim_actor_table_put_part(&printer->actor_table, &printer->line, part);
    }
}

/* ---- The step. ------------------------------------------------------------------------------- */

static void
put_head(struct printer *printer, uint64_t steps)
{
    rt_assert(printer->view->taken);
    const struct sim_step_view *view = printer->view;
    sim_page_printf(&printer->line, "step %llu of %llu", (unsigned long long)view->step,
            (unsigned long long)steps);
    uint64_t at_ns = view->now_ns;
    (void)sim_actor_table_step_time(&printer->actor_table, view->step, &at_ns);
    sim_page_put(&printer->line, ", at ");
    sim_page_time(&printer->line, at_ns);
    sim_page_put(&printer->line, ": ");
    uint32_t part = sim_phrase_whose_step(&printer->actor_table, view->step);
    if (part == SIM_PART_NONE) {
        put_actor(printer, view->actor);
    } else {
        sim_actor_table_put_part(&printer->actor_table, &printer->line, part);
    }
    sim_page_put(&printer->line, ": ");
    if (!sim_phrase_put_step(&printer->actor_table, &printer->line, view->step, SIM_EVENT_NONE)) {
        sim_page_put(&printer->line, "nothing on record");
    }
    flush(printer, 0, 4);
}

static const struct sim_answered *
first_of_who_runs(const struct sim_step_view *view)
{
    rt_assert(view->choice_count <= SIM_STEP_VIEW_CHOICES);
    for (uint32_t i = 0; i < view->choice_count; i++) {
        if (view->choices[i].kind == SIM_KIND_RUN && view->choices[i].actors[0] != UINT32_MAX) {
            return &view->choices[i];
        }
    }
    return NULL;
}

static void
put_who_could(struct printer *printer, const struct sim_answered *answered)
{
    rt_assert(answered == NULL || answered->n <= SIM_ALTERNATIVES_MAX);
    if (answered == NULL) {
        sim_page_put(printer->page, "no other actor could have taken it\n");
        return;
    }
    sim_page_printf(&printer->line,
            "the actor to run was chosen from %u, the one ready longest first (alternative 0, the "
            "baseline):",
            answered->n);
    flush(printer, 0, 4);
    for (uint32_t i = 0; i < answered->n; i++) {
        sim_page_printf(&printer->line, "%s %2u ", i == answered->index ? "->" : "  ", i);
        put_actor(printer, answered->actors[i]);
        sim_page_put(printer->page, "  ");
        sim_page_put(printer->page, sim_page_text(&printer->line));
        sim_page_put(printer->page, "\n");
        sim_page_clear(&printer->line);
    }
}

static void
put_other_choices(struct printer *printer, const struct sim_answered *who)
{
    rt_assert(printer->view->choice_count <= SIM_STEP_VIEW_CHOICES);
    uint32_t put = 0;
    for (uint32_t i = 0; i < printer->view->choice_count; i++) {
        const struct sim_answered *answered = &printer->view->choices[i];
        if (answered == who) {
            continue;
        }
        sim_page_printf(&printer->line, "%s%s: alternative %u of 0 to %u",
                put++ == 0 ? "also chosen: " : "; ", sim_kind_name(answered->kind), answered->index,
                answered->n - 1);
    }
    if (put > 0) {
        if (printer->view->choice_count == SIM_STEP_VIEW_CHOICES) {
            sim_page_put(&printer->line, "; and more");
        }
        flush(printer, 0, 4);
    }
}

/* ---- How all actors stand. ------------------------------------------------------------------- */

static void
put_since(struct printer *printer, uint64_t step)
{
    if (step == 0) {
        sim_page_put(&printer->line, " since the start");
    } else {
        sim_page_printf(&printer->line, " since step %llu", (unsigned long long)step);
    }
}

static void
put_waits(struct printer *printer, const struct sim_actor_state *state)
{
    rt_assert(state->actor > 0);
    uint32_t part = sim_actor_table_actor(&printer->actor_table, state->actor);
    for (uint32_t i = 0; i < state->wait_count && i < SIM_STEP_VIEW_WAITS; i++) {
        const char *reason = state->waits[i].reason;
        sim_page_put(&printer->line, i == 0 ? ", waits for " : " and ");
        sim_actor_table_put_wanted(&printer->actor_table, &printer->line, state->waits[i].object,
                reason[0] != '\0' ? reason : NULL, part);
        sim_page_put(&printer->line, " at ");
        if (!sim_actor_table_put_place(&printer->line, state->waits[i].site, 0)) {
            sim_page_put(&printer->line, "an unknown line");
        }
    }
    if (state->wait_count > SIM_STEP_VIEW_WAITS) {
        sim_page_printf(&printer->line, " and %u more", state->wait_count - SIM_STEP_VIEW_WAITS);
    }
}

static void
put_state(struct printer *printer, const struct sim_actor_state *state)
{
    rt_assert(state->actor > 0);
    if (state->done) {
        sim_page_put(&printer->line, "has finished");
    } else if (state->enabled) {
        sim_page_put(&printer->line, "ready");
        put_since(printer, state->since_step);
    } else if (state->kind == SIM_ACTOR_TASK || state->wait_count > 0) {
        sim_page_put(&printer->line, state->steps == 0 ? "not begun" : "blocked");
        if (state->steps > 0) {
            put_since(printer, state->since_step);
        }
        put_waits(printer, state);
    } else {
        sim_page_put(&printer->line, "idle");
    }
    if (state->due_ns != SIM_NEVER && !state->done) {
        sim_page_put(&printer->line, ", due at ");
        sim_page_time(&printer->line, state->due_ns);
    }
    if (state->background && !state->done) {
        sim_page_put(&printer->line, " (background)");
    }
}

static uint32_t
name_width(struct printer *printer)
{
    rt_assert(printer->view->actor_count <= SIM_STEP_VIEW_ACTORS);
    uint32_t width = 0;
    for (uint32_t i = 0; i < printer->view->actor_count; i++) {
        put_actor(printer, printer->view->actors[i].actor);
        const char *name = sim_page_text(&printer->line);
        uint32_t this = sim_text_width(name, strlen(name));
        width = this > width ? this : width;
        sim_page_clear(&printer->line);
    }
    return width < NAME_MAX_WIDTH ? width : NAME_MAX_WIDTH;
}

static void
put_actors(struct printer *printer)
{
    rt_assert(printer->view->actor_count <= SIM_STEP_VIEW_ACTORS);
    uint32_t width = name_width(printer);
    for (uint32_t i = 0; i < printer->view->actor_count; i++) {
        put_actor(printer, printer->view->actors[i].actor);
        const char *name = sim_page_text(&printer->line);
        uint32_t this = sim_text_width(name, strlen(name));
        sim_page_fill(&printer->line, ' ', (this < width ? width - this : 0) + 2);
        put_state(printer, &printer->view->actors[i]);
        /* Wrapping would take out the blanks that align it. */
        const char *text = sim_page_text(&printer->line);
        size_t front = sim_text_fit(text, strlen(text), width + 2);
        sim_page_put(printer->page, "  ");
        sim_page_add(printer->page, text, front);
        sim_page_wrap(printer->page, text + front, 0, width + 4,
                sim_page_width(printer->page) - width - 4);
        sim_page_clear(&printer->line);
    }
    if (printer->view->more > 0) {
        sim_page_printf(printer->page, "  … and %u more\n", printer->view->more);
    }
}

/* ---- The doors. ------------------------------------------------------------------------------ */

static void
begin(struct printer *printer, struct sim_page *page, const struct sim_step_view *view,
        const struct sim_recorder *recorder)
{
    rt_assert(view->reached);
    *printer = (struct printer){.view = view, .page = page};
    sim_page_init(&printer->line, false);
    sim_actor_table_make(&printer->actor_table, recorder);
}

static void
end(struct printer *printer)
{
    sim_page_fini(&printer->line);
    sim_actor_table_free(&printer->actor_table);
}

void
sim_step_view_print_actors(struct sim_page *page, const struct sim_step_view *view,
        const struct sim_recorder *recorder)
{
    struct printer printer;
    begin(&printer, page, view, recorder);
    put_actors(&printer);
    end(&printer);
}

void
sim_step_view_print(struct sim_page *page, const struct sim_step_view *view,
        const struct sim_recorder *recorder, uint64_t steps)
{
    struct printer printer;
    rt_assert(view->taken);
    begin(&printer, page, view, recorder);
    const struct sim_answered *who = first_of_who_runs(view);
    put_head(&printer, steps);
    sim_page_put(page, "\n");
    put_who_could(&printer, who);
    put_other_choices(&printer, who);
    sim_page_put(page, "\nthe state of all before it, at ");
    sim_page_time(page, view->now_ns);
    sim_page_put(page, ":\n");
    put_actors(&printer);
    end(&printer);
}

/*
 * moment_tell.c -- a step in words: who, instead of whom, what it does, and how all others stood.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/explain/step/moment.h"
#include "sim/explain/view/phrase.h"

/* More than so many who have finished, or never began, are counted only. */
#define NAME_MAX_WIDTH 24u

struct telling {
    const struct sim_moment *moment;
    struct sim_actor_table actor_table;
    struct sim_page *page;
    struct sim_page line;
};

static void
flush(struct telling *telling, uint32_t first, uint32_t indent)
{
    sim_page_wrap(telling->page, sim_page_text(&telling->line), first, indent, SIM_PAGE_WIDTH);
    sim_page_clear(&telling->line);
}

static void
put_actor(struct telling *telling, uint32_t actor)
{
    uint32_t part = sim_actor_table_actor(&telling->actor_table, actor);
    if (part == SIM_PART_NONE) {
        sim_page_printf(&telling->line, "actor %u", actor);
    } else {
        sim_actor_table_put_part(&telling->actor_table, &telling->line, part);
    }
}

/* ---- The step. ------------------------------------------------------------------------------- */

static void
put_head(struct telling *telling, uint64_t steps)
{
    const struct sim_moment *moment = telling->moment;
    sim_page_printf(&telling->line, "step %llu of %llu", (unsigned long long)moment->step,
            (unsigned long long)steps);
    uint64_t at_ns = moment->now_ns;
    (void)sim_actor_table_step_time(&telling->actor_table, moment->step, &at_ns);
    sim_page_put(&telling->line, ", at ");
    sim_page_time(&telling->line, at_ns);
    sim_page_put(&telling->line, ": ");
    uint32_t part = sim_phrase_whose_step(&telling->actor_table, moment->step);
    if (part == SIM_PART_NONE) {
        put_actor(telling, moment->actor);
    } else {
        sim_actor_table_put_part(&telling->actor_table, &telling->line, part);
    }
    sim_page_put(&telling->line, ": ");
    if (!sim_phrase_put_step(&telling->actor_table, &telling->line, moment->step, SIM_EVENT_NONE)) {
        sim_page_put(&telling->line, "nothing on record");
    }
    flush(telling, 0, 4);
}

static const struct sim_answered *
first_of_who_runs(const struct sim_moment *moment)
{
    for (uint32_t i = 0; i < moment->choice_count; i++) {
        if (moment->choices[i].kind == SIM_KIND_RUN && moment->choices[i].actors[0] != UINT32_MAX) {
            return &moment->choices[i];
        }
    }
    return NULL;
}

static void
put_who_could(struct telling *telling, const struct sim_answered *answered)
{
    if (answered == NULL) {
        sim_page_put(telling->page, "no other actor could have taken it\n");
        return;
    }
    sim_page_printf(&telling->line,
            "the actor to run was chosen from %u, the one ready longest first (alternative 0, the "
            "baseline):",
            answered->n);
    flush(telling, 0, 4);
    for (uint32_t i = 0; i < answered->n; i++) {
        sim_page_printf(&telling->line, "%s %2u ", i == answered->index ? "->" : "  ", i);
        put_actor(telling, answered->actors[i]);
        sim_page_put(telling->page, "  ");
        sim_page_put(telling->page, sim_page_text(&telling->line));
        sim_page_put(telling->page, "\n");
        sim_page_clear(&telling->line);
    }
}

static void
put_other_choices(struct telling *telling, const struct sim_answered *who)
{
    uint32_t put = 0;
    for (uint32_t i = 0; i < telling->moment->choice_count; i++) {
        const struct sim_answered *answered = &telling->moment->choices[i];
        if (answered == who) {
            continue;
        }
        sim_page_printf(&telling->line, "%s%s: alternative %u of 0 to %u",
                put++ == 0 ? "also chosen: " : "; ", sim_kind_name(answered->kind), answered->index,
                answered->n - 1);
    }
    if (put > 0) {
        if (telling->moment->choice_count == SIM_MOMENT_CHOICES) {
            sim_page_put(&telling->line, "; and more");
        }
        flush(telling, 0, 4);
    }
}

/* ---- How everybody stands. ------------------------------------------------------------------- */

static void
put_since(struct telling *telling, uint64_t step)
{
    if (step == 0) {
        sim_page_put(&telling->line, " since the start");
    } else {
        sim_page_printf(&telling->line, " since step %llu", (unsigned long long)step);
    }
}

static void
put_waits(struct telling *telling, const struct sim_stance *stance)
{
    uint32_t part = sim_actor_table_actor(&telling->actor_table, stance->actor);
    for (uint32_t i = 0; i < stance->wait_count && i < SIM_MOMENT_WAITS; i++) {
        const char *reason = stance->waits[i].reason;
        sim_page_put(&telling->line, i == 0 ? ", waits for " : " and ");
        sim_actor_table_put_wanted(&telling->actor_table, &telling->line, stance->waits[i].object,
                reason[0] != '\0' ? reason : NULL, part);
        sim_page_put(&telling->line, " at ");
        if (!sim_actor_table_put_place(&telling->line, stance->waits[i].site, 0)) {
            sim_page_put(&telling->line, "an unknown line");
        }
    }
    if (stance->wait_count > SIM_MOMENT_WAITS) {
        sim_page_printf(&telling->line, " and %u more", stance->wait_count - SIM_MOMENT_WAITS);
    }
}

static void
put_state(struct telling *telling, const struct sim_stance *stance)
{
    if (stance->done) {
        sim_page_put(&telling->line, "has finished");
    } else if (stance->enabled) {
        sim_page_put(&telling->line, "ready");
        put_since(telling, stance->since_step);
    } else if (stance->kind == SIM_ACTOR_TASK || stance->wait_count > 0) {
        sim_page_put(&telling->line, stance->steps == 0 ? "not begun" : "blocked");
        if (stance->steps > 0) {
            put_since(telling, stance->since_step);
        }
        put_waits(telling, stance);
    } else {
        sim_page_put(&telling->line, "idle");
    }
    if (stance->due_ns != SIM_NEVER && !stance->done) {
        sim_page_put(&telling->line, ", due at ");
        sim_page_time(&telling->line, stance->due_ns);
    }
    if (stance->background && !stance->done) {
        sim_page_put(&telling->line, " (background)");
    }
}

static uint32_t
name_width(struct telling *telling)
{
    uint32_t width = 0;
    for (uint32_t i = 0; i < telling->moment->who_count; i++) {
        put_actor(telling, telling->moment->who[i].actor);
        const char *name = sim_page_text(&telling->line);
        uint32_t this = sim_text_width(name, strlen(name));
        width = this > width ? this : width;
        sim_page_clear(&telling->line);
    }
    return width < NAME_MAX_WIDTH ? width : NAME_MAX_WIDTH;
}

static void
put_stances(struct telling *telling)
{
    uint32_t width = name_width(telling);
    for (uint32_t i = 0; i < telling->moment->who_count; i++) {
        put_actor(telling, telling->moment->who[i].actor);
        const char *name = sim_page_text(&telling->line);
        uint32_t this = sim_text_width(name, strlen(name));
        sim_page_fill(&telling->line, ' ', (this < width ? width - this : 0) + 2);
        put_state(telling, &telling->moment->who[i]);
        /* Wrapping would take out the blanks that align it. */
        const char *text = sim_page_text(&telling->line);
        size_t front = sim_text_fit(text, strlen(text), width + 2);
        sim_page_put(telling->page, "  ");
        sim_page_add(telling->page, text, front);
        sim_page_wrap(telling->page, text + front, 0, width + 4, SIM_PAGE_WIDTH - width - 4);
        sim_page_clear(&telling->line);
    }
    if (telling->moment->more > 0) {
        sim_page_printf(telling->page, "  … and %u more\n", telling->moment->more);
    }
}

/* ---- The doors. ------------------------------------------------------------------------------ */

static rt_err
begin(struct telling *telling, struct sim_page *page, const struct sim_moment *moment,
        const struct sim_recorder *recorder)
{
    *telling = (struct telling){.moment = moment, .page = page};
    sim_page_init(&telling->line, false);
    return sim_actor_table_make(&telling->actor_table, recorder);
}

static rt_err
end(struct telling *telling)
{
    sim_page_fini(&telling->line);
    sim_actor_table_free(&telling->actor_table);
    return RT_OK;
}

rt_err
sim_moment_tell_stances(
        struct sim_page *page, const struct sim_moment *moment, const struct sim_recorder *recorder)
{
    struct telling telling;
    rt_err err = begin(&telling, page, moment, recorder);
    if (err == RT_OK) {
        put_stances(&telling);
        err = end(&telling);
    }
    return err;
}

rt_err
sim_moment_tell(struct sim_page *page, const struct sim_moment *moment,
        const struct sim_recorder *recorder, uint64_t steps)
{
    struct telling telling;
    rt_assert(moment->taken);
    rt_err err = begin(&telling, page, moment, recorder);
    if (err != RT_OK) {
        return err;
    }
    const struct sim_answered *who = first_of_who_runs(moment);
    put_head(&telling, steps);
    sim_page_put(page, "\n");
    put_who_could(&telling, who);
    put_other_choices(&telling, who);
    sim_page_put(page, "\nthe state of all before it, at ");
    sim_page_time(page, moment->now_ns);
    sim_page_put(page, ":\n");
    put_stances(&telling);
    return end(&telling);
}

/*
 * sides.c -- two columns, each of half a line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/sides.h"

#include <string.h>

#include "sim/explain/view/diff.h"
#include "sim/explain/view/phrase.h"

#define MARK 2u /* Before the left column, and between the two. */
#define BEFORE 2u
#define LETTERS_MAX 144u /* Of a step; what is longer ends in "...". */
#define ALIKE_MIN 2u     /* So many further steps of the same words are one row. */
#define ALIKE_MAX 20000u

/* ---- Where they part. ------------------------------------------------------------------------ */

static uint64_t
step_at(const struct sim_actor_table *actor_table, uint64_t event)
{
    if (actor_table->end == actor_table->first) {
        return 0;
    }
    return sim_actor_table_event(
            actor_table, event < actor_table->end ? event : actor_table->end - 1)
            ->step;
}

void
sim_sides_part(const struct sim_actor_table *left, const struct sim_actor_table *right,
        uint64_t *ret_left, uint64_t *ret_right)
{
    struct sim_difference difference;
    sim_diff_find(left->recorder, right->recorder, &difference);
    bool known = difference.kind == SIM_DIFF_EVENT || difference.kind == SIM_DIFF_ENDS;
    *ret_left = known ? step_at(left, difference.event) : 0;
    *ret_right = known ? step_at(right, difference.event) : 0;
}

/* ---- A cell. --------------------------------------------------------------------------------- */

static uint64_t
last_step(const struct sim_actor_table *actor_table)
{
    return actor_table->end > actor_table->first
                   ? sim_actor_table_event(actor_table, actor_table->end - 1)->step
                   : 0;
}

/* "greeter: poll (woken at 4), fires "a connection"": what a step is, but for when. */
static void
put_words(const struct sim_actor_table *actor_table, struct sim_page *page, uint64_t step)
{
    struct sim_page words;
    sim_page_init(&words, false);
    uint32_t part = sim_phrase_whose_step(actor_table, step);
    if (part != SIM_PART_NONE) {
        sim_actor_table_put_part(actor_table, page, part);
    }
    if (sim_phrase_put_step(actor_table, &words, step, SIM_EVENT_NONE)) {
        sim_page_printf(page, ": %s", sim_page_text(&words));
    } else {
        sim_page_put(page, part != SIM_PART_NONE ? ": takes a step" : "takes a step");
    }
    sim_page_fini(&words);
}

/* "5 400ns greeter: poll (woken at 4), fires "a connection"" */
static void
put_step(const struct sim_actor_table *actor_table, struct sim_page *cell, uint64_t step)
{
    uint64_t ns = 0;
    sim_page_printf(cell, "%llu ", (unsigned long long)step);
    if (sim_actor_table_step_time(actor_table, step, &ns)) {
        sim_page_time(cell, ns);
        sim_page_put(cell, " ");
    }
    put_words(actor_table, cell, step);
}

static uint32_t
side_width(const struct sim_page *page)
{
    return (sim_page_width(page) - 2 * MARK) / 2;
}

/* Adds the next line of *text to `page`, filled up; false: nothing is left. */
static bool
put_line(struct sim_page *page, const char **text, bool last, bool fill)
{
    size_t length = strlen(*text);
    size_t next = length;
    uint32_t side = side_width(page);
    size_t fits = length > 0 ? sim_text_break(*text, length, side - 4, &next) : 0;
    sim_page_add(page, *text, fits);
    uint32_t used = sim_text_width(*text, fits);
    *text += next;
    if (last && **text != '\0') {
        sim_page_put(page, " ...");
        used += 4;
    }
    if (fill && used < side) {
        sim_page_fill(page, ' ', side - used);
    }
    return **text != '\0';
}

static void
put_row(struct sim_page *page, const char *mark, const char *left, const char *right)
{
    bool more = true;
    uint32_t lines_max = LETTERS_MAX / side_width(page);
    for (uint32_t line = 0; more && line < lines_max; line++) {
        bool last = line + 1 == lines_max;
        sim_page_put(page, line == 0 ? mark : "  ");
        bool more_left = put_line(page, &left, last, *right != '\0');
        bool more_right = false;
        if (*right != '\0') {
            sim_page_put(page, "  ");
            more_right = put_line(page, &right, last, false);
        }
        sim_page_put(page, "\n");
        more = more_left || more_right;
    }
}

/* ---- Both. ----------------------------------------------------------------------------------- */

struct side {
    const struct sim_actor_table *actor_table;
    uint64_t from; /* The step in which they part. */
    uint64_t next; /* The one that is shown next. */
    uint64_t last;
    struct sim_page cell;
    struct sim_page words; /* Of the step before `next`. */
    struct sim_page other; /* Of one that is compared with it. */
};

static void
side_init(struct side *side, const struct sim_actor_table *actor_table, uint64_t from)
{
    from = from > 0 ? from : 1;
    *side = (struct side){
            .actor_table = actor_table, .from = from, .next = from, .last = last_step(actor_table)};
    sim_page_init(&side->cell, false);
    sim_page_init(&side->words, false);
    sim_page_init(&side->other, false);
}

static void
side_fini(struct side *side)
{
    sim_page_fini(&side->cell);
    sim_page_fini(&side->words);
    sim_page_fini(&side->other);
}

static const char *
side_before(struct side *side, uint64_t back)
{
    sim_page_clear(&side->cell);
    if (side->from - back <= side->last) {
        put_step(side->actor_table, &side->cell, side->from - back);
    }
    return sim_page_text(&side->cell);
}

/* So many steps from the next one on have the words of the one before. */
static uint64_t
alike(struct side *side)
{
    uint64_t count = 0;
    bool same = *sim_page_text(&side->words) != '\0';
    while (same && count < ALIKE_MAX && side->next + count <= side->last) {
        sim_page_clear(&side->other);
        put_words(side->actor_table, &side->other, side->next + count);
        same = strcmp(sim_page_text(&side->other), sim_page_text(&side->words)) == 0;
        count += same;
    }
    return count;
}

/* A step, or how many more are like the last one: a run that turns in circles shows where it began
 * to. With `end`, how many are not shown. Empty: nothing is left. */
static const char *
side_next(struct side *side, bool end)
{
    sim_page_clear(&side->cell);
    if (side->next > side->last) {
        return "";
    }
    uint64_t left = side->last - side->next + 1;
    uint64_t like = alike(side);
    sim_page_clear(&side->words);
    if (like >= ALIKE_MIN) {
        sim_page_printf(&side->cell, "... %llu more steps like this", (unsigned long long)like);
        side->next += like;
    } else if (end) {
        sim_page_printf(&side->cell, "... %llu more steps", (unsigned long long)left);
        side->next += left;
    } else {
        put_step(side->actor_table, &side->cell, side->next);
        put_words(side->actor_table, &side->words, side->next);
        side->next++;
    }
    return sim_page_text(&side->cell);
}

void
sim_sides_put(struct sim_page *page, const struct sim_actor_table *left, const char *head_left,
        const struct sim_actor_table *right, const char *head_right, uint32_t rows)
{
    struct side sides[2];
    uint64_t from_left = 0;
    uint64_t from_right = 0;
    sim_sides_part(left, right, &from_left, &from_right);
    side_init(&sides[0], left, from_left);
    side_init(&sides[1], right, from_right);
    put_row(page, "  ", head_left, head_right);
    for (uint64_t back = BEFORE; back > 0; back--) {
        if (sides[0].from > back && sides[1].from > back) {
            const char *cell = side_before(&sides[0], back);
            put_row(page, "  ", cell, side_before(&sides[1], back));
        }
    }
    for (uint32_t row = 0; row <= rows; row++) {
        const char *cell = side_next(&sides[0], row == rows);
        const char *other = side_next(&sides[1], row == rows);
        if (*cell != '\0' || *other != '\0') {
            put_row(page, row == 0 ? "> " : "  ", cell, other);
        }
    }
    side_fini(&sides[0]);
    side_fini(&sides[1]);
}

/*
 * tell_where.c -- where a failure is in the reader's source: a stack, a poll function, a clone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/record/site.h"
#include "sim/explain/view/tell_priv.h"
#include "sim/explain/view/where.h"

#define CLONES_TOLD 4u
#define STACK_INDENT 2u

void
sim__put_stack(struct sim__telling *telling)
{
    char text[512];
    const struct sim_frames *frames = &telling->frames;
    bool called = telling->outcome->stack.count > 1;
    for (uint32_t i = 0; called && i < frames->count; i++) {
        sim_frame_text(&frames->all[i], text, sizeof(text));
        sim_page_printf(&telling->line, "%s#%u ", i == 0 ? "" : "  ", i);
        sim_page_clean(&telling->line, text);
    }
    if (called && frames->count > 0) {
        sim__end_line(telling, STACK_INDENT);
    }
}

bool
sim__put_where(struct sim__telling *telling)
{
    char text[512];
    sim_frames_where(&telling->frames, text, sizeof(text));
    sim_page_clean(&telling->line, text);
    return text[0] != '\0';
}

bool
sim__is_of_poll(const struct sim__telling *telling)
{
    const struct sim_outcome *outcome = telling->outcome;
    return outcome->verdict == SIM_VERDICT_CONTRACT && outcome->stack.count > 0 &&
           outcome->stack.function;
}

/* ---- Clones that are lost. ------------------------------------------------------------------- */

static void
put_clone(struct sim__telling *telling, uint64_t index)
{
    const struct sim_event *event = sim_actor_table_event(&telling->actor_table, index);
    sim_page_put(&telling->line, "- the waker of ");
    sim__put_who(telling, sim_where_whose(&telling->actor_table, index));
    sim_page_put(&telling->line, ", cloned");
    sim__put_at_event(telling, index);
    sim_page_put(&telling->line, " in ");
    sim__put_step(telling, event->step);
    sim__end_line(telling, 0);
}

static bool
is_readers(const struct sim_event *event)
{
    const struct rt_site *site = sim_site_find(event->await != 0 ? event->await : event->site);
    return site != NULL && !sim_site_is_own(site);
}

/* The last event of `step` with a line of the reader's, among those that clone a waker, or all. */
static uint64_t
last_of_step(const struct sim__telling *telling, uint64_t step, bool clones)
{
    for (uint64_t i = telling->actor_table.end; i-- > telling->actor_table.first;) {
        const struct sim_event *event = sim_actor_table_event(&telling->actor_table, i);
        if (event->step == step && is_readers(event) &&
                (!clones || event->kind == RT_PROBE_CLONE)) {
            return i;
        }
    }
    return SIM_EVENT_NONE;
}

/* What overwrites a clone is mostly the next one. */
static void
put_place_of_step(struct sim__telling *telling, uint64_t step)
{
    uint64_t again = last_of_step(telling, step, true);
    uint64_t last = again != SIM_EVENT_NONE ? again : last_of_step(telling, step, false);
    if (last != SIM_EVENT_NONE) {
        sim_page_put(&telling->line, again != SIM_EVENT_NONE ? ", which clones a waker"
                                                             : "; its last line on record is");
        sim__put_at_event(telling, last);
    }
}

void
sim__list_clones(struct sim__telling *telling)
{
    uint64_t clones[CLONES_TOLD];
    uint64_t step = telling->outcome->lost_step;
    uint32_t count = sim_where_clones(&telling->actor_table, step, clones, CLONES_TOLD);
    if (count == 0) {
        return;
    }
    sim_page_put(&telling->line, count == 1 ? "This clone is lost:" : "One of these is lost:");
    sim__end_line(telling, 0);
    for (uint32_t i = 0; i < count; i++) {
        put_clone(telling, clones[i]);
    }
    if (step != 0) {
        sim_page_put(&telling->line, "It was overwritten or forgotten in ");
        sim__put_deed(telling, step);
        put_place_of_step(telling, step);
        sim_page_put(&telling->line, ".");
        sim__end_line(telling, 0);
    }
}

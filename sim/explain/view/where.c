/*
 * where.c -- frames of a stack, or of what the ledger still has open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/view/where.h"

#include <stdio.h>

#include "sim/core/record/site.h"

static void
add_site(struct sim_frames *frames, const struct rt_site *site)
{
    if (site == NULL || sim_site_is_own(site)) {
        return;
    }
    struct sim_frame *frame = &frames->all[frames->count++];
    *frame = (struct sim_frame){.line = site->line, .times = 1};
    (void)snprintf(frame->function, sizeof(frame->function), "%s", site->function);
    (void)snprintf(frame->file, sizeof(frame->file), "%s", site->file);
}

uint32_t
sim_where_whose(const struct sim_actor_table *actor_table, uint64_t clone)
{
    const struct sim_event *event = sim_actor_table_event(actor_table, clone);
    uint32_t part = sim_actor_table_object(actor_table, (uint32_t)event->argument);
    return part != SIM_PART_NONE ? part : sim_actor_table_part_of(actor_table, clone);
}

/* Of each task's clones the newest stands for all: that is the one in use. */
static bool
is_known(const struct sim_actor_table *actor_table, const uint64_t *clones, uint32_t count,
        uint64_t clone)
{
    for (uint32_t i = 0; i < count; i++) {
        if (sim_where_whose(actor_table, clones[i]) == sim_where_whose(actor_table, clone)) {
            return true;
        }
    }
    return false;
}

static uint32_t
clones_before(const struct sim_actor_table *actor_table, uint64_t step, uint64_t *ret_clones,
        uint32_t max)
{
    uint32_t count = 0;
    for (uint64_t i = actor_table->end; i-- > actor_table->first && count < max;) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->kind == RT_PROBE_CLONE && event->step < step &&
                !is_known(actor_table, ret_clones, count, i)) {
            ret_clones[count++] = i;
        }
    }
    return count;
}

uint32_t
sim_where_clones(const struct sim_actor_table *actor_table, uint64_t lost_step,
        uint64_t *ret_clones, uint32_t max)
{
    uint64_t end = lost_step != 0 ? lost_step : UINT64_MAX;
    uint32_t count = clones_before(actor_table, end, ret_clones, max);
    return count != 0 || lost_step == 0
                   ? count
                   : clones_before(actor_table, lost_step + 1, ret_clones, max);
}

static void
find_clones(
        const struct sim_actor_table *actor_table, uint64_t lost_step, struct sim_frames *frames)
{
    uint64_t clones[SIM_FRAMES_MAX];
    uint32_t count = sim_where_clones(actor_table, lost_step, clones, SIM_FRAMES_MAX);
    for (uint32_t i = 0; i < count; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, clones[i]);
        add_site(frames, sim_site_find(event->await != 0 ? event->await : event->site));
    }
}

void
sim_where_find(const struct sim_outcome *outcome, const struct sim_recorder *recorder,
        struct sim_frames *ret)
{
    struct sim_actor_table actor_table;
    bool leak = outcome->lost_wakers > 0;
    sim_frames_find(&outcome->stack, ret);
    if (leak && recorder != NULL) {
        sim_actor_table_make(&actor_table, recorder);
        find_clones(&actor_table, outcome->lost_step, ret);
        sim_actor_table_free(&actor_table);
    }
}

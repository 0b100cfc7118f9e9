/*
 * observe.c -- one pass over the events of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/cover/observe.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/search/cover/pass_elements.h"
#include "sim/search/cover/pass_order.h"

/* Returns what is known of the event's object; NULL: it has none. */
static inline struct sim_cover_thing *
see(struct pass *pass, const struct sim_event *event)
{
    if (event->object == 0) {
        see_alone(pass, event);
        return NULL;
    }
    struct sim_cover_thing *thing = thing_of(pass, event->object);
    if (thing != &pass->cover->rest) {
        see_object(pass, event, thing->memory);
    } else {
        see_alone(pass, event);
    }
    return thing;
}

/* The table of footprint.h, in the form that the pass uses. */
static void
init_kinds(struct sim_cover *cover)
{
    for (uint32_t i = 0; i < 256; i++) {
        const struct sim_footprint *footprint = &sim_footprints[i];
        cover->kinds[i].argument_mask = argument_counts(i) ? UINT64_MAX : 0;
        cover->kinds[i].mode = footprint->object;
        cover->kinds[i].touches_more = footprint->also[0].resource != SIM_RESOURCE_NONE;
    }
}

static void
begin(struct pass *pass)
{
    struct sim_cover *cover = pass->cover;
    if (++cover->stamp == 0) {
        memset(cover, 0, sizeof(*cover));
        cover->stamp = 1;
    }
    if (cover->stamp == 1) {
        init_kinds(cover);
    }
    cover->things_used = 0;
    note_actor(cover, 0, 0);
}

uint32_t
sim_cover_run(struct sim_cover *cover, const struct sim_recorder *recorder, struct sim_element *ret,
        uint32_t max, struct sim_cover_run *ret_run)
{
    rt_assert(ret != NULL || max == 0);
    *ret_run = (struct sim_cover_run){0};
    struct pass pass = {.cover = cover, .run = ret_run, .elements = ret};
    pass.max = max < SIM_COVER_ELEMENTS_MAX ? max : SIM_COVER_ELEMENTS_MAX;
    begin(&pass);
    struct chain chain = {.hash = cover->actors[0].hash};
    const struct sim_event *events = recorder->memory.events;
    uint64_t mask = recorder->memory.events_capacity - 1;
    uint64_t first = sim_recorder_first(recorder);
    uint64_t end = sim_recorder_run_end(recorder);
    for (uint64_t i = first; i < end; i++) {
        const struct sim_event *event = &events[i & mask];
        if (sim_begins_transition(event->kind)) {
            begin_transition(cover, &chain, event);
            pass.task = 0;
            pass.fired = 0;
            pass.by_timer = false;
        } else {
            struct sim_cover_thing *thing = see(&pass, event);
            chain.hash = mix_event(cover, event, thing, chain.hash);
        }
    }
    end_transition(cover, &chain);
    /* Goals that `check` reaches when the run is over. */
    for (uint64_t i = end > first ? end : first; i < recorder->count; i++) {
        if (events[i & mask].kind == SIM_EVENT_GOAL) {
            cover_element(&pass, SIM_ELEMENT_GOAL, where(&events[i & mask]), 0);
        }
    }
    ret_run->order_hash = chain.total;
    ret_run->transitions = chain.transitions;
    ret_run->events = end > first ? end - first : 0;
    ret_run->partial = first > 0;
    return pass.count;
}

/*
 * places.c -- places to blame: from an event, from a stack, from what was gone through.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/explain/cause/priv.h"
#include "sim/explain/look/path.h"

#include <stdio.h>
#include <string.h>

#include "sim/core/record/site.h"

void
sim__location_set(
        struct sim_location *location, const struct rt_site *site, uint64_t step, uint32_t part)
{
    rt_assert(location != NULL);
    *location = (struct sim_location){.step = step, .part = part};
    if (site != NULL) {
        (void)snprintf(
                location->place.function, sizeof(location->place.function), "%s", site->function);
        (void)snprintf(location->place.file, sizeof(location->place.file), "%s", site->file);
        location->place.line = site->line;
    }
}

static void
add_location(struct sim_cause *cause, const struct sim_place *place, uint64_t step, uint32_t part,
        bool traced)
{
    rt_assert(cause->at_count <= SIM_CAUSE_CALLS);
    if (cause->at_count < SIM_CAUSE_CALLS) {
        cause->at[cause->at_count++] = (struct sim_location){
                .place = *place, .step = step, .part = part, .traced = traced};
    }
}

void
sim__cause_add_site(struct sim_cause *cause, uint32_t id, uint64_t step, uint32_t part)
{
    rt_assert(cause->at_count <= SIM_CAUSE_CALLS);
    const struct rt_site *site = id != 0 ? sim_site_find(id) : NULL;
    struct sim_location location;
    sim__location_set(&location, site, step, part);
    if (site != NULL && site->line != 0 && cause->at_count < SIM_CAUSE_CALLS &&
            sim_place_is_readers(&location.place)) {
        cause->at[cause->at_count++] = location;
    }
}

/* The reader's line first, then the runtime's, which did it for them. */
void
sim__cause_add_event(const struct sim_evidence *evidence, struct sim_cause *cause, uint64_t index)
{
    rt_assert(cause->at_count <= SIM_CAUSE_CALLS);
    rt_assert(index == SIM_EVENT_NONE || index < evidence->ledger->actor_table->end);
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    if (index == SIM_EVENT_NONE) {
        return;
    }
    const struct sim_event *event = sim_actor_table_event(actor_table, index);
    uint32_t part = sim_actor_table_part_of(actor_table, index);
    sim__cause_add_site(cause, event->await, event->step, part);
    sim__cause_add_site(cause, event->site, event->step, part);
}

/* The change of stacks itself is no line of an actor's. */
static bool
is_switch(const struct sim_place *place)
{
    return strncmp(place->file, "runtime/fiber/context", 21) == 0;
}

/* The frames of a stack that a reader can change, innermost first. The first address is that of an
 * instruction, the others are addresses of return. */
void
sim__cause_add_frames(const struct sim_evidence *evidence, struct sim_cause *cause,
        const uintptr_t *frames, uint32_t count, bool first_is_return, uint64_t step, uint32_t part)
{
    rt_assert(cause->at_count <= SIM_CAUSE_CALLS);
    struct sim_place places[SIM_INLINED_MAX];
    for (uint32_t i = 0; i < count && evidence->places != NULL; i++) {
        uint32_t found = sim_places_at(
                evidence->places, frames[i], i > 0 || first_is_return, places, SIM_INLINED_MAX);
        for (uint32_t k = 0; k < found; k++) {
            if (sim_place_is_readers(&places[k]) && !is_switch(&places[k])) {
                add_location(cause, &places[k], step, part, false);
            }
        }
    }
}

bool
sim__cause_names(const struct sim_cause *cause, const struct sim_place *place)
{
    rt_assert(cause->at_count <= SIM_CAUSE_CALLS);
    for (uint32_t i = 0; i < cause->at_count; i++) {
        if (strcmp(cause->at[i].place.function, place->function) == 0) {
            return true;
        }
    }
    return false;
}

bool
sim_cause_is_event(const struct sim_cause *cause)
{
    rt_assert(cause->kind < SIM_CAUSES);
    return !cause->by_word && !cause->by_timer && !cause->by_trace && !cause->by_look &&
           !cause->by_passing && !cause->wiped &&
           cause->by_counterfactual == SIM_COUNTERFACTUAL_NONE;
}

/* The frame outside of all that polls are made of. */
static void
find_poller(struct sim_cause *cause, const struct sim_cause *stack)
{
    rt_assert(stack->at_count <= SIM_CAUSE_CALLS);
    for (uint32_t i = 0; i + 1 < stack->at_count; i++) {
        if (strncmp(stack->at[i].place.file, "runtime/task/", 13) == 0 &&
                sim_place_is_runtime(&stack->at[i + 1].place)) {
            cause->poller = stack->at[i + 1];
        }
    }
}

void
sim_cause_add_callers(const struct sim_evidence *evidence, const struct sim_walk_stop *call,
        struct sim_cause *cause)
{
    rt_assert(cause->at_count > 0);
    rt_assert(cause->at_count <= SIM_CAUSE_CALLS);
    struct sim_cause stack = {.kind = cause->kind};
    struct sim_cause more = *cause;
    const struct sim_location at = cause->at[0];
    uint32_t count = call->frame_count <= SIM_WALK_FRAMES ? call->frame_count : 0;
    sim__cause_add_frames(evidence, &stack, call->frames, count, false, at.step, at.part);
    find_poller(cause, &stack);
    cause->at_count = 1;
    for (uint32_t i = 0; i < stack.at_count && cause->at_count < SIM_CAUSE_CALLS; i++) {
        if (!sim__cause_names(cause, &stack.at[i].place)) {
            cause->at[cause->at_count++] = stack.at[i];
        }
    }
    for (uint32_t i = 1; i < more.at_count && cause->at_count < SIM_CAUSE_CALLS; i++) {
        cause->at[cause->at_count++] = more.at[i];
    }
}

/* The functions of a trace, the last one first; those of the runtime only where there are no
 * others. */
void
sim__cause_add_trace(const struct sim_evidence *evidence, struct sim_cause *cause, uint32_t index)
{
    rt_assert(evidence->ledger != NULL);
    const struct sim_analysis *analysis = evidence->analysis;
    struct sim_walked walked[SIM_PATH_FUNCTIONS];
    if (analysis == NULL || index >= analysis->trace_count || index >= SIM_ANALYSIS_TRACES) {
        return;
    }
    const struct sim_trace *trace = &analysis->traces[index];
    const struct sim_actor_table *actor_table = evidence->ledger->actor_table;
    uint32_t part = trace->actor != UINT32_MAX ? sim_actor_table_actor(actor_table, trace->actor)
                                               : SIM_PART_NONE;
    const struct sim_walk_stop *blocked = &trace->path.blocked;
    uint32_t frames = blocked->frame_count <= SIM_WALK_FRAMES ? blocked->frame_count : 0;
    if (sim_outcome_is_stall(evidence->outcome)) {
        sim__cause_add_frames(evidence, cause, blocked->frames, frames, false, trace->to, part);
    }
    uint32_t count = sim_path_functions(evidence->places, &trace->path, walked);
    bool own = count > 0 && !sim_place_is_runtime(&walked[0].place);
    for (uint32_t i = 0; i < count; i++) {
        if (!sim__cause_names(cause, &walked[i].place) && !is_switch(&walked[i].place) &&
                (!own || !sim_place_is_runtime(&walked[i].place))) {
            add_location(cause, &walked[i].place, trace->to, part, true);
        }
    }
}

static bool
same_folder(const struct sim_place *a, const struct sim_place *b)
{
    size_t length = (size_t)(sim_place_file(a) - a->file);
    return length == (size_t)(sim_place_file(b) - b->file) &&
           strncmp(a->file, b->file, length) == 0;
}

/* Where only the runtime took part in it: what was executed in the same folder of it. */
void
sim__cause_add_neighbours(
        const struct sim_evidence *evidence, struct sim_cause *cause, uint32_t index)
{
    rt_assert(cause->at_count <= SIM_CAUSE_CALLS);
    struct sim_cause all = *cause;
    struct sim_walked walked[SIM_PATH_FUNCTIONS];
    const struct sim_analysis *analysis = evidence->analysis;
    if (cause->at_count == 0) {
        sim__cause_add_trace(evidence, cause, index);
        return;
    }
    if (analysis == NULL || index >= analysis->trace_count || index >= SIM_ANALYSIS_TRACES) {
        return;
    }
    const struct sim_trace *trace = &analysis->traces[index];
    uint32_t count = sim_path_functions(evidence->places, &trace->path, walked);
    for (uint32_t i = 0; i < count; i++) {
        const struct sim_place *place = &walked[i].place;
        if (same_folder(&all.at[0].place, place) && !sim__cause_names(cause, place)) {
            add_location(cause, place, trace->to, SIM_PART_NONE, true);
        }
    }
}

/* The reader's function that was entered first in a trace: what was called. */
void
sim__cause_add_entry(const struct sim_evidence *evidence, struct sim_cause *cause, uint32_t index)
{
    rt_assert(cause->at_count <= SIM_CAUSE_CALLS);
    const struct sim_analysis *analysis = evidence->analysis;
    struct sim_walked walked[SIM_PATH_FUNCTIONS];
    const struct sim_walked *entry = NULL;
    if (analysis == NULL || index >= analysis->trace_count || index >= SIM_ANALYSIS_TRACES) {
        return;
    }
    const struct sim_trace *trace = &analysis->traces[index];
    uint32_t count = sim_path_functions(evidence->places, &trace->path, walked);
    for (uint32_t i = 0; i < count; i++) {
        bool own = !sim_place_is_runtime(&walked[i].place);
        if (own && (entry == NULL || walked[i].entered < entry->entered)) {
            entry = &walked[i];
        }
    }
    if (entry != NULL && !sim__cause_names(cause, &entry->place)) {
        add_location(cause, &entry->place, trace->to, SIM_PART_NONE, true);
    }
}

/*
 * noted.c -- an event and its place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/priv.h"

const struct sim_noted_call sim__no_call = {
        .at = {{.part = SIM_PART_NONE}}, .at_count = 1, .event = SIM_EVENT_NONE};

struct sim_noted_call
sim__noted(const struct sim_actor_table *actor_table, uint64_t index)
{
    const struct sim_event *event = sim_actor_table_event(actor_table, index);
    struct sim_noted_call call = {.at_count = 1, .event = index};
    sim__location_set(&call.at[0], sim_actor_table_place(event->await, event->site), event->step,
            sim_actor_table_part_of(actor_table, index));
    return call;
}

bool
sim__is_event(
        const struct sim_actor_table *actor_table, uint64_t index, uint32_t kind, uint32_t object)
{
    const struct sim_event *event = sim_actor_table_event(actor_table, index);
    return event->kind == kind && event->object == object;
}

struct sim_noted_call
sim__last_noted(
        const struct sim_actor_table *actor_table, uint32_t object, uint32_t kind, uint64_t before)
{
    for (uint64_t i = before < actor_table->end ? before : actor_table->end;
            i-- > actor_table->first;) {
        if (sim__is_event(actor_table, i, kind, object)) {
            return sim__noted(actor_table, i);
        }
    }
    return sim__no_call;
}

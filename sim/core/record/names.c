/*
 * names.c -- names that a scenario gives to objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/scenario.h"
#include "sim/core/world.h"

struct sim_object_name {
    const struct sim_object_name *next;
    const char *name;
    uint32_t object;
};

void
sim_world_name(struct sim_world *world, uint32_t object, const char *name)
{
    rt_assert(name != NULL);
    struct sim_object_name *named = sim_new(world, struct sim_object_name);
    *named = (struct sim_object_name){world->names, name, object};
    world->names = named;
    if (world->recorder.texts_on) {
        sim_record_text(&world->recorder, SIM_TEXT_OBJECT, object, name, strlen(name));
    }
}

const char *
sim_world_object_name(const struct sim_world *world, uint32_t object)
{
    const char *first = NULL; /* As in the record. */
    for (const struct sim_object_name *at = world->names; at != NULL; at = at->next) {
        first = at->object == object ? at->name : first;
    }
    return first;
}

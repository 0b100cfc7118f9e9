/*
 * cell.c -- accesses to a shared number, as events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/cell.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/world.h"

#define CELL_MAGIC 0x43454c4cu

void
sim_cell_init(struct sim_world *world, struct sim_cell *cell, const char *name, int64_t value)
{
    rt_assert(world != NULL);
    cell->object.magic = CELL_MAGIC;
    cell->object.id = sim_world_object(world, RT_OBJECT_USER);
    cell->world = world;
    cell->value = value;
    if (name != NULL) {
        sim_record_text(&world->recorder, SIM_TEXT_OBJECT, cell->object.id, name, strlen(name));
    }
}

static void
record(struct sim_cell *cell, enum sim_event_kind kind, const struct rt_site *site)
{
    sim_world_event(cell->world, kind, cell->object.id, site != NULL ? site->id : 0, 0,
            (uint64_t)cell->value);
}

int64_t
sim_cell_get_at(struct sim_cell *cell, const struct rt_site *site)
{
    rt_assert(cell->object.magic == CELL_MAGIC);
    record(cell, SIM_EVENT_GET, site);
    return cell->value;
}

void
sim_cell_set_at(struct sim_cell *cell, int64_t value, const struct rt_site *site)
{
    rt_assert(cell->object.magic == CELL_MAGIC);
    cell->value = value;
    record(cell, SIM_EVENT_SET, site);
}

int64_t
sim_cell_add_at(struct sim_cell *cell, int64_t increment, const struct rt_site *site)
{
    int64_t held = sim_cell_get_at(cell, site);
    sim_cell_set_at(cell, (int64_t)((uint64_t)held + (uint64_t)increment), site);
    return held;
}

bool
sim_cell_cas_at(
        struct sim_cell *cell, int64_t expected, int64_t desired, const struct rt_site *site)
{
    if (sim_cell_get_at(cell, site) != expected) {
        return false;
    }
    sim_cell_set_at(cell, desired, site);
    return true;
}

int64_t
sim_cell_peek(const struct sim_cell *cell)
{
    rt_assert(cell->object.magic == CELL_MAGIC);
    return cell->value;
}

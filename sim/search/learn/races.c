/*
 * races.c -- clocks of actors, and of the resources that they touched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/learn/races.h"

#include <string.h>

#include "runtime/base/assert.h"

/* Slots that a resource may be in. */
#define TRIES 8u

void
sim_races_begin(struct sim_races *races)
{
    races->run++;
}

static struct sim_races_clock *
clock_of(struct sim_races *races, uint32_t actor)
{
    struct sim_races_clock *clock = &races->clocks[actor];
    rt_assert(actor < SIM_RACES_ACTORS && races->run > 0);
    if (races->begun[actor] != races->run) {
        races->begun[actor] = races->run;
        memset(clock, 0, sizeof(*clock));
    }
    return clock;
}

static void
join(struct sim_races_clock *clock, const struct sim_races_clock *other)
{
    for (uint32_t i = 0; i < SIM_RACES_ACTORS; i++) {
        clock->steps[i] = other->steps[i] > clock->steps[i] ? other->steps[i] : clock->steps[i];
    }
}

void
sim_races_start(struct sim_races *races, uint32_t actor, uint32_t maker)
{
    if (actor < SIM_RACES_ACTORS && maker < SIM_RACES_ACTORS) {
        join(clock_of(races, actor), clock_of(races, maker));
    }
}

/* NULL: all its slots are taken. */
static struct sim_races_resource *
resource_of(struct sim_races *races, uint32_t number)
{
    struct sim_races_resource *all = races->resources;
    uint32_t place =
            sim_probe(all, sizeof(*all), SIM_RACES_RESOURCE_BITS, TRIES, races->run, number);
    if (place == UINT32_MAX) {
        return NULL;
    }
    if (all[place].number.stamp != races->run) {
        memset(&all[place], 0, sizeof(*all));
        all[place].number = (struct sim_key){number, races->run};
    }
    return &all[place];
}

static void
learn(struct sim_races_clock *clock, const struct sim_races_resource *resource, uint32_t mode)
{
    rt_assert(mode != SIM_MODE_NONE && mode <= SIM_MODE_WRITE);
    for (uint32_t other = SIM_MODE_READ; other <= SIM_MODE_WRITE; other++) {
        if (sim_modes_conflict(mode, other)) {
            join(clock, &resource->touched[other - SIM_MODE_READ]);
        }
    }
}

static bool
is_race(const struct sim_races_clock *clock, const struct sim_races_resource *resource,
        uint32_t actor, uint32_t mode)
{
    return resource->actor != actor && sim_modes_conflict(resource->mode, mode) &&
           (resource->actor >= SIM_RACES_ACTORS || actor >= SIM_RACES_ACTORS ||
                   clock->steps[resource->actor] < resource->step);
}

uint32_t
sim_races_step(struct sim_races *races, uint32_t actor, uint32_t task,
        const struct sim_access *accesses, uint32_t count)
{
    struct sim_races_resource *resources[32];
    static const struct sim_races_clock nothing;
    bool has_clock = actor < SIM_RACES_ACTORS;
    struct sim_races_clock *clock = has_clock ? clock_of(races, actor) : NULL;
    uint32_t found = 0;
    rt_assert(count <= 32);
    for (uint32_t i = 0; i < count; i++) {
        resources[i] = resource_of(races, accesses[i].resource);
        if (has_clock && resources[i] != NULL && accesses[i].resource == task) {
            learn(clock, resources[i],
                    accesses[i].mode); /* Its wake came before all of the step. */
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (resources[i] != NULL &&
                is_race(has_clock ? clock : &nothing, resources[i], actor, accesses[i].mode)) {
            found |= UINT32_C(1) << i;
        }
    }
    for (uint32_t i = 0; i < count && has_clock; i++) {
        if (resources[i] != NULL) {
            learn(clock, resources[i], accesses[i].mode);
        }
    }
    uint32_t step = has_clock ? ++clock->steps[actor] : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (resources[i] != NULL) {
            resources[i]->actor = actor;
            resources[i]->step = step;
            resources[i]->mode = accesses[i].mode;
            join(&resources[i]->touched[accesses[i].mode - SIM_MODE_READ],
                    has_clock ? clock : &nothing);
        }
    }
    return found;
}

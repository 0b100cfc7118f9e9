/*
 * states.c -- from events to states.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/learn/states.h"

#include <string.h>

#include "runtime/base/assert.h"

void
sim_states_begin(struct sim_states *states)
{
    states->run++;
    states->stepping = 0;
    states->lines = 0;
    states->post = 0;
    states->from = (struct sim_standing){.run = 0};
}

/* ---- Tasks by number. ------------------------------------------------------------------------ */

static uint32_t
find(const struct sim_states *states, uint32_t object)
{
    return sim_probe_all(
            states->tasks, sizeof(states->tasks[0]), SIM_STATES_TASK_BITS, states->run, object);
}

static struct sim_standing *
task_of(struct sim_states *states, uint32_t object)
{
    uint32_t at = find(states, object);
    bool known = states->tasks[at].object.stamp == states->run;
    return known ? sim_states_of(states, states->tasks[at].actor) : NULL;
}

/* ---- Events. --------------------------------------------------------------------------------- */

static void
appear(struct sim_states *states, const struct sim_event *event)
{
    rt_assert(event->actor < SIM_STATES_ACTORS);
    struct sim_standing *standing = &states->actors[event->actor];
    uint32_t id = (uint32_t)event->argument;
    uint32_t place = event->object != 0 && states->post != 0 ? states->post : 1;
    *standing = (struct sim_standing){.run = states->run,
            .id = id,
            .parent = states->stepping,
            .object = event->object,
            .place = place,
            .state = sim__state(id, place)};
    if (event->object != 0) {
        uint32_t at = find(states, event->object);
        states->tasks[at].object = (struct sim_key){event->object, states->run};
        states->tasks[at].actor = event->actor;
    }
}

/* The first wake is the cause of the next poll; others change nothing. */
static void
wake(struct sim_states *states, const struct sim_event *event)
{
    struct sim_standing *standing = task_of(states, event->object);
    bool own = standing != NULL && standing == &states->actors[states->stepping];
    states->woke_self |= own;
    if (standing == NULL || standing->woken || event->argument != 0 || own) {
        return;
    }
    standing->woken = true;
    standing->state = sim__state(standing->state, sim_event_line(event));
}

void
sim__states_rare(struct sim_states *states, const struct sim_event *event)
{
    if (event->kind == SIM_EVENT_ACTOR) {
        appear(states, event);
    } else if (event->kind == RT_PROBE_WAKE) {
        wake(states, event);
    } else {
        states->post = sim_event_line(event);
    }
}

/* ---- Locations. ------------------------------------------------------------------------------ */

uint32_t
sim_states_locations(const struct sim_states *states, const struct sim_event *event,
        struct sim_line_access ret[SIM_ACCESSES_MAX])
{
    struct sim_access accesses[SIM_ACCESSES_MAX];
    bool counts = states->stepping != 0 && event->kind != RT_PROBE_POST;
    uint32_t count = counts ? sim_event_accesses(event, accesses) : 0;
    uint32_t locations = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t resource = accesses[i].resource;
        bool own = resource == states->from.object;
        bool of_poll = own && event->kind == RT_PROBE_POLL && states->from.woken;
        if (resource == SIM_RESOURCE_QUIET || resource == SIM_RESOURCE_GONE || (own && !of_poll)) {
            continue;
        }
        ret[locations++] = (struct sim_line_access){resource,
                of_poll ? states->from.place : sim_event_line(event), accesses[i].mode,
                event->kind != SIM_EVENT_SET && event->kind != SIM_EVENT_ASSIGN};
    }
    return locations;
}

/*
 * states.c -- from events to states.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/learn/states.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "runtime/task/task.h"

static inline uint32_t
mix(uint32_t a, uint32_t b)
{
    uint64_t word = ((uint64_t)a << 32 | b) * UINT64_C(0x9e3779b97f4a7c15);
    word ^= word >> 32;
    word *= UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(word >> 32);
}

/* Not 0, and not more than a fact has room for. */
static inline uint32_t
made_state(uint32_t id, uint32_t place)
{
    uint32_t state = mix(id, place) >> (32 - SIM_STATE_BITS);
    return state != 0 ? state : 1;
}

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

/* Where the task stands, or the free place where it would. */
static uint32_t
look_up(const struct sim_states *states, uint32_t object)
{
    uint32_t at = (object * UINT32_C(0x9e3779b1)) >> 18;
    while (states->tasks[at].run == states->run && states->tasks[at].object != object) {
        at = (at + 1) % SIM_STATES_TASKS;
    }
    return at;
}

static struct sim_standing *
task_of(struct sim_states *states, uint32_t object)
{
    uint32_t at = look_up(states, object);
    return states->tasks[at].run == states->run ? sim_states_of(states, states->tasks[at].actor)
                                                : NULL;
}

/* ---- Events. --------------------------------------------------------------------------------- */

static inline uint32_t
line_of(const struct sim_event *event)
{
    return event->await != 0 ? event->await : event->site;
}

void
sim_states_settle(struct sim_states *states)
{
    struct sim_standing *standing = sim_states_of(states, states->stepping);
    if (states->stepping == 0 || standing == NULL) {
        return;
    }
    /* A step that passed no line leaves its actor where it was. */
    if (states->lines != 0) {
        standing->place = states->lines;
    }
    standing->state = made_state(standing->id, standing->place);
    standing->steps++;
    states->stepping = 0;
}

static void
start(struct sim_states *states, uint32_t actor)
{
    struct sim_standing *standing = sim_states_of(states, actor);
    states->stepping = actor;
    states->lines = 0;
    states->roused = false;
    states->asleep = false;
    if (standing != NULL) {
        states->from = *standing;
        standing->woken = false;
    } else {
        states->from = (struct sim_standing){0};
    }
}

static void
appear(struct sim_states *states, const struct sim_event *event)
{
    struct sim_standing *standing = &states->actors[event->actor];
    uint32_t id = (uint32_t)event->argument;
    uint32_t place = event->object != 0 && states->post != 0 ? states->post : 1;
    *standing = (struct sim_standing){.run = states->run,
            .id = id,
            .parent = states->stepping,
            .object = event->object,
            .place = place,
            .state = made_state(id, place)};
    if (event->object != 0) {
        uint32_t at = look_up(states, event->object);
        states->tasks[at].object = event->object;
        states->tasks[at].run = states->run;
        states->tasks[at].actor = event->actor;
    }
}

/* Of a task that polls others nobody can say whether it waits. */
static void
end_poll(struct sim_states *states, const struct sim_event *event)
{
    bool own = states->stepping != 0 && event->object == states->from.object;
    states->asleep = own && event->argument != RT_READY && !states->roused;
}

/* The first wake is the cause of the next poll; others change nothing. */
static void
wake(struct sim_states *states, const struct sim_event *event)
{
    struct sim_standing *standing = task_of(states, event->object);
    bool own = standing != NULL && standing == &states->actors[states->stepping];
    states->roused |= own;
    if (standing == NULL || standing->woken || event->argument != 0 || own) {
        return;
    }
    standing->woken = true;
    standing->state = made_state(standing->state, line_of(event));
}

static inline void
pass(struct sim_states *states, const struct sim_event *event)
{
    uint32_t line = line_of(event);
    if (line != 0) {
        states->lines = mix(states->lines, line) | 1;
    }
}

void
sim_states_event(struct sim_states *states, const struct sim_event *event)
{
    uint32_t kind = event->kind;
    if (kind == RT_PROBE_POLL || kind == RT_PROBE_POLLED) {
        if (kind == RT_PROBE_POLLED) {
            end_poll(states, event);
        }
        return;
    }
    if (sim_begins_transition(kind)) {
        sim_states_settle(states);
        if (kind == SIM_EVENT_STEP) {
            start(states, event->actor);
        }
        return;
    }
    if (kind == SIM_EVENT_ACTOR) {
        appear(states, event);
        return;
    }
    if (kind == RT_PROBE_WAKE) {
        wake(states, event);
    } else if (kind == RT_PROBE_POST) {
        states->post = line_of(event);
    }
    pass(states, event);
}

/* ---- Spots. ---------------------------------------------------------------------------------- */

uint32_t
sim_states_spots(const struct sim_states *states, const struct sim_event *event,
        struct sim_spot ret[SIM_ACCESSES_MAX])
{
    struct sim_access accesses[SIM_ACCESSES_MAX];
    bool counts = states->stepping != 0 && event->kind != RT_PROBE_POST;
    uint32_t count = counts ? sim_event_accesses(event, accesses) : 0;
    uint32_t spots = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t resource = accesses[i].resource;
        bool own = resource == states->from.object;
        bool of_poll = own && event->kind == RT_PROBE_POLL && states->from.woken;
        if (resource == SIM_RESOURCE_QUIET || resource == SIM_RESOURCE_GONE || (own && !of_poll)) {
            continue;
        }
        ret[spots++] = (struct sim_spot){resource, of_poll ? states->from.place : line_of(event),
                accesses[i].mode, event->kind != SIM_EVENT_SET};
    }
    return spots;
}

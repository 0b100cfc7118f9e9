/*
 * trace.c -- a run as transitions, and their happens-before order.
 *
 * sim/core/record/footprint.h defines which two transitions conflict. An object's number holds the
 * index of the actor that made it; that index differs between orders of the same program, so here
 * the actor's stable id replaces it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/search/dpor/trace.h"

bool
dpor_conflict(struct dpor_footprint a, struct dpor_footprint b)
{
    rt_assert((a.count == 0 || a.accesses != NULL) && (b.count == 0 || b.accesses != NULL));
    return a.global || b.global ||
           sim_access_sets_conflict(a.accesses, a.count, b.accesses, b.count);
}

/* ---- Recording. ------------------------------------------------------------------------------ */

void
dpor_trace_begin(struct dpor_trace *trace, uint32_t kept)
{
    rt_assert(kept <= trace->count);
    trace->kept = kept;
    trace->count = kept;
    trace->seen = 0;
    trace->open = false;
    trace->full = false;
    trace->data = 0;
    trace->accesses = 0;
    if (kept > 0) {
        const struct dpor_transition *last = &trace->transitions[kept - 1];
        trace->accesses = last->first + last->count;
    }
    memset(trace->steps, 0, sizeof(trace->steps));
}

/* The number of a resource with the stable id of the actor that made it. */
static uint32_t
stable(const struct dpor_trace *trace, uint32_t resource)
{
    if (resource < SIM_RESOURCES) {
        return resource;
    }
    uint64_t word =
            (uint64_t)trace->ids[SIM_OBJECT_ACTOR(resource)] << 32 | (resource & 0xf000ffff);
    word = (word ^ word >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    uint32_t name = (uint32_t)(word >> 32);
    rt_assert(SIM_OBJECT_ACTOR(resource) <= SIM_ACTORS_MAX);
    return name < SIM_RESOURCES ? name + SIM_RESOURCES : name;
}

static void
touch(struct dpor_trace *trace, struct dpor_transition *transition, struct sim_access access)
{
    struct sim_access *all = trace->all + transition->first;
    rt_assert(transition->first + transition->count == trace->accesses);
    if (sim_access_merge(all, transition->count, access)) {
        return;
    }
    if (trace->accesses == DPOR_ACCESSES_MAX) {
        transition->global = true;
        return;
    }
    all[transition->count++] = access;
    trace->accesses++;
}

static void
add(struct dpor_trace *trace, const struct sim_event *event)
{
    struct sim_access accesses[SIM_ACCESSES_MAX];
    rt_assert(trace->count > trace->kept);
    struct dpor_transition *last = &trace->transitions[trace->count - 1];
    uint32_t count = sim_event_accesses(event, accesses);
    for (uint32_t i = 0; i < count; i++) {
        trace->timed = trace->timed || accesses[i].resource == SIM_RESOURCE_TIME;
        accesses[i].resource = stable(trace, accesses[i].resource);
        touch(trace, last, accesses[i]);
    }
}

static void
open_transition(struct dpor_trace *trace, const struct sim_event *event)
{
    bool clock = event->kind == SIM_EVENT_CLOCK;
    uint32_t nth = clock ? 0 : trace->steps[event->actor]++;
    trace->seen++;
    trace->open = false;
    if (trace->seen <= trace->kept) {
        return;
    }
    if (trace->count == DPOR_TRANSITIONS_MAX) {
        trace->full = true;
        return;
    }
    rt_assert(trace->count == trace->seen - 1);
    trace->timed = trace->timed || clock;
    trace->open = true;
    trace->transitions[trace->count++] = (struct dpor_transition){
            .actor = clock ? 0 : trace->ids[event->actor],
            .nth = nth,
            .node = DPOR_NONE,
            .first = trace->accesses,
            .global = trace->all_conflict,
    };
}

bool
dpor_trace_event(struct dpor_trace *trace, const struct sim_event *event)
{
    if (event->kind == SIM_EVENT_ACTOR) {
        trace->ids[event->actor] = (uint32_t)event->argument;
    }
    bool begins = sim_begins_transition(event->kind);
    rt_assert(event->actor <= SIM_ACTORS_MAX);
    if (begins) {
        open_transition(trace, event);
    }
    if (trace->open) {
        add(trace, event);
    }
    return begins;
}

void
dpor_trace_datum(struct dpor_trace *trace, uint32_t index)
{
    rt_assert(!trace->open || trace->count > 0);
    uint64_t *data = trace->open ? &trace->transitions[trace->count - 1].data : &trace->data;
    *data = dpor_mix(*data + index + 1);
}

/* ---- Happens-before. ------------------------------------------------------------------------- */

static bool
depend(const struct dpor_trace *trace, uint32_t i, uint32_t j)
{
    const struct dpor_transition *a = &trace->transitions[i];
    const struct dpor_transition *b = &trace->transitions[j];
    rt_assert(i < j);
    return a->actor == b->actor ||
           dpor_conflict(dpor_footprint_of(trace, a), dpor_footprint_of(trace, b));
}

/* What happens before a step that happens before j also happens before j, and is older. */
static bool
is_closed(const struct dpor_trace *trace, uint32_t j)
{
    uint64_t missing = 0;
    for (uint32_t i = 0; i < j; i++) {
        for (uint32_t word = 0; word <= i / 64 && dpor_is_before(trace, i, j); word++) {
            missing |= trace->before[i][word] & ~trace->before[j][word];
        }
    }
    return missing == 0 && trace->before[j][j / 64] >> j % 64 == 0;
}

static void
order(struct dpor_trace *trace, uint32_t j)
{
    memset(trace->before[j], 0, sizeof(trace->before[j]));
    for (uint32_t i = j; i-- > 0;) {
        if (dpor_is_before(trace, i, j) || !depend(trace, i, j)) {
            continue;
        }
        trace->before[j][i / 64] |= UINT64_C(1) << i % 64;
        for (uint32_t word = 0; word <= i / 64; word++) {
            trace->before[j][word] |= trace->before[i][word];
        }
    }
    rt_verify(is_closed(trace, j));
}

static void
name(struct dpor_trace *trace, uint32_t j)
{
    struct dpor_transition *transition = &trace->transitions[j];
    uint64_t before = 0;
    for (uint32_t i = 0; i < j; i++) {
        before += dpor_is_before(trace, i, j) ? dpor_mix(trace->transitions[i].name) : 0;
    }
    rt_assert(!dpor_is_before(trace, j, j));
    uint64_t own = (uint64_t)transition->actor << 32 | transition->nth;
    transition->name = dpor_mix(dpor_mix(before + own) + transition->data);
}

void
dpor_trace_order(struct dpor_trace *trace, uint32_t first)
{
    rt_assert(first <= trace->count);
    for (uint32_t j = first; j < trace->count; j++) {
        order(trace, j);
        name(trace, j);
    }
}

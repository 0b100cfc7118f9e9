/*
 * known.c -- a table by actor and number of its step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/dpor/known.h"

#include <string.h>

#include "runtime/base/assert.h"

/* Above this load lookups get long. */
#define STEPS_FULL (DPOR_KNOWN_STEPS * 3 / 4)

static uint32_t
place_of(const struct dpor_known *known, uint32_t actor, uint32_t nth)
{
    rt_assert(known->steps_used <= STEPS_FULL); /* Else the search might not end. */
    uint64_t word = ((uint64_t)actor << 32 | nth) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t place = (uint32_t)(word >> 40) % DPOR_KNOWN_STEPS;
    while (known->steps[place].actor != 0 &&
            (known->steps[place].actor != actor || known->steps[place].nth != nth)) {
        place = (place + 1) % DPOR_KNOWN_STEPS;
    }
    return place;
}

/* Moves the accesses of `step` to the end of the pool, where one more fits. False: it is full. */
static bool
grow(struct dpor_known *known, struct dpor_known_step *step)
{
    rt_assert(step->first + step->count <= known->accesses_used);
    if (step->first + step->count != known->accesses_used) {
        if (known->accesses_used + step->count >= DPOR_KNOWN_ACCESSES) {
            return false;
        }
        memcpy(known->accesses + known->accesses_used, known->accesses + step->first,
                step->count * sizeof(struct sim_access));
        step->first = known->accesses_used;
        known->accesses_used += step->count;
    }
    return known->accesses_used < DPOR_KNOWN_ACCESSES && step->count < UINT16_MAX;
}

static void
add(struct dpor_known *known, struct dpor_known_step *step, struct sim_access access)
{
    if (sim_access_merge(known->accesses + step->first, step->count, access)) {
        return;
    }
    if (!grow(known, step)) {
        step->global = true;
        return;
    }
    rt_assert(step->first + step->count == known->accesses_used);
    known->accesses[known->accesses_used++] = access;
    step->count++;
}

void
dpor_known_learn(struct dpor_known *known, const struct dpor_trace *trace,
        const struct dpor_transition *transition)
{
    struct dpor_known_step *step =
            &known->steps[place_of(known, transition->actor, transition->nth)];
    if (transition->actor == 0 || (step->actor == 0 && known->steps_used == STEPS_FULL)) {
        return;
    }
    if (step->actor == 0) {
        *step = (struct dpor_known_step){
                .actor = transition->actor, .nth = transition->nth, .first = known->accesses_used};
        known->steps_used++;
    }
    rt_assert(step->actor == transition->actor && step->nth == transition->nth);
    rt_assert(transition->first + transition->count <= trace->accesses);
    step->global = step->global || transition->global;
    for (uint32_t i = 0; i < transition->count && !step->global; i++) {
        add(known, step, trace->all[transition->first + i]);
    }
}

struct dpor_footprint
dpor_known_step(const struct dpor_known *known, uint32_t actor, uint32_t nth)
{
    const struct dpor_known_step *step = &known->steps[place_of(known, actor, nth)];
    if (actor == 0 || step->actor == 0) {
        return (struct dpor_footprint){NULL, 0, true};
    }
    rt_assert(step->first + step->count <= known->accesses_used);
    return (struct dpor_footprint){known->accesses + step->first, step->count, step->global};
}

struct dpor_footprint
dpor_known_footprint(const struct dpor_known *known, const struct dpor_transition *transition)
{
    return dpor_known_step(known, transition->actor, transition->nth);
}
